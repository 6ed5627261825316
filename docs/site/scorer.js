// How the site's search ranks: pages that explain come before the reference, and before pages that name everything.
var Scorer = {
  score: ([page, , anchor, , score, , kind]) => {
    const named = kind === "title" && !anchor ? 20 : 0; // the title of the page is about what was asked
    if (/^(CHANGELOG|CONTRIBUTING|README|docs\/README|docs\/log|genindex)$/.test(page)) return score - 10;
    if (page.startsWith("docs/api/")) return score + named - 5;
    return score + named + (/^docs\/[a-z_]+$/.test(page) ? 10 : page.startsWith("notebooks/") ? 3 : 0);
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
