// The script of a run in one file: it unpacks the columns, filters, sorts, and opens details. State is in the fragment of the address.

const $ = (id) => document.getElementById(id);
const GLYPHS = { p: "✓", f: "✗", m: "≈", s: "–", e: "!", n: "○", j: "–", "-": "" };
const ROWS = 100;

async function unpacked(element) {
  const bytes = Uint8Array.from(atob(element.textContent), (it) => it.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

const columns = JSON.parse(await unpacked($("columns")));
const places = JSON.parse($("places").textContent);
const chunkOf = new Map(places.flatMap((of, chunk) => of.map((place) => [place, chunk])));
const opened = new Set([0]);
// The number of a case in the run, which details are known by: cases lie in the order of input.
const numbers = columns.numbers ?? columns.ids.map((_, ix) => ix);

// What the details of a case say, as text: its row and its answer, and the messages of its tasks.
const said = new Map();

function read(details) {
  const of = (look) => [...details.querySelectorAll(`[data-look=${look}]`)].map(plain);
  said.set(Number(details.id.replace("case-", "")), { text: [...of("row").flatMap(stringsOf), ...of("answer")], why: of("why") });
}

// A text as it was: names in it became code.
function plain(element) {
  const of = (it) => (it.nodeType === Node.TEXT_NODE ? it.data : it.nodeName === "CODE" ? `\`${it.textContent}\`` : [...it.childNodes].map(of).join(""));
  return of(element);
}

// The strings of a row without its keys. A row that is cut is no JSON: then its text is what there is.
function stringsOf(row) {
  const values = (it) => (it === null ? [] : typeof it === "object" ? Object.values(it).flatMap(values) : [String(it)]);
  try {
    return values(JSON.parse(row));
  } catch {
    return [row];
  }
}

const meaning = new Meaning(columns, (ix) => said.get(numbers[ix]));

// The cases that a query finds, and how many it cannot decide because their details are not in the file.
async function found(query) {
  const tree = new Reader(query).query();
  const test = meaning.test(tree);
  if (looksIntoDetails(tree)) {
    for (const chunk of places.keys()) await unpack(chunk);
    if (said.size === 0) document.querySelectorAll("#details > details").forEach(read);
  }
  const cases = [];
  let unknown = 0;
  for (let ix = 0; ix < columns.ids.length; ix += 1) {
    const holds = test(ix);
    if (holds) cases.push(ix);
    if (holds === null) unknown += 1;
  }
  return { cases, unknown };
}

// Elements, with text that is never taken for markup.
function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) key in element ? (element[key] = value) : element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function badge(code) {
  const word = WORDS[code];
  return word ? make("span", { className: `verdict ${word.replace("_", "-").replace("not-judged", "skipped")}` }, make("span", { className: "glyph", "aria-hidden": "true" }, GLYPHS[code]), ` ${word.replace("_", " ")}`) : make("span", { className: "none" }, "–");
}

function state() {
  const [, page = "", query = ""] = location.hash.match(/^#(\w+)\??(.*)$/s) ?? [];
  const given = new URLSearchParams(query);
  return { page, q: given.get("q") ?? "", sort: given.get("sort") ?? "input", descending: given.get("dir") === "desc", from: Number(given.get("from")) || 0, open: given.get("case") };
}

function address(changes) {
  const { q, sort, descending, from, open } = { ...state(), open: null, ...changes };
  const given = new URLSearchParams();
  if (q) given.set("q", q);
  if (sort !== "input") given.set("sort", sort);
  if (descending) given.set("dir", "desc");
  if (from) given.set("from", from);
  if (open != null) given.set("case", open);
  return `#cases${given.size ? `?${given}` : ""}`;
}

async function unpack(chunk) {
  if (opened.has(chunk)) return;
  opened.add(chunk);
  const parsed = new DOMParser().parseFromString(await unpacked(document.querySelector(`script[data-chunk="${chunk}"]`)), "text/html");
  $("details").append(...parsed.body.children);
}

async function open(ix) {
  const place = numbers[ix];
  const chunk = chunkOf.get(place);
  if (chunk === undefined) return;
  await unpack(chunk);
  const details = $(`case-${place}`);
  if (!details) return;
  details.open = true;
  details.querySelector("summary").focus();
  details.scrollIntoView({ block: "start" });
}

// An order begins with what people look for: the most of an amount, the first of anything else.
const MOST_FIRST = ["took", "cost", "tokens", "latency"];

function header(title, sort, current) {
  const isCurrent = current.sort === sort;
  const descending = isCurrent ? !current.descending : MOST_FIRST.includes(sort);
  const cell = make("th", { scope: "col" }, sort ? make("a", { href: address({ sort, descending, from: 0 }) }, title) : title);
  if (isCurrent) cell.setAttribute("aria-sort", current.descending ? "descending" : "ascending");
  return cell;
}

const none = () => make("span", { className: "none" }, "–");

function variantOf(ix) {
  const { prompt, subject, replicate } = meaning.variant(ix);
  return [prompt, subject, columns.isRepeated ? `#${replicate}` : ""].filter((it) => it).join(" ");
}

function duration(us) {
  const seconds = Math.floor(us / 1e6);
  if (us < 1e3) return `${us} µs`;
  if (us < 1e6) return `${(us / 1e3).toFixed(1)} ms`;
  if (seconds < 60) return `${(us / 1e6).toFixed(2)} s`;
  return seconds < 3600 ? `${Math.floor(seconds / 60)} min ${seconds % 60} s` : `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

function money(dollars) {
  const places = dollars >= 1 ? 2 : dollars >= 0.01 ? 4 : dollars >= 1e-5 ? 6 : 9;
  return dollars === 0 ? "$0" : `$${places === 9 ? dollars.toFixed(9).replace(/0+$/, "") : dollars.toFixed(places)}`;
}

const hasVariants = columns.variants.some((it) => it.prompt || it.subject || it.replicate > 1);

// The columns beside those of tasks: a title, an order, and what stands in the cell of a case.
const MORE = [
  columns.took && ["Took", "took", duration],
  columns.cost && ["Cost", "cost", money],
].filter((it) => it);

function row(ix) {
  const hasDetails = chunkOf.has(numbers[ix]);
  const name = hasDetails ? make("a", { className: "open", href: address({ open: ix }) }, make("bdi", {}, columns.ids[ix])) : make("bdi", {}, columns.ids[ix]);
  const cells = [make("th", { scope: "row" }, name)];
  if (hasVariants) cells.push(make("td", {}, variantOf(ix)));
  cells.push(make("td", {}, badge(columns.codes[ix])));
  for (const task of columns.tasks) {
    const cell = make("td", {}, badge(task.codes[ix]));
    const label = task.labels?.texts[task.labels.numbers[ix]];
    if (label !== undefined) cell.append(" ", make("span", { className: "tag" }, label));
    if (task.scores?.[ix] != null) cell.append(" ", make("span", { className: "tag" }, String(task.scores[ix])));
    cells.push(cell);
  }
  for (const [, key, words] of MORE) {
    const amount = meaning.figures[key][ix];
    cells.push(make("td", { className: "number" }, amount == null ? none() : words(amount)));
  }
  return make("tr", { "data-row": "" }, ...cells);
}

function counted({ cases, unknown }) {
  const number = (it) => it.toLocaleString("en");
  const rest = unknown ? `; ${number(unknown)} more cannot be searched, because their details are not in this file` : "";
  return `${number(cases.length)} of ${number(columns.ids.length)} cases${rest}`;
}

function heads(now) {
  const sortOf = (it) => (it.scores ? `score:${it.id}` : it.labels ? `label:${it.id}` : null);
  return [
    header("Case", "id", now),
    ...(hasVariants ? [header("Variant", null, now)] : []),
    header("Verdict", "verdict", now),
    ...columns.tasks.map((it) => header(it.id, sortOf(it), now)),
    ...MORE.map(([title, sort]) => header(title, sort, now)),
  ];
}

async function table(now) {
  const hits = await found(now.q);
  const all = ordered(meaning, hits.cases, now.sort, now.descending);
  const shown = all.slice(now.from, now.from + ROWS);
  const count = make("p", { className: "about", id: "count", role: "status" }, counted(hits));
  const body = make("table", { className: "rows" }, make("thead", {}, make("tr", {}, ...heads(now))), make("tbody", {}, ...shown.map(row)));
  const box = make("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Cases" }, body);
  const pages = make("nav", { className: "pager", "aria-label": "Pages" });
  if (now.from > 0) pages.append(make("a", { rel: "prev", href: address({ from: Math.max(0, now.from - ROWS) }) }, "Previous"));
  pages.append(make("span", {}, all.length ? `${now.from + 1}–${now.from + shown.length}` : "none"));
  if (now.from + ROWS < all.length) pages.append(make("a", { rel: "next", href: address({ from: now.from + ROWS }) }, "Next"));
  return [count, box, pages];
}

const box = make("input", { type: "search", id: "query", placeholder: "verdict:failed task:ID=failed", autocomplete: "off", spellcheck: false, "aria-label": "Search cases" });
const form = make("form", { role: "search", className: "filter" }, box);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  location.hash = address({ q: box.value, from: 0 });
});
const results = make("div");
$("table").append(form, results);
$("table").hidden = false;

async function show() {
  const { hash } = location;
  // A place inside of the details of a case is shown by the browser.
  if (/^#case-\d/.test(hash) && results.hasChildNodes()) return;
  const now = state();
  if (document.activeElement !== box) box.value = now.q;
  try {
    const parts = await table(now);
    // Whoever typed on meanwhile is answered by the later call.
    if (location.hash !== hash) return;
    results.replaceChildren(...parts);
  } catch (error) {
    if (!(error instanceof Wrong)) throw error;
    results.replaceChildren(make("p", { className: "note", role: "alert" }, error.message));
  }
  if (now.open !== null) await open(Number(now.open));
  else if (now.page === "cases") $("cases").scrollIntoView({ block: "start" });
}

addEventListener("hashchange", show);
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input")) return;
  if (event.key === "/") {
    event.preventDefault();
    box.focus();
  }
  const page = { "[": "prev", "]": "next" }[event.key];
  if (page) document.querySelector(`a[rel=${page}]`)?.click();
});
await show();
