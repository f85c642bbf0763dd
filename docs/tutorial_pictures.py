"""Pictures of the tutorials: each is what the page's own code draws."""

from __future__ import annotations

import re
import sys
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image, ImageChops, ImageOps

HERE = Path(__file__).parent
DRAWN = {
    "stack": "stack.png",
    "mechanism": "mechanism.png",
    "granular_pile": "silo.png",
    "your_own_surface": "egg.png",
    "contact_forces": "ladder.png",
    "arch": "thrust.png",
}
LARGEST = (900, 640)  # columns and rows of pixels
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def draw(page: str) -> Path:
    """Run the blocks of a page in an empty folder, and keep its picture."""
    text = (HERE / "tutorials" / f"{page}.md").read_text()
    place = HERE / "pictures" / f"tutorial_{page}.png"
    with TemporaryDirectory() as folder, chdir(folder):
        names: dict[str, object] = {"__name__": "__main__"}
        for block in BLOCK.finditer(text):
            exec(compile(block.group(1), page, "exec"), names)  # noqa: S102 - our own pages
        picture = Image.open(DRAWN[page]).convert("RGB")
        paper = Image.new("RGB", picture.size, "white")
        ink = ImageChops.difference(picture, paper).getbbox()
        if ink is not None:
            picture = ImageOps.expand(picture.crop(ink), 16, "white")
        picture.thumbnail(LARGEST)
        picture.save(place, optimize=True)
    return place


if __name__ == "__main__":
    for page in sys.argv[1:] or DRAWN:
        print(draw(page))
