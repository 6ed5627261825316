// How the site's search ranks: pages that explain come before the reference, and before pages that name everything.
// Of equal ones a page with a word in its title comes before one with it in a heading, and that before one in its text.
const asked = () => (new URLSearchParams(location.search).get("q") || "").toLowerCase().split(/\s+/);
var Scorer = {
  score: ([page, title, anchor, , score, , kind]) => {
    const named = kind === "title" && !anchor ? 20 : 0; // the title of the page is about what was asked
    const own = title.split(" > ")[0].toLowerCase(); // of a heading's result the title is "page > heading"
    const titled = asked().some((word) => word && own.includes(word)) ? 8 : 0;
    if (/^(CHANGELOG|CONTRIBUTING|README|SECURITY|docs\/README|docs\/log|genindex)$/.test(page)) return score - 10;
    if (page.startsWith("docs/api/")) return score + named - 5;
    const guide = /^docs\/[a-z_]+$/.test(page) ? 10 : page.startsWith("docs/bridges/") ? 6 : 0;
    return score + named + titled + (page.startsWith("notebooks/") ? 3 : guide);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
