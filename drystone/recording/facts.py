"""What a recording says of itself, once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from drystone.recording import layout, older


class Facts:
    """Read from the JSON text `about`; a Recording has them all."""

    path: Path
    _about: dict[str, Any]

    @property
    def version(self) -> int:
        """Of the format."""
        return int(self._about["version"])

    @property
    def summed(self) -> bool:
        """Whether there are sums of everything."""
        return self.version >= 3

    @property
    def ragged(self) -> dict[str, int]:
        """Datasets with rows of all frames, and the columns of `frames/ends` that say whose."""
        return older.RAGGED if self.version == 1 else layout.RAGGED

    @property
    def dt(self) -> float:
        return float(self._about["dt"])

    @property
    def every(self) -> int:
        return int(self._about["every"])

    @property
    def keeps_contacts(self) -> bool:
        return bool(self._about["contacts"])

    @property
    def keeps_forces(self) -> bool:
        """Whether forces are kept beside impulses."""
        return bool(self._about["forces"])

    @property
    def method(self) -> dict[str, Any] | None:
        return self._about.get("method")

    @property
    def scene(self) -> str | None:
        return self._about.get("scene")

    @property
    def settings(self) -> dict[str, Any]:
        return dict(self._about.get("settings") or {})

    @property
    def view(self) -> Mapping[str, Any]:
        return dict(self._about.get("view") or {})

    @property
    def title(self) -> str:
        return str(self._about.get("title") or self.scene or self.path.stem)

    @property
    def info(self) -> dict[str, str]:
        return dict(self._about.get("info") or {})

    @property
    def undescribed(self) -> str:
        """Why there is no document, empty if there is one."""
        return str(self._about.get("undescribed") or "")
