"""For the reference pages: names that load when first used stand under TYPE_CHECKING in the
sources, and are public all the same."""

from typing import Any

import griffe


class LazyNames(griffe.Extension):
    def on_alias_instance(self, *, alias: griffe.Alias, **_: Any) -> None:
        alias.runtime = True
