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
