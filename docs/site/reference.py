"""The API reference: a page per module. A package links to its modules; they are not in the menu, which stays short."""

from collections.abc import Iterable
from typing import Any

from autodoc2.render.rst_ import RstRenderer
from autodoc2.utils import ItemData
from docutils import nodes
from docutils.parsers import rst
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.ext.napoleon import GoogleDocstring
from sphinx.util.logging import getLogger

logger = getLogger(__name__)


class Parser(rst.Parser):
    """A parser of docstrings with sections such as ``Args:``; autodoc2 finds it by this name."""

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Parse one docstring into `document`. What docutils finds wrong is a warning of the site."""
        reporter = document.reporter
        reporter.report_level = reporter.SEVERE_LEVEL
        reporter.attach_observer(warn)
        super().parse(str(GoogleDocstring(inputstring, document.settings.env.config)), document)


def warn(message: nodes.system_message) -> None:
    """Make a warning of a message of docutils."""
    if message["level"] >= 2:
        logger.warning("%s", message.astext())


class Renderer(RstRenderer):
    """Writes the pages."""

    def render_package(self, item: ItemData) -> Iterable[str]:
        """Write a package or module: what it says, its packages and modules as links, its public names."""
        name = item["full_name"]
        yield from [":orphan:", "", name, "=" * len(name), "", f".. py:module:: {name}", ""]
        if self.show_docstring(item):
            yield from [f".. autodoc2-docstring:: {name}", "   :parser: reference", "   :allowtitles:", ""]
        for kind, title in (("package", "Packages"), ("module", "Modules")):
            inside = [one["full_name"] for one in self.get_children(item, {kind})]
            if inside:
                yield from [title, "-" * len(title), "", *(f"- :py:mod:`{one}`" for one in inside), ""]
        for one in self.get_children(item):
            if one["type"] not in ("package", "module"):
                yield from self.render_item(one["full_name"])


def plain_names(app: Sphinx, doctree: nodes.document) -> None:
    """Let Sphinx look a name up as it is written; to compare it with the ends of all names takes minutes."""
    for reference in doctree.findall(pending_xref):
        reference.attributes.pop("refspecific", None)


def resolve(app: Sphinx, env: BuildEnvironment, node: pending_xref, shown: nodes.Element) -> nodes.Node | None:
    """Return the link of a name that its module only imports, if exactly one public object has that name."""
    domain = env.domains["py"]
    if node.get("refdomain") != domain.name:
        return None
    if not ENDS:
        ENDS.update(unique_ends(domain.objects))
    target = node["reftarget"]
    name = ENDS.get(target.rpartition(".")[2], "")
    return (
        domain.resolve_xref(env, node["refdoc"], app.builder, "obj", name, node, shown)
        if name.endswith(target)
        else None
    )


ENDS: dict[str, str] = {}
"""Full names by their last parts."""


def unique_ends(names: Iterable[str]) -> dict[str, str]:
    """Return the names whose last part is unique; `parlour.envs.Game` goes before the one of its own module."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(name.rpartition(".")[2], []).append(name)
    short = {end: [name for name in all_ if name.count(".") == 2] or all_ for end, all_ in found.items()}
    return {end: all_[0] for end, all_ in short.items() if len(all_) == 1}


def one_menu(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Make the menu once for all modules of a package: they are not in it, and to make it takes long."""
    folder, _, name = page.rpartition("/")
    if folder.startswith("docs/api/") and not folder.endswith(name):
        make = context["toctree"]

        def menu(**options: Any) -> Any:
            if folder not in MENUS:
                MENUS[folder] = make(**options)
            return MENUS[folder]

        context["toctree"] = menu


MENUS: dict[str, Any] = {}
"""Menus by folder."""
