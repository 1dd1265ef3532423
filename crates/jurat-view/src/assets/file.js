// The script of a run in one file: it unpacks the columns, filters, sorts, and opens details. State is in the fragment of the address.

const $ = (id) => document.getElementById(id);
const WORDS = { p: "passed", f: "failed", m: "measured", s: "skipped", e: "error", n: "not_run", j: "not_judged" };
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

// Where a word is not understood, the reader is told what would be.
class Wrong extends Error {}

function words(query) {
  const found = query.match(/-?(?:[^\s"]|"[^"]*")+/g) ?? [];
  return found.map((it) => ({ not: it.startsWith("-"), text: it.replace(/^-/, "").replaceAll('"', "") }));
}

const listed = (all) => all.map((it) => `\`${it}\``).join(", ");

function verdictTest(codes, names) {
  for (const name of names) if (!Object.values(WORDS).includes(name)) throw new Wrong(`\`${name}\` is no verdict; there are ${listed(Object.values(WORDS))}`);
  return (ix) => names.includes(WORDS[codes[ix]]);
}

function taskNamed(id) {
  const task = columns.tasks.find((it) => it.id === id);
  if (!task) throw new Wrong(`there is no task \`${id}\`; there are ${listed(columns.tasks.map((it) => it.id))}`);
  return task;
}

const COMPARE = { "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b, "=": (a, b) => a === b, "!=": (a, b) => a !== b };

// One term as a test of a case.
function term(text) {
  const [, key, rest] = text.match(/^([a-z]+):(.*)$/s) ?? [null, null, text];
  const [, name, operator, value] = rest.match(/^(.*?)(<=|>=|!=|<|>|=)(.*)$/s) ?? [];
  switch (key) {
    case "verdict":
      return verdictTest(columns.codes, rest.split(","));
    case "task":
      return verdictTest(taskNamed(name ?? rest).codes, (value ?? "").split(","));
    case "label": {
      const labels = taskNamed(name).labels ?? [];
      return (ix) => value.split(",").includes(labels[ix] ?? "");
    }
    case "score": {
      const scores = taskNamed(name).scores ?? [];
      return (ix) => scores[ix] != null && COMPARE[operator](scores[ix], Number(value));
    }
    case "group": {
      const group = columns.groups.find((it) => it.path === name);
      if (!group) throw new Wrong(`there is no group \`${name ?? rest}\`; there are ${listed(columns.groups.map((it) => it.path))}`);
      return (ix) => value.split(",").includes(group.values[ix] ?? "");
    }
    case "id": {
      const pattern = new RegExp(`^${rest.split("*").map((it) => it.replace(/[.+?^${}()|[\]\\]/g, "\\$&")).join(".*")}$`);
      return (ix) => pattern.test(columns.ids[ix]);
    }
    case null: {
      const wanted = text.toLowerCase();
      return (ix) => `${columns.ids[ix]} ${columns.variants?.[ix] ?? ""}`.toLowerCase().includes(wanted);
    }
    default:
      throw new Wrong(`\`${key}:\` is not in this file; it takes \`verdict:\`, \`task:\`, \`label:\`, \`score:\`, \`group:\`, \`id:\` and parts of ids`);
  }
}

function found(query) {
  const tests = words(query).map(({ not, text }) => [term(text), not]);
  const all = [];
  for (let ix = 0; ix < columns.ids.length; ix += 1) if (tests.every(([test, not]) => test(ix) !== not)) all.push(ix);
  return all;
}

const ORDER = "enfsjmp-";

function sorted(all, sort, descending) {
  const task = columns.tasks.find((it) => `task:${it.id}` === sort);
  const key = sort === "id" ? (ix) => columns.ids[ix] : sort === "verdict" ? (ix) => ORDER.indexOf(columns.codes[ix]) : task ? (ix) => task.scores?.[ix] ?? ORDER.indexOf(task.codes[ix]) : (ix) => ix;
  const keys = new Map(all.map((ix) => [ix, key(ix)]));
  all.sort((a, b) => (keys.get(a) < keys.get(b) ? -1 : keys.get(a) > keys.get(b) ? 1 : a - b));
  return descending ? all.reverse() : all;
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
  return { page, q: given.get("q") ?? "", sort: given.get("sort") ?? "input", descending: given.get("dir") === "desc", from: Number(given.get("from") ?? 0), open: given.get("case") };
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

// The number of a case in the run, which details are known by: cases lie in the order of input.
const numbers = columns.numbers ?? columns.ids.map((_, ix) => ix);

async function open(ix) {
  const place = numbers[ix];
  const chunk = chunkOf.get(place);
  if (chunk === undefined) return;
  if (!opened.has(chunk)) {
    opened.add(chunk);
    const parsed = new DOMParser().parseFromString(await unpacked(document.querySelector(`script[data-chunk="${chunk}"]`)), "text/html");
    $("details").append(...parsed.body.children);
  }
  const details = $(`case-${place}`);
  if (!details) return;
  details.open = true;
  details.querySelector("summary").focus();
  details.scrollIntoView({ block: "start" });
}

function header(title, sort, current) {
  const isCurrent = current.sort === sort;
  const link = make("a", { href: address({ sort, descending: isCurrent && !current.descending, from: 0 }) }, title);
  const cell = make("th", { scope: "col" }, link);
  if (isCurrent) cell.setAttribute("aria-sort", current.descending ? "descending" : "ascending");
  return cell;
}

function row(ix) {
  const hasDetails = chunkOf.has(numbers[ix]);
  const name = hasDetails ? make("a", { className: "open", href: address({ open: ix }) }, make("bdi", {}, columns.ids[ix])) : make("bdi", {}, columns.ids[ix]);
  const cells = [make("th", { scope: "row" }, name), make("td", {}, badge(columns.codes[ix]))];
  if (columns.variants) cells.splice(1, 0, make("td", {}, columns.variants[ix]));
  for (const task of columns.tasks) {
    const cell = make("td", {}, badge(task.codes[ix]));
    if (task.labels?.[ix] != null) cell.append(" ", make("span", { className: "tag" }, task.labels[ix]));
    if (task.scores?.[ix] != null) cell.append(" ", make("span", { className: "tag" }, String(task.scores[ix])));
    cells.push(cell);
  }
  return make("tr", { "data-row": "" }, ...cells);
}

function table(now) {
  const all = sorted(found(now.q), now.sort, now.descending);
  const shown = all.slice(now.from, now.from + ROWS);
  const heads = [header("Case", "id", now), header("Verdict", "verdict", now), ...columns.tasks.map((it) => header(it.id, `task:${it.id}`, now))];
  if (columns.variants) heads.splice(1, 0, make("th", { scope: "col" }, "Variant"));
  const count = make("p", { className: "about", id: "count", role: "status" }, `${all.length.toLocaleString("en")} of ${columns.ids.length.toLocaleString("en")} cases`);
  const box = make("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Cases" }, make("table", { className: "rows" }, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...shown.map(row))));
  const pages = make("nav", { className: "pager", "aria-label": "Pages" });
  if (now.from > 0) pages.append(make("a", { rel: "prev", href: address({ from: Math.max(0, now.from - ROWS) }) }, "Previous"));
  pages.append(make("span", {}, all.length ? `${now.from + 1}–${now.from + shown.length}` : "none"));
  if (now.from + ROWS < all.length) pages.append(make("a", { rel: "next", href: address({ from: now.from + ROWS }) }, "Next"));
  return [count, box, pages];
}

const box = make("input", { type: "search", id: "query", placeholder: "verdict:failed task:ID=failed id", autocomplete: "off", spellcheck: false, "aria-label": "Search cases" });
const form = make("form", { role: "search", className: "filter" }, box);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  location.hash = address({ q: box.value, from: 0 });
});
const results = make("div");
$("table").append(form, results);
$("table").hidden = false;

async function show() {
  const now = state();
  if (document.activeElement !== box) box.value = now.q;
  try {
    results.replaceChildren(...table(now));
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
