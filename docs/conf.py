"""How Sphinx builds the documentation; pages that follow from the code are made first."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import dragoman  # noqa: E402
import paper_map  # noqa: E402
import reference_pages  # noqa: E402
from dragoman.cli import main  # noqa: E402

project = "dragoman"
author = "The dragoman authors"
release = version = dragoman.__version__

extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "generated", "examples"]
suppress_warnings = ["toctree.empty_glob"]

html_theme = "furo"
html_title = f"dragoman {release}"

GENERATED = {
    "paper-map.md": paper_map.page(HERE.parent / "src" / "dragoman"),
    "configuration.md": reference_pages.configuration(),
    "commands.md": reference_pages.commands(main),
}
(HERE / "generated").mkdir(exist_ok=True)
for name, text in GENERATED.items():
    (HERE / "generated" / name).write_text(text, encoding="utf-8")
