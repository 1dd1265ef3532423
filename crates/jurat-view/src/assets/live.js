
// Runs in progress: numbers and bars are replaced in place, tables stay as they are, and what is new is a link.

function rendered(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content.firstElementChild;
}

// Puts a part that the server rendered in the place of one, unless the reader is in it.
function replacePart(old, html) {
  const fresh = rendered(html);
  if (!old || !fresh || old.contains(document.activeElement)) return;
  old.replaceWith(fresh);
  localTimes(fresh);
}

// The list of what to look at first, with the causes of errors, is computed from the whole run: it is loaded anew when there are more of them.
async function lookAgain() {
  const old = document.querySelector('[data-part="first"]');
  const answer = old && (await fetch(location.href));
  if (!answer?.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.querySelector('[data-part="first"]');
  if (fresh && !old.contains(document.activeElement)) old.replaceWith(fresh);
}

function listen(place) {
  const source = new EventSource(place.dataset.events);
  let most = Number(place.dataset.cases ?? 0);
  let errors = Number(place.dataset.errors ?? Infinity);
  const update = (event) => {
    const news = JSON.parse(event.data);
    for (const [name, html] of Object.entries(news.parts)) replacePart(document.querySelector(`[data-part="${name}"]`), html);
    const again = document.querySelector("[data-recomputed]");
    if (again) again.hidden = !(news.resumed && news.state === "running" && news.cases < most);
    most = Math.max(most, news.cases);
    if (news.errors > errors) lookAgain();
    errors = Math.max(errors, news.errors ?? 0);
    const link = place.querySelector("a.new-cases");
    const n = news.cases - Number(place.dataset.cases ?? 0);
    if (link && n > 0) {
      link.hidden = false;
      link.textContent = `${n.toLocaleString("en-US")} new ${n === 1 ? "case" : "cases"}`;
    }
  };
  source.addEventListener("progress", update);
  source.addEventListener("ended", (event) => {
    update(event);
    source.close();
  });
  source.addEventListener("run", (event) => updateRow(place, JSON.parse(event.data)));
  addEventListener("pagehide", () => source.close());
}

const unseen = new Set();

function updateRow(place, news) {
  const fresh = rendered(`<table><tbody>${news.row}</tbody></table>`)?.querySelector("tr");
  const old = [...document.querySelectorAll("tr[data-run]")].find((it) => it.dataset.run === news.id);
  if (old && fresh && old.cells.length === fresh.cells.length) {
    // The box and the link that the reader may be at stay.
    [...fresh.cells].forEach((cell, ix) => {
      if (ix > 1 && !old.cells[ix].contains(document.activeElement)) old.cells[ix].replaceWith(cell.cloneNode(true));
    });
    localTimes(old);
  } else if (!old) {
    unseen.add(news.id);
    const link = place.querySelector("a.new-runs");
    if (!link) return;
    link.hidden = false;
    link.textContent = `${unseen.size} new ${unseen.size === 1 ? "run" : "runs"}`;
  }
}

for (const place of document.querySelectorAll("[data-events]")) listen(place);

// A search that is not finished continues by itself until the page is full.
async function searchOn() {
  const most = Number(new URL(location.href).searchParams.get("n") ?? 100);
  for (;;) {
    const link = document.querySelector(".pager a.continue");
    const table = document.querySelector("table.cases tbody");
    const shown = table?.rows.length ?? 0;
    if (!link || shown >= most) return;
    const answer = await fetch(link.href);
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const found = page.querySelector("table.cases tbody");
    if (found && table) table.append(...[...found.rows].slice(0, most - shown));
    else if (found) document.querySelector(".results .message")?.replaceWith(page.querySelector(".results .scroll"));
    const count = document.querySelector("p.count");
    const fresh = page.querySelector("p.count");
    if (count && fresh) {
      const n = document.querySelectorAll("table.cases tbody tr").length;
      count.replaceChildren(...fresh.childNodes);
      const strong = count.querySelector("strong");
      if (strong) strong.textContent = `${n} ${n === 1 ? "case" : "cases"}`;
    }
    document.querySelector(".results .pager")?.replaceWith(page.querySelector(".results .pager"));
    if (!page.querySelector(".pager a.continue")) {
      const hint = document.querySelector(".results .message p");
      if (hint && !document.querySelector("table.cases")) hint.textContent = "No case fits.";
    }
  }
}

searchOn();
