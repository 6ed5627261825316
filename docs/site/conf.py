"""The site's settings: `make site` builds it with Sphinx from the pages of the repository, which stay where they are.

The source folder is the repository, so links between pages work here and where the repository is shown. The pages of
the API reference are written to `docs/api/` first (see `reference`). The package is imported in plain Python, so that
compiled functions keep their signatures and docstrings.
"""

import json
import os
import re
import shutil
import sys
import warnings
from pathlib import Path
from typing import Any

from furo.navigation import get_navigation_tree
from pygments.lexers.data import JsonLexer
from sphinx.application import Sphinx

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))  # of the modules beside it
os.environ["NUMBA_DISABLE_JIT"] = "1"
warnings.filterwarnings("ignore", "overflow", RuntimeWarning)  # hashes wrap round

import reference  # noqa: E402

project = "Parlour"
author = "the authors of Parlour"
copyright = author
version = release = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.M)[1]

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
include_patterns = ["*.md", "docs/*.md", "docs/bridges/*.md", "docs/games/*.md", "docs/api/**", "notebooks/*.ipynb"]
include_patterns += ["wrappers/live/mafia/client/README.md"]
exclude_patterns = ["build/**", "**/.ipynb_checkpoints"]
root_doc = "README"
suppress_warnings = ["myst.header"]  # pages of games begin with a comment

html_theme = "furo"
html_title = f"Parlour {release}"
html_static_path = [str(HERE / "static")]
html_css_files = ["site.css"]
html_search_scorer = str(HERE / "scorer.js")
html_show_copyright = html_copy_source = False
default_role = "py:obj"  # `name` in a docstring is a link where it can be one

myst_heading_anchors = 6
myst_enable_extensions = ["dollarmath"]
myst_dmath_double_inline = False
nb_execution_mode = "off"  # the notebooks are stored with their outputs; `make notebooks` executes them
nb_merge_streams = True

autodoc_default_options = {"no-value": True}
python_maximum_signature_line_length = 100
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_mock_imports = [
    "ray",
    "jax",
    "torchrl",
    "tensordict",
    "pyspiel",
    "open_spiel",
    "httpx",
    "openenv",
    "verifiers",
    "fastapi",
    "pydantic",
    "starlette",
]  # the site needs none of them
napoleon_use_ivar = True
napoleon_preprocess_types = True

TUTORIALS = re.findall(r"notebooks/(\w+)\.ipynb", (ROOT / "docs" / "notebooks.md").read_text("utf-8"))
"""The notebooks in the order of learning, which is that of the page of notebooks."""
CONTENTS = {
    "Start": ["docs/install", "docs/notebooks", "docs/games", "docs/glossary"],
    "Environments": ["docs/environments", "docs/own_game", "docs/frameworks", "docs/replays", "docs/laws"],
    "Training": [
        "docs/training",
        "docs/self_play",
        "docs/opponents",
        "docs/measures",
        "docs/compare",
        "docs/solving",
        "docs/zoo",
        "docs/results",
        "docs/benchmarks",
        "docs/log",
    ],
    "Language models": ["docs/bridges/llm", "docs/rate_models", "docs/text_episodes"],
    "Live play": [
        *(f"docs/bridges/{name}" for name in ("poker", "acpc", "arena", "mafia", "tangram", "table")),
        "docs/leave_it_running",
        "docs/security",
    ],
    "Reference": ["docs/api/index", "docs/README"],
}
"""What stands in the menu, under its headings."""


PARTS = {
    "docs/games": ["games/*"],
    "docs/notebooks": [f"../notebooks/{name}" for name in TUTORIALS],
    "docs/README": [f"../{name}" for name in ("CONTRIBUTING", "CHANGELOG", "SECURITY", "CODE_OF_CONDUCT")],
    "docs/bridges/mafia": ["../../wrappers/live/mafia/client/README"],
}
"""Pages below a page of the menu: they stand in it only where one is at that page or one of these."""


def add_menu(app: Sphinx, name: str, source: list[str]) -> None:
    """Append the menu to the front page, and its parts to theirs; the pages have no markup of Sphinx alone."""
    parts = CONTENTS if name == root_doc else {"": PARTS[name]} if name in PARTS else {}
    for caption, pages in parts.items():
        titled, lines = f":caption: {caption}\n" * bool(caption), "\n".join(pages)
        source[0] += f"\n```{{toctree}}\n:hidden:\n:glob:\n{titled}\n{lines}\n```\n"


def short_menu(app: Sphinx, page: str, template: str, context: dict[str, Any], *_: object) -> None:
    """Show the menu with the parts of the page where one is, and no others: the theme shows all of them."""
    if "toctree" in context:
        menu = context["toctree"](collapse=True, titles_only=True, maxdepth=2, includehidden=True)
        context["furo_navigation_tree"] = get_navigation_tree(menu)


def readable(
    app: Sphinx, what: str, name: str, thing: object, options: object, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Write ``...`` for a default that is no expression, such as ``<factory>``: Sphinx reads no such signature."""
    return signature and re.sub(r"<[^<>]*>", "...", signature), returns


def add_index(app: Sphinx, error: Exception | None) -> None:
    """Let the site's folder open with the front page, and the search have the text of all pages, for its excerpts."""
    if error is None:
        shutil.copy(Path(app.outdir, "README.html"), Path(app.outdir, "index.html"))
        texts = {name: app.env.get_doctree(name).astext() for name in sorted(app.env.found_docs)}
        Path(app.outdir, "_static", "texts.js").write_text(f"const TEXTS = {json.dumps(texts)};\n", "utf-8")


def add_excerpts(app: Sphinx, page: str, *_: object) -> None:
    """Let the search page read the text of others: where the site is opened from files, a browser fetches none."""
    if page == "search":
        for file in ("texts.js", "excerpts.js"):
            app.add_js_file(file)


def setup(app: Sphinx) -> None:
    """Write the reference, and connect the functions above."""
    reference.write(ROOT)
    app.add_lexer("jsonl", JsonLexer)
    app.connect("source-read", add_menu)
    app.connect("autodoc-process-signature", readable)
    app.connect("missing-reference", reference.resolve)
    app.connect("html-page-context", add_excerpts)
    app.connect("html-page-context", short_menu, priority=900)  # after the theme
    app.connect("build-finished", add_index)
