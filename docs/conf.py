"""How Sphinx builds the documentation; pages that follow from the code are made first."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import dragoman  # noqa: E402
import paper_map  # noqa: E402
from dragoman.cli.pages import write_pages  # noqa: E402

project = "dragoman"
author = "The dragoman authors"
release = version = dragoman.__version__

extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "generated", "examples"]

html_theme = "furo"
html_title = f"dragoman {release}"

GENERATED = HERE / "generated"
GENERATED.mkdir(exist_ok=True)
write_pages(HERE / "reference")
(GENERATED / "paper-map.md").write_text(paper_map.page(HERE.parent / "src" / "dragoman"), encoding="utf-8")
