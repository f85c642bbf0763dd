"""Properties of the selected body or contact, and colours that distinguish islands."""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone.dynamics.frames import rotation
from drystone.escaping import for_markdown
from drystone.model import Model, State
from drystone.view import look
from drystone.view.panel import table

ROUNDED = 1e-9  # [SI units] smaller values are rounding of bodies at rest and shown as 0
NOTHING = "*Click a body or a contact point.*"


def words(picked: tuple[str, int] | None, source: Any, state: State, contacts: Any) -> str:
    """Markdown for the panel."""
    if picked is None:
        return NOTHING
    kind, k = picked
    if kind == "body":
        return of_body(source.model, state, k, contacts) if k < source.model.nb else NOTHING
    if contacts is None or k >= len(contacts):
        return "*This contact is open.*"
    return of_contact(contacts[k])


def of_body(model: Model, state: State, b: int, contacts: Any) -> str:
    dim = model.dim
    velocity, spin = state.velocity[b, :dim], state.velocity[b, dim:]
    place = state.position[b] - rotation(state.orientation[b]) @ model.centre[b]
    free = model.inverse_mass[b] > 0
    rows = [
        ("mass", f"{model.mass[b]:.4g} kg" if free else "fixed or prescribed"),
        ("position", f"{vector(place)} m"),
        ("angle" if dim == 2 else "quaternion", vector(np.atleast_1d(state.orientation[b]))),
        ("velocity", f"{vector(velocity)} m/s"),
        ("angular velocity", f"{vector(spin)} rad/s"),
        ("friction", f"{model.friction[b, 0]:.3g}"),
    ]
    if contacts is not None:
        mine = (contacts["bodies"] == model.names[b]).any(axis=1)
        first = contacts["bodies"][mine][:, 0] == model.names[b]
        force = np.where(first[:, None], 1.0, -1.0) * contacts["force"][mine]
        rows.append(("contacts", str(int(mine.sum()))))
        rows.append(("contact force", f"{vector(force.sum(axis=0))} N"))
    return f"**{for_markdown(model.names[b])}**\n\n{table(rows)}"


def of_contact(contact: Any) -> str:
    a, b = contact["bodies"]
    normal = float(contact["force"] @ contact["normal"])
    tangent = contact["force"] - normal * contact["normal"]
    rows = [
        ("state", str(contact["state"])),
        ("gap", f"{float(contact['gap']):.3e} m"),
        ("point", f"{vector(contact['point'])} m"),
        ("normal", vector(contact["normal"])),
        ("normal force", f"{normal:.4g} N"),
        ("friction force", f"{float(np.linalg.norm(tangent)):.4g} N"),
        ("friction bound", f"{float(contact['friction']) * normal:.4g} N"),
        ("slip", f"{vector(contact['velocity'])} m/s"),
        ("island", str(int(contact["island"]))),
    ]
    return f"**{for_markdown(a)}** on **{for_markdown(b)}**\n\n{table(rows)}"


def vector(values: Any) -> str:
    return ", ".join(f"{0.0 if abs(v) < ROUNDED else v:.4g}" for v in np.atleast_1d(values))


def by_island(model: Model, colours: look.Bytes, contacts: Any) -> look.Bytes:
    """(nb, 3): dynamic bodies in the colour of their island."""
    out = colours.copy()
    place = {name: i for i, name in enumerate(model.names)}
    for pair, island in zip(contacts["bodies"], contacts["island"], strict=True):
        for name in pair:
            b = place.get(str(name))
            if b is not None and model.inverse_mass[b] > 0:
                out[b] = look.ISLANDS[int(island) % len(look.ISLANDS)]
    return out
