// One case: everything that a verdict rests on.

import assert from "node:assert/strict";

import { LEFT } from "./fixtures.mjs";
import { everyPage, leaves, plain, shownText, text } from "./pages.mjs";

export const tests = [
  ["23 on a narrow screen the letters of a graph can be read, and the page does not scroll sideways", readableGraph],
  ["41 what is clicked is at least 24 px wide and high", targets],
  ["15 the axis of a histogram is as wide as its columns", axes],
  ["18 a case has what explain --json knows of each task", explained],
  ["19 a skipped task names its gate and leads to it", skipped],
  ["20 a judge that was asked again shows both replies, the first with its problem", askedAgain],
  ["20 a failed attempt has its kind and time", failedAttempt],
  ["21 answers that were recorded before say so, and how old they are", recorded],
  ["22 two long texts are compared whole", longTexts],
  ["23 a chosen turn is marked in the list and on the graph", chosenTurn],
  ["23 the edges on the graph are those that the turns took", pathOfTurns],
  ["24 the state of a turn is shown as it changed", stateDiff],
  ["25 events of an agent are selected by kind and tool", agentEvents],
  ["25 a changed file is a diff, and an added one its text", agentFiles],
  ["25 a key output and a log are downloaded byte for byte", downloads],
  ["requests of an agent to its model are listed, with what was asked and replied", proxyRequests],
  ["26 of 100,000 events the first 500 are shown, and the last page is reached", manyEvents],
  ["events that say when they were are drawn to scale", timeline],
  ["the nearest failing cases are linked", failingNeighbours],
  ["evidence is a tree, and JSON in a text is shown as JSON", evidenceTree],
  ["evidence is a tree, JSON, text or Markdown, as the address says", evidenceForms],
  ["a conversation about a row has its turns, its graph and its row", overRows],
  ["Markdown is rendered without pictures and raw HTML", markdown],
];

const encoded = encodeURIComponent;

async function explained(visit) {
  const project = visit.fixtures.gallery;
  const viewer = await visit.bench.viewer("gallery");
  let n = 0;
  for (const name of ["appliances", "capitals", "sycophancy", "agents", "evaluators"]) {
    const run = project.runs[name];
    const { cases } = await viewer.json(`/runs/${run}/cases.json`);
    for (const { id } of cases.slice(0, 8)) {
      const { tasks } = await viewer.json(`/runs/${run}/cases/${encoded(id)}.json`);
      for (const task of tasks) {
        const page = await (await viewer.fetch(`/runs/${run}/cases/${encoded(id)}?task=${encoded(task.task)}`)).text();
        const shown = plain(shownText(page));
        for (const leaf of leaves(task)) {
          // Messages of ours have names in backticks, which the page shows as code.
          const wanted = plain(leaf).slice(0, 2000);
          assert.ok(shown.includes(wanted) || shown.includes(wanted.replaceAll("`", "")), `${id} ${task.task}: ${leaf}`);
          n += 1;
        }
      }
    }
  }
  assert.ok(n > 20, `${n} texts`);
}

async function skipped(visit) {
  const { runs } = visit.fixtures.scored;
  const viewer = await visit.bench.viewer("scored");
  const page = await visit.page(viewer, `/runs/${runs.only}/cases/s-00?task=only_english`);
  const line = page.locator("nav.tasks li", { hasText: "only_english" });
  assert.match(await line.innerText(), /skipped: see english/);
  await line.getByRole("link", { name: "english", exact: true }).click();
  await page.waitForURL(/task=english/);
}

async function askedAgain(visit) {
  const { runs } = visit.fixtures.judged;
  const page = await visit.page(await visit.bench.viewer("judged"), `/runs/${runs.first}/cases/again?task=tone`);
  const main = await page.locator("main").textContent();
  assert.ok(main.includes("I think it is kind.") && main.includes('"tone"'), main);
  assert.match(main, /the reply is not JSON/);
  assert.match(main, /asked 2 times/);
}

async function failedAttempt(visit) {
  const { runs } = visit.fixtures.journalled;
  const page = await visit.page(await visit.bench.viewer("journalled"), `/runs/${runs.first}/cases/one?task=fine`);
  assert.match(await text(page, ".reply .attempt"), /failed after [\d.]+ (µs|ms|s) \(.+\): .*too busy now/);
}

async function recorded(visit) {
  const { runs } = visit.fixtures.judged;
  const live = await visit.page(await visit.bench.viewer("judged"), `/runs/${runs.first}/cases/again?task=tone`);
  assert.match(await text(live, ".reply .about"), /in this run/);
  const replayed = await visit.page(await visit.bench.viewer("gallery"), `/runs/${visit.fixtures.gallery.runs.appliances}/cases/oven-smoke?task=kitchen_expert`);
  assert.match(await text(replayed, ".reply .about"), /from the log, .+ old/);
  await replayed.goto(replayed.url().split("/cases/")[0]);
  assert.match(await text(replayed, "p.replay"), /A replay of .*effects\.jsonl/);
  // A second run of the same suite takes its answers from the journal.
  const again = await visit.page(await visit.bench.viewer("journalled"), `/runs/${visit.fixtures.journalled.runs.second}/cases/one?task=fine`);
  assert.match(await text(again, ".reply .about"), /from the journal, .+ old/);
  assert.match(await text(again, ".head .about"), /1 response, 1 reused/);
}

async function longTexts(visit) {
  const { runs } = visit.fixtures.judged;
  const viewer = await visit.bench.viewer("judged");
  const started = Date.now();
  const answer = await viewer.fetch(`/runs/${runs.first}/cases/long?task=same`);
  const html = await answer.text();
  // A second with an optimised build on a quiet machine; this is neither.
  assert.ok(Date.now() - started < 20_000, `${Date.now() - started} ms`);
  assert.ok((html.match(/<del>/g) ?? []).length >= 1 && (html.match(/<ins>/g) ?? []).length >= 1, "there is a diff");
  const inDiff = html.slice(html.indexOf("<pre class=\"diff\"")).split("</pre>")[0];
  assert.equal((inDiff.match(/expected in a long text/g) ?? []).length, 2500);
}

async function chosenTurn(visit) {
  const { runs } = visit.fixtures.gallery;
  const viewer = await visit.bench.viewer("gallery");
  const { cases } = await viewer.json(`/runs/${runs.sycophancy}/cases.json`);
  const page = await visit.page(viewer, `/runs/${runs.sycophancy}/cases/${encoded(cases[0].id)}`);
  assert.equal(await page.locator("svg .chosen").count(), 0);
  await page.locator("#turn-1 a.open").click();
  await page.waitForURL(/turn=1/);
  assert.equal(await page.locator("#turn-1[aria-current=true]").count(), 1);
  assert.equal(await page.locator("svg .chosen").count(), 1);
  const node = await page.locator("#turn-1 h3").innerText();
  const marked = await page.locator("svg .chosen").evaluate((it) => it.parentElement.textContent);
  assert.ok(node.includes(marked.split(/\s/).find((it) => node.includes(it) && it.length > 2) ?? "?"), `${node} | ${marked}`);
}

/** The edges that turns took, and those that the graph has with their turns: `1. to check`. */
async function pathOfTurns(visit) {
  const { runs } = visit.fixtures.gallery;
  const viewer = await visit.bench.viewer("gallery");
  const { cases } = await viewer.json(`/runs/${runs.sycophancy}/cases.json`);
  let n = 0;
  for (const { id, subject } of cases.slice(0, 4)) {
    const page = await visit.page(viewer, `/runs/${runs.sycophancy}/cases/${encoded(id)}?subject=${encoded(subject)}`);
    const took = await page.locator("ol.turns > li").evaluateAll((all) => all.flatMap((it, ix) => (it.querySelector("p.taken") ? [ix + 1] : [])));
    // Of an edge that was taken, the label names the turns; where it leads is the first of them.
    const links = await page.locator("svg.drawing a:not([aria-hidden])").filter({ has: page.locator("text.label") }).evaluateAll((all) => all.map((it) => ({ words: it.textContent, turn: Number(new URL(it.getAttribute("href"), location.href).searchParams.get("turn")) })));
    const drawn = links.flatMap(({ words }) => [...words.split("·").at(-1).matchAll(/\d+/g)].map((it) => Number(it[0])));
    assert.deepEqual(drawn.sort((a, b) => a - b), took, `${id}: ${JSON.stringify(links)}`);
    for (const { words, turn } of links) assert.ok(words.includes(String(turn)), words);
    n += took.length;
  }
  assert.ok(n > 0, "a conversation has edges");
}

async function stateDiff(visit) {
  const { runs } = visit.fixtures.gallery;
  const viewer = await visit.bench.viewer("gallery");
  const { cases } = await viewer.json(`/runs/${runs.sycophancy}/cases.json`);
  let n = 0;
  for (const { id, subject } of cases) {
    const html = await (await viewer.fetch(`/runs/${runs.sycophancy}/cases/${encoded(id)}?subject=${encoded(subject)}`)).text();
    for (const [, diff] of html.matchAll(/State, as it changed<\/summary><pre class="diff"[^>]*>(.*?)<\/pre>/gs)) {
      assert.match(diff, /<ins>/);
      n += 1;
    }
  }
  assert.ok(n > 0, "a turn after the first has a state");
}

async function agentEvents(visit) {
  const { runs } = visit.fixtures.gallery;
  const viewer = await visit.bench.viewer("gallery");
  const { cases } = await viewer.json(`/runs/${runs.agents}/cases.json`);
  const page = await visit.page(viewer, `/runs/${runs.agents}/cases/${encoded(cases[0].id)}`);
  const all = await page.locator("li.event").count();
  const chips = page.locator("nav.chips[aria-label='Kinds of events and tools'] a.chip");
  assert.ok(all > 1 && (await chips.count()) > 2);
  const [name, n] = (await chips.nth(1).innerText()).trim().split(/\s+/);
  await chips.nth(1).click();
  await page.waitForURL(/only=/);
  assert.equal(await page.locator("li.event").count(), Number(n));
  for (const event of await page.locator("li.event").allInnerTexts()) assert.ok(event.includes(name), event);
}

async function agentFiles(visit) {
  const page = await visit.page(await visit.bench.viewer("recorded"), `/runs/${visit.fixtures.recorded.runs.only}/cases/timed`);
  const files = page.locator("ul.files li");
  assert.match(await files.filter({ hasText: "added.md" }).innerText(), /a line/);
  const changed = files.filter({ hasText: "notes.md" });
  assert.equal((await changed.locator("del").last().innerText()).trim(), "-before");
  assert.equal((await changed.locator("ins").last().innerText()).trim(), "+after");
  await page.getByRole("link", { name: "side by side" }).click();
  await page.waitForURL(/diff=sides/);
  const row = page.locator("table.before-after tbody tr").nth(1);
  assert.deepEqual((await row.locator("td").allInnerTexts()).map((it) => it.trim()), ["1", "before", "1", "after"]);
  assert.deepEqual(await visit.axe(page), []);
}

async function downloads(visit) {
  const { runs } = visit.fixtures.worked;
  const viewer = await visit.bench.viewer("worked");
  const page = await visit.page(viewer, `/runs/${runs.only}/cases/work`);
  const link = page.locator("ul.files a", { hasText: "report.bin" });
  const answer = await viewer.fetch(await link.getAttribute("href"));
  assert.deepEqual(Buffer.from(await answer.arrayBuffer()), LEFT);
  const log = await viewer.fetch(await page.locator("ul.files a", { hasText: "stdout-1" }).getAttribute("href"));
  assert.match(await log.text(), /"type": "final"/);
}

async function proxyRequests(visit) {
  const { runs } = visit.fixtures.worked;
  const page = await visit.page(await visit.bench.viewer("worked"), `/runs/${runs.only}/cases/work`);
  const exchanges = page.locator("ol.exchanges > li");
  assert.equal(await exchanges.count(), 2);
  assert.match(await exchanges.first().locator("summary").innerText(), /POST .*chat\/completions .*200 · 7 \+ 2 tokens/);
  await exchanges.nth(1).locator("summary").first().click();
  const shown = await exchanges.nth(1).innerText();
  assert.ok(shown.includes("second question <b>") && shown.includes("a reply"), shown);
  // The workspace of a real agent: one line of its file changed.
  await page.getByRole("link", { name: "side by side" }).click();
  const cells = await page.locator("table.before-after tbody tr", { hasText: "zwei" }).locator("td").allInnerTexts();
  assert.deepEqual(cells.map((it) => it.trim()), ["2", "two", "2", "zwei"]);
}

async function manyEvents(visit) {
  const viewer = await visit.bench.viewer("recorded");
  const started = Date.now();
  const page = await visit.page(viewer, `/runs/${visit.fixtures.recorded.runs.only}/cases/many`);
  assert.equal(await page.locator("li.event").count(), 500);
  // A second with an optimised build on a quiet machine; this is neither.
  assert.ok(Date.now() - started < 20_000, `${Date.now() - started} ms`);
  assert.match(await text(page, "figcaption"), /first 2,000 of 100,000 events/);
  await page.getByRole("link", { name: "last", exact: true }).click();
  await page.waitForURL(/from=99500/);
  assert.match(await page.locator("li.event").last().innerText(), /message 100000/);
}

async function timeline(visit) {
  const page = await visit.page(await visit.bench.viewer("recorded"), `/runs/${visit.fixtures.recorded.runs.only}/cases/timed`);
  assert.match(await text(page, "figcaption"), /To scale: the whole is 40(\.0+)? s/);
  // The call lasts from the tenth to the thirtieth of forty seconds.
  const call = page.locator(".timeline rect.lane-1");
  assert.deepEqual([await call.getAttribute("x"), await call.getAttribute("width")], ["25", "50"]);
}

async function failingNeighbours(visit) {
  const { runs } = visit.fixtures.pair;
  const viewer = await visit.bench.viewer("pair");
  const { cases } = await viewer.json(`/runs/${runs.base}/cases.json`);
  const failing = cases.filter((it) => it.verdict === "failed" || it.verdict === "error").map((it) => it.id);
  const page = await visit.page(viewer, `/runs/${runs.base}/cases/${failing[0]}`);
  const seen = [failing[0]];
  const next = () => page.locator("nav.near a.failing, nav.near a[rel=next]").last();
  while ((await page.getByRole("link", { name: "next failing" }).count()) > 0) {
    await page.getByRole("link", { name: "next failing" }).click();
    await page.waitForURL((it) => !it.pathname.endsWith(`/${seen.at(-1)}`));
    seen.push(decodeURIComponent(new URL(page.url()).pathname.split("/").at(-1)));
  }
  // A neighbour that fails needs no second link.
  const isNeighbour = (ix) => cases.findIndex((it) => it.id === failing[ix]) === cases.findIndex((it) => it.id === failing[ix - 1]) + 1;
  const end = failing.findIndex((_, ix) => ix > 0 && isNeighbour(ix));
  assert.deepEqual(seen, end < 0 ? failing : failing.slice(0, end));
  assert.ok(seen.length > 1 && (await next().count()) <= 1);
}

async function evidenceTree(visit) {
  const { runs } = visit.fixtures.gallery;
  const viewer = await visit.bench.viewer("gallery");
  const row = await visit.page(viewer, `/runs/${runs.appliances}/cases/oven-smoke`);
  const json = row.locator("dl.members dd", { hasText: "As JSON" }).last();
  await json.getByText("As JSON").click();
  assert.match(await json.locator("details[open] pre").innerText(), /\n {2}"answer"/);
  const recorded = await visit.bench.viewer("recorded");
  const page = await visit.page(recorded, `/runs/${visit.fixtures.recorded.runs.only}/cases/many`);
  const trace = page.locator("dl.members > dd").filter({ hasText: "100,000 items" }).first();
  assert.equal(await trace.locator("details.branch").first().evaluate((it) => it.open), false);
  assert.match(await trace.textContent(), /more\. Show it whole/);
  // However deep a tree is, a narrow page does not scroll sideways.
  const { cases } = await viewer.json(`/runs/${runs.agents}/cases.json`);
  const narrow = await visit.page(viewer, `/runs/${runs.agents}/cases/${encoded(cases[0].id)}`, { viewport: { width: 320, height: 700 } });
  await narrow.keyboard.press("e");
  assert.ok((await narrow.evaluate(() => document.documentElement.scrollWidth)) <= 320);
}

async function evidenceForms(visit) {
  const { runs } = visit.fixtures.judged;
  const page = await visit.page(await visit.bench.viewer("judged"), `/runs/${runs.first}/cases/markdown?task=same`);
  const forms = page.getByRole("navigation", { name: "Forms of the evidence" });
  const section = page.locator("section", { has: page.locator("#evidence") });
  assert.equal(await forms.locator("[aria-current]").innerText(), "tree");
  const shown = { JSON: /"answer": "# Title\\n/, text: /# Title\s+\*\*bold\*\*/, Markdown: /Title\s+bold/ };
  for (const [name, expected] of Object.entries(shown)) {
    await forms.getByRole("link", { name, exact: true }).click();
    await page.waitForURL((it) => it.searchParams.get("evidence") === name.toLowerCase());
    assert.match(await section.innerText(), expected, name);
  }
  assert.equal(await section.locator(".markdown strong").count(), 1);
  await forms.getByRole("link", { name: "tree" }).click();
  await page.waitForURL((it) => !it.searchParams.has("evidence"));
}

async function overRows(visit) {
  const { runs } = visit.fixtures.talks;
  const viewer = await visit.bench.viewer("talks");
  const page = await visit.page(viewer, `/runs/${runs.only}/cases/au`);
  assert.equal(await page.locator("ol.turns > li").count(), 2);
  assert.match(await text(page, "#turn-1"), /What is the capital of Australia\?[^]*Canberra/);
  assert.equal(await page.locator("svg.drawing .box").count(), 2);
  assert.match(await page.locator("section", { has: page.locator("#evidence") }).innerText(), /Oceania/);
  // The edge to the second question was taken in the conversations about hard rows alone.
  const graph = await visit.page(viewer, `/runs/${runs.only}/graph`);
  await graph.locator("svg.drawing a:not([aria-hidden])").filter({ has: graph.locator("text.label", { hasText: "row.hard" }) }).click();
  await graph.waitForURL(/cases\?q=edge/);
  assert.deepEqual(await graph.locator("table.cases tbody th a").allInnerTexts(), ["au", "br"]);
  const { cases } = await viewer.json(`/runs/${runs.only}/cases.json?q=${encoded("-node:stands_firm=doubt")}`);
  assert.deepEqual(cases.map((it) => it.id), ["pe", "no"]);
  for (const path of await everyPage(viewer, 60)) assert.equal((await viewer.fetch(path)).status, 200, path);
}

async function markdown(visit) {
  const { runs } = visit.fixtures.judged;
  const page = await visit.page(await visit.bench.viewer("judged"), `/runs/${runs.first}/cases/markdown?task=same`);
  const rendered = page.locator(".markdown").first();
  assert.equal(await rendered.locator("img, b").count(), 0);
  assert.equal(await rendered.locator("strong").count(), 1);
  const content = await rendered.textContent();
  assert.ok(content.includes("<b>raw</b>") && content.includes("https://example.org/x.png"), content);
  assert.equal(await rendered.locator("a").getAttribute("rel"), "noopener noreferrer nofollow");
}

async function readableGraph(visit) {
  const { talks } = visit.fixtures;
  const viewer = await visit.bench.viewer("talks");
  const page = await visit.page(viewer, `/runs/${talks.runs.only}/cases/br`, { viewport: { width: 360, height: 800 } });
  const found = await page.evaluate(() => ({
    heights: [...document.querySelectorAll("svg.drawing .name")].map((it) => it.getBoundingClientRect().height),
    width: document.documentElement.scrollWidth,
  }));
  assert.ok(found.heights.length > 1 && found.heights.every((it) => it >= 11), JSON.stringify(found));
  assert.ok(found.width <= 360, String(found.width));
}

async function axes(visit) {
  const { amounts } = visit.fixtures;
  const viewer = await visit.bench.viewer("amounts");
  const page = await visit.page(viewer, `/runs/${amounts.runs.only}/cost`, { viewport: { width: 1600, height: 900 } });
  const widths = await page.evaluate(() => [...document.querySelectorAll(".histogram")].map((it) => [".columns", ".axis"].map((part) => Math.round(it.querySelector(part).getBoundingClientRect().width))));
  assert.ok(widths.length > 1);
  for (const [columns, axis] of widths) assert.equal(axis, columns);
}

/** Drawings have links along lines, which are wider than what is drawn. */
async function targets(visit) {
  for (const [name, path] of [["scored", "/cases"], ["scored", ""], ["scored", "/cases/s-00"], ["scored", "/slices"], ["talks", "/cases/br"], ["amounts", "/cost"], ["repeated", "/flaky"], ["recorded", "/cases/timed"]]) {
    const viewer = await visit.bench.viewer(name);
    const page = await visit.page(viewer, `/runs/${visit.fixtures[name].runs.only}${path}`);
    const small = await page.evaluate(() => {
      const all = [...document.querySelectorAll("a[href], button, input, select, summary")].filter((it) => !it.closest("svg") && !it.matches(".skip"));
      const boxes = all.map((it) => [it.textContent.trim().slice(0, 30), it.getBoundingClientRect()]).filter(([, it]) => it.width > 0);
      return boxes.filter(([, it]) => it.height < 23.5 || it.width < 23.5).map(([words, it]) => `${words} ${it.width} x ${it.height}`);
    });
    assert.deepEqual(small, [], `${name}${path}`);
  }
}
