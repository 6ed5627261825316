"""The site's settings: `make site` builds it with Sphinx from the pages of the repository, which stay where they are.

The source folder is the repository, so links between pages work here and where the repository is shown. The API
reference is written to `docs/api/` from the source text: compiled functions keep their signatures and docstrings.
"""

import re
import shutil
import sys
from pathlib import Path

from pygments.lexers.data import JsonLexer
from sphinx.application import Sphinx

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))  # of the modules beside it

from reference import one_menu, plain_names, resolve  # noqa: E402

project = "Parlour"
author = "the authors of Parlour"
copyright = author
version = release = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.M)[1]

extensions = ["myst_nb", "autodoc2", "sphinx.ext.napoleon"]
include_patterns = ["*.md", "docs/*.md", "docs/bridges/*.md", "docs/games/*.md", "docs/api/**", "notebooks/*.ipynb"]
include_patterns += ["wrappers/live/mafia/client/README.md"]
exclude_patterns = ["build/**", "**/.ipynb_checkpoints"]
root_doc = "README"
suppress_warnings = ["autodoc2.dup_item", "myst.header"]  # an overload is one name; pages of games begin with a comment

html_theme = "furo"
html_title = f"Parlour {release}"
html_static_path = [str(HERE / "static")]
html_css_files = ["site.css"]
html_show_copyright = html_copy_source = False
default_role = "py:obj"  # `name` in a docstring is a link where it can be one

myst_heading_anchors = 6
myst_enable_extensions = ["dollarmath"]
myst_dmath_double_inline = False
nb_execution_mode = "off"  # the notebooks are stored with their outputs; `make notebooks` executes them
nb_merge_streams = True

PACKAGES = ("envs", "wrappers", "training", "zoo")
autodoc2_packages = [{"path": name, "module": f"parlour.{name}"} for name in PACKAGES]
autodoc2_output_dir = "docs/api"
autodoc2_module_all_regexes = [r"parlour\.envs"]
autodoc2_hidden_objects = ["undoc", "private", "dunder", "inherited"]
autodoc2_docstring_parser_regexes = [(".*", "reference")]
autodoc2_render_plugin = "reference.Renderer"
autodoc2_index_template = None
napoleon_use_ivar = True
napoleon_preprocess_types = True

CONTENTS = {
    "Start": [
        "docs/install",
        "docs/environments",
        "docs/observations",
        "docs/training",
        "docs/settings",
        "docs/notebooks",
        "docs/glossary",
    ],
    "Tutorials": ["notebooks/*"],
    "How to": [
        "docs/change_a_game",
        "docs/opponents",
        "docs/platforms",
        "docs/compare_runs",
        "docs/reproduce",
        "docs/frameworks",
        "docs/replays",
        "docs/solving",
        "docs/distributed",
        "docs/leave_it_running",
        "docs/security",
    ],
    "Games": ["docs/games", "docs/games/*"],
    "Live platforms": ["docs/bridges/*", "wrappers/live/mafia/client/README"],
    "Reference": [f"docs/api/parlour.{name}/parlour.{name}" for name in PACKAGES],
    "Measured": [
        "docs/results",
        "docs/experiments",
        "docs/benchmarks",
        "docs/measures",
        "docs/laws",
        "docs/soak",
        "docs/zoo",
    ],
    "Project": ["docs/README", "CONTRIBUTING", "CHANGELOG", "docs/roadmap", "SECURITY", "CODE_OF_CONDUCT"],
}
"""What stands in the menu, under its headings."""


def add_menu(app: Sphinx, name: str, source: list[str]) -> None:
    """Append the menu to the front page; the page itself has no markup that only Sphinx understands."""
    if name == root_doc:
        for caption, pages in CONTENTS.items():
            lines = "\n".join(pages)
            source[0] += f"\n```{{toctree}}\n:hidden:\n:glob:\n:caption: {caption}\n\n{lines}\n```\n"


def add_index(app: Sphinx, error: Exception | None) -> None:
    """Let the site's folder open with the front page."""
    if error is None:
        shutil.copy(Path(app.outdir, "README.html"), Path(app.outdir, "index.html"))


def setup(app: Sphinx) -> None:
    """Connect the functions above."""
    app.add_lexer("jsonl", JsonLexer)
    app.connect("source-read", add_menu)
    app.connect("doctree-read", plain_names)
    app.connect("missing-reference", resolve)
    app.connect("html-page-context", one_menu, priority=400)  # before the theme
    app.connect("build-finished", add_index)
