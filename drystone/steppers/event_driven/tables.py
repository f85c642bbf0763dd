"""Contacts of an evaluation as a structured array, as ``Simulation.contacts`` shows them."""

from __future__ import annotations

import numpy as np

from drystone.model import Model
from drystone.steppers.event_driven.mode import Evaluation, Mode
from drystone.steppers.event_driven.settle import Books
from drystone.steppers.event_driven.sleep import Island
from drystone.steppers.tables import contact_table


def contacts_of(model: Model, mode: Mode, now: Evaluation, books: Books) -> np.ndarray:
    """Forces at a state of a phase; impulse: of the collisions in the books."""
    rows, nr = now.rows, now.rows.nr
    table = contact_table(model.names, model.dim, nr)
    if nr == 0:
        return table
    contacts, frame = rows.contacts, rows.kin.frame
    table["bodies"] = np.array(model.names, dtype=np.str_)[rows.kin.body]
    table["point"], table["normal"] = contacts.point, contacts.normal
    table["gap"], table["feature"] = contacts.gap, contacts.feature
    table["force"] = np.einsum("iak,ia->ik", frame, now.f[:nr])
    table["velocity"] = np.einsum("iak,ia->ik", frame, rows.state.u[:nr])
    for i, name in enumerate(mode.held.names):
        table["impulse"][i] = books.impulse.get(name, 0.0)
    slides = mode.sliding.slides[:nr]
    table["friction"] = np.where(slides, rows.state.mu[:nr, 1], rows.state.mu[:nr, 0])
    for k, part in enumerate(mode.forces.islands):
        own = part.system.contacts
        table["island"][own[own < nr]] = k
    word = np.where(slides, "slip", "stick")
    table["state"] = np.where(mode.closed[:nr], word, "open")
    return table


def islands_at_rest(model: Model, mode: Mode, start: Evaluation, books: Books) -> list[Island]:
    """Bodies and contacts of a phase's islands that are in equilibrium; start: of the phase."""
    table = contacts_of(model, mode, start, books)
    out = []
    for k in mode.resting:
        system = mode.forces.islands[k].system
        own = system.bodies[model.inverse_mass[system.bodies] > 0]
        out.append((own, table[system.contacts[system.contacts < table.size]]))
    return out
