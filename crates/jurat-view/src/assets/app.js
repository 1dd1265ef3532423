// What script adds to pages that read without it: the theme, times of the reader's zone, keys.

const root = document.documentElement;

// Theme: system, light, dark, and round again.
function nextTheme() {
  const now = root.dataset.theme;
  const next = now === "light" ? "dark" : now === "dark" ? null : "light";
  if (next) root.dataset.theme = next;
  else delete root.dataset.theme;
  try {
    if (next) localStorage.setItem("jurat-theme", next);
    else localStorage.removeItem("jurat-theme");
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}

// Times, in the zone of the reader.
export function localTimes(within) {
  const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
  const short = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  const zone = new Intl.DateTimeFormat(undefined, { timeZoneName: "short", hour: "numeric" });
  for (const time of within.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    const name = zone.formatToParts(at).find((it) => it.type === "timeZoneName")?.value ?? "";
    time.title = `${time.dateTime} ${name}`;
    time.textContent = (time.closest("td") ? short : format).format(at);
  }
}

// Keys. `actions` are by key; pages may add theirs.
const KEYS = [
  ["?", "all keys", () => showKeys()],
  ["/", "to the query", () => focusQuery()],
  ["j", "next row", () => moveRow(1)],
  ["k", "previous row", () => moveRow(-1)],
  ["o", "open the row", () => rowLink()?.click()],
  ["x", "select the row", () => currentRow()?.querySelector("input[type=checkbox]")?.click()],
  ["[", "previous page", () => document.querySelector("a[rel=prev]")?.click()],
  ["]", "next page", () => document.querySelector("a[rel=next]")?.click()],
  ["u", "up", () => [...document.querySelectorAll(".crumbs a")].filter((it) => it.pathname !== location.pathname).at(-1)?.click()],
  ["c", "compare the selected runs", () => document.querySelector("form.runs button[type=submit]")?.click()],
  ["e", "open all parts, or close them", () => toggleAll()],
  ["d", "diff on and off", () => document.querySelectorAll("details.diff").forEach((it) => (it.open = !it.open))],
  ["g", "then r o c g s f: runs, overview, cases, graph, slices, flaky", () => (going = true)],
  ["t", "theme", () => nextTheme()],
  ["y", "copy the address", () => navigator.clipboard?.writeText(location.href)],
];

// What the key after `g` leads to.
const PLACES = { r: "Runs", o: "Overview", c: "Cases", g: "Graph", s: "Slices", f: "Flaky" };
let going = false;

function go(key) {
  going = false;
  const links = [...document.querySelectorAll(".sections a")];
  if (key === "r") document.querySelector(".crumbs a.brand")?.click();
  else links.find((it) => it.textContent.trim() === PLACES[key])?.click();
}

function toggleAll() {
  const parts = [...document.querySelectorAll("main details")];
  const open = !parts.every((it) => it.open);
  parts.forEach((it) => (it.open = open));
}

function rows() {
  return [...document.querySelectorAll("[data-row]")];
}

function currentRow() {
  return document.activeElement?.closest?.("[data-row]") ?? null;
}

function rowLink() {
  return currentRow()?.querySelector("a.open, a, button") ?? null;
}

function moveRow(step) {
  const all = rows();
  if (all.length === 0) return;
  const at = all.indexOf(currentRow());
  const next = all[Math.min(Math.max(at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step, 0), all.length - 1)];
  const link = next.querySelector("a.open, a, button, input");
  link?.focus();
  next.scrollIntoView({ block: "nearest" });
  history.replaceState(history.state, "", `#row-${all.indexOf(next) + 1}`);
}

// The row that the address names, so that a copied address and the way back lead to it.
function focusRow() {
  const number = Number(location.hash.match(/^#row-(\d+)$/)?.[1] ?? 0);
  const link = rows()[number - 1]?.querySelector("a.open, a, button, input");
  link?.focus();
  link?.scrollIntoView({ block: "nearest" });
}

function focusQuery() {
  const box = document.querySelector("main input[type=search], .top input[type=search]");
  box?.focus();
  box?.select();
}

function showKeys() {
  const dialog = document.createElement("dialog");
  dialog.className = "keys";
  const title = document.createElement("h2");
  title.textContent = "Keys";
  const list = document.createElement("dl");
  for (const [key, words] of KEYS) {
    const name = document.createElement("dt");
    const box = document.createElement("kbd");
    box.textContent = key;
    name.append(box);
    const about = document.createElement("dd");
    about.textContent = words;
    list.append(name, about);
  }
  const close = document.createElement("button");
  close.textContent = "Close";
  close.autofocus = true;
  close.addEventListener("click", () => dialog.close());
  dialog.append(title, list, close);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

// Adds a key for one page.
export function addKey(key, words, action) {
  KEYS.push([key, words, action]);
}

function isTyping(target) {
  return target?.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable]");
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
  if (going && PLACES[event.key]) {
    event.preventDefault();
    go(event.key);
    return;
  }
  going = false;
  const action = KEYS.findLast(([key]) => key === event.key)?.[2];
  if (!action) return;
  event.preventDefault();
  action();
});

for (const button of document.querySelectorAll("button[data-action]")) {
  const action = { theme: nextTheme, keys: showKeys }[button.dataset.action];
  if (!action) continue;
  button.hidden = false;
  button.addEventListener("click", action);
}

localTimes(document);
focusRow();

// On a narrow page the table comes first.
if (matchMedia("(max-width: 60rem)").matches) document.querySelector(".facets > details")?.removeAttribute("open");
