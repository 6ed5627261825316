// Looks words up by the site's own search: `node docs/site/look_up.mjs build/site [WORD …]`. Without words, those that
// people look for: each must find its page among the first results, else the exit code is 1.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";

const FIRST = 3;
const SOUGHT = {
  reward: "docs/environments",
  opponents: "docs/opponents",
  token: "docs/security",
  deploy: "docs/bridges/arena",
  install: "docs/install",
  training: "docs/training",
  observation: "docs/environments",
  settings: "docs/training",
  replay: "docs/replays",
  security: "docs/security",
  reproduce: "docs/training",
  "quick start": "notebooks/quickstart",
  "language model": "docs/bridges/llm",
  "own game": "docs/own_game",
};

const [site, ...words] = process.argv.slice(2);
const files = ["base-stemmer", "english-stemmer", "language_data", "searchtools"].map((name) => `_static/${name}.js`);
const source = [...files, "searchindex.js"].map((name) => readFileSync(join(site, name), "utf8")).join("\n;\n");
const page = {
  URLSearchParams,
  location: { search: "" },
  document: { addEventListener: () => {}, getElementById: () => ({ lastChild: null }), readyState: "loading" },
  SPHINX_HIGHLIGHT_ENABLED: false,
  DOCUMENTATION_OPTIONS: {},
  _ready: () => {},
  _: (words) => words,
};
page.window = page;
const search = runInNewContext(`${source}\n;(words) => Search._performSearch(...Search._parseQuery(words))`, page);

let missing = 0;
for (const word of words.length ? words : Object.keys(SOUGHT)) {
  page.location.search = `?q=${word}`;
  const pages = [...new Set(search(word).reverse().map(([page]) => page))].slice(0, FIRST);
  const found = words.length > 0 || pages.includes(SOUGHT[word]);
  missing += !found;
  console.log(`${found ? "" : `not ${SOUGHT[word]}: `}${word}: ${pages.join(", ")}`);
}
process.exit(missing ? 1 : 0);
