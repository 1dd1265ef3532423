// Finding pages: what links lead to, and what stands on them.

/** The addresses that a crawl from the list of runs finds, at most as many; of pages that differ only in their parameters, two. */
export async function everyPage(viewer, most) {
  const found = new Set(["/"]);
  const shapes = new Map();
  for (const path of found) {
    if (found.size >= most) break;
    const answer = await viewer.fetch(path);
    if (!answer.headers.get("content-type")?.startsWith("text/html")) continue;
    const html = await answer.text();
    for (const [, link] of html.matchAll(/<a\b[^>]*?\bhref="([^"]*)"/g)) {
      const address = link.replaceAll("&amp;", "&").replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&gt;", ">");
      if (!address.startsWith("/") || NOT_BUILT.test(address) || found.size >= most) continue;
      const shape = shapeOf(address);
      const n = shapes.get(shape) ?? 0;
      if (found.has(address) || n >= 2) continue;
      shapes.set(shape, n + 1);
      found.add(address);
    }
  }
  return [...found];
}

/** Addresses that are no pages. */
const NOT_BUILT = /^(\/runs\/[^/]+)?\/events\b|\/output\b|\/cases\.(csv|jsonl)\b/;

/** Addresses of one page with other parameters have one shape. */
function shapeOf(address) {
  const [path, query = ""] = address.split("?");
  const names = [...new URLSearchParams(query).keys()].sort();
  return `${path.replace(/\/cases\/[^/]+/, "/cases/ID")}?${[...new Set(names)].join("&")}`;
}

export async function text(page, selector) {
  return (await page.locator(selector).first().innerText()).replaceAll("\u00a0", " ");
}

/** Texts of a JSON value that a reader would miss. Digests, names of members and moments are for programs. */
export function leaves(value, key = "") {
  if (Array.isArray(value)) return value.flatMap((it) => leaves(it, key));
  if (value !== null && typeof value === "object") return Object.entries(value).flatMap(([name, it]) => leaves(it, name));
  const isForPeople = typeof value === "string" && ["message", "explanation", "expected", "found", "text", "reason", "problem", "description"].includes(key);
  return isForPeople && value.trim().length > 2 ? [value] : [];
}

/** A text with one space between words. */
export const plain = (it) => it.replace(/[\s\u2400-\u2426]+/gu, " ").trim();

/** What stands in markup, without its tags. */
export const shownText = (markup) => markup.replace(/<[^>]*>/g, "").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&");
