"""What a page looks like, by its DOM: what is too wide, too small, cut, or on top of something else."""

SIZES = {
    "desk": {"viewport": {"width": 1280, "height": 800}},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
}

FRAMES = "async () => { for (const _ of [1, 2]) await new Promise(requestAnimationFrame); }"
"""Observers of sizes are told in a frame."""
FLAWS = """() => {
  const flaws = [];
  const said = (node) => `${node.tagName} #${node.id} "${node.textContent.trim().slice(0, 30)}"`;
  const shown = (node) => node.checkVisibility({opacityProperty: true, visibilityProperty: true})
    && !node.closest(".unseen, select, noscript");
  const width = document.documentElement.scrollWidth;
  if (width > innerWidth) flaws.push(`wider than the screen: ${width}`);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !shown(node)) continue;
    const drawing = node.closest("svg");
    const scale = drawing === null ? 1 : node.getScreenCTM().a;
    const size = parseFloat(getComputedStyle(node).fontSize) * scale;
    if (size < 11.95 && !node.closest("kbd")) flaws.push(`${size.toFixed(1)} px: ${said(node)}`);
  }
  for (const node of document.querySelectorAll("body *")) {
    if (!(node instanceof HTMLElement) || !shown(node) || node.matches("input, textarea")) continue;
    const {overflowX, textOverflow} = getComputedStyle(node);
    const cut = overflowX !== "visible" && node.scrollWidth > node.clientWidth + 1;
    if (cut && node.id !== "latest") flaws.push(`cut by ${node.scrollWidth - node.clientWidth} px: ${said(node)}`);
  }
  const boxes = [...document.querySelectorAll("button, a, input:not([type=radio], [type=checkbox]), select")]
    .filter((node) => shown(node) && !node.closest("#move, .mine #board"))
    .map((node) => [node, node.getBoundingClientRect()]);
  boxes.forEach(([one, a], i) => boxes.slice(i + 1).forEach(([other, b]) => {
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (wide > 1 && high > 1 && !one.contains(other)) flaws.push(`${said(one)} lies on ${said(other)}`);
  }));
  return flaws;
}"""


def flaws(page):
    """Return what is wrong with a page's layout, a line each."""
    page.evaluate(FRAMES)
    return page.evaluate(FLAWS)


def flaws_after_click(page, button):
    """Return what is wrong in the task of the click already, before the next frame."""
    return page.evaluate(f"button => {{ document.querySelector(button).click(); return ({FLAWS})(); }}", button)


def flaws_at_all_sizes(page):
    """Return what is wrong with a page's layout on a desk and on a phone; the page stays as on a phone."""
    found = []
    for name, size in SIZES.items():
        page.set_viewport_size(size["viewport"])
        page.wait_for_timeout(200)  # hold'em asks for its other picture
        found += [f"{name}: {flaw}" for flaw in flaws(page)]
    return found
