// A run in one file: opened from disk, with the network off.

import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

import { leaves, plain, shownText, text } from "./pages.mjs";

export const tests = [
  ["46 a file opens from disk, and its numbers, query, order, details and comparison are those of the run", opens],
  ["46 queries find in a file what they find in the viewer, or say why they cannot", sameQueries],
  ["46 orders in a file are those of the viewer, and what has no value comes last", sameOrders],
  ["46 a text is looked for in the details that a file has, and the rest is counted", textInDetails],
  ["46 it reads without script", withoutScript],
  ["18 a case in a file has what explain --json knows of each task", explained],
  ["20 replies of a judge in a file have their problem, their failed attempts, tokens and cost", replies],
  ["23 a conversation in a file has its graph, the edges that turns took, and how outcomes were decided", conversation],
  ["25 the run of an agent in a file has its events and what became of its workspace", agent],
  ["46 --where chooses the cases of a file, which says so", chosen],
  ["46 a file has the spread of cost, tokens and latency, unless only results are wanted", spread],
  ["46 the limits of size and number are held and told", limited],
  ["46 what is to be left out is nowhere in it", omitted],
  ["47 with --results-only the same results give the same bytes", sameBytes],
  ["38 hostile texts are texts in a file", hostile],
  ["41 axe finds nothing in a file, in light and dark, and nothing scrolls sideways at 320 px", accessible],
];

/** Exports a run and returns the file. */
function exported(project, name, ...words) {
  const file = join(project.folder, `${name}.html`);
  const { code, said } = project.jurat("export", ...words, "--to", "html", "-o", file);
  assert.equal(code, 0, said);
  return file;
}

async function opens(visit) {
  const project = visit.fixtures.pair;
  const { runs } = project;
  const page = await visit.file(exported(project, "pair", runs.new, "--with", runs.base));
  assert.match(await page.title(), /towns/);
  const { results: shown } = project.json("show", runs.new, "--json");
  const main = await text(page, "main");
  for (const { task } of shown.tasks) assert.ok(main.includes(task), task);
  assert.ok(main.includes("NEW is better on 4 cases and worse on 2"), main);
  assert.equal(await text(page, "#count"), "20 of 20 cases");

  const ids = () => page.locator("#table tr[data-row] th").allInnerTexts();
  await page.locator("#query").fill("verdict:failed");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector("#count")?.textContent.startsWith("3 "));
  assert.deepEqual((await ids()).sort(), ["q-05", "q-07", "q-15"]);
  assert.match(page.url(), /#cases\?q=verdict/);
  await page.locator("#query").fill("task:tone=failed");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector("#count")?.textContent.startsWith("1 "));
  assert.deepEqual(await ids(), ["q-15"]);
  await page.locator("#table a.open").first().click();
  const open = page.locator("#details > details[open] > summary");
  await open.waitFor();
  assert.equal(await open.innerText(), "q-15");
  assert.ok((await page.locator("#details > details[open]").innerText()).includes("It brushes the reader off."));

  await page.goto(page.url().replace(/#.*/, "#cases?sort=id&dir=desc"));
  await page.waitForFunction(() => document.querySelector("#table th[aria-sort=descending]"));
  assert.deepEqual(await ids(), [...(await ids())].sort().reverse());
  await page.goto(page.url().replace(/#.*/, "#cases?q=task%3Anone%3Dfailed"));
  assert.match(await text(page, "[role=alert]"), /the run has no task `none`; it has `right` and `tone` at character 6/);
}

/** What a file shows for a query and an order: how many, the cases, or what is wrong. */
async function shownIn(page, given) {
  const hash = `#cases?${new URLSearchParams(given)}`;
  await page.locator("#table > div > *").first().waitFor();
  return page.evaluate(async (hash) => {
    const results = document.querySelector("#table > div");
    results.replaceChildren();
    const changed = new Promise((done) => new MutationObserver((_, it) => (it.disconnect(), done())).observe(results, { childList: true }));
    if (location.hash === hash) dispatchEvent(new HashChangeEvent("hashchange"));
    else location.hash = hash;
    await changed;
    const alert = results.querySelector("[role=alert]")?.textContent;
    if (alert !== undefined) return { alert };
    const cell = (row) => [...row.querySelectorAll("th, td")].slice(0, 2).map((it) => it.textContent).join(" ");
    return { count: results.querySelector("#count").textContent, rows: [...results.querySelectorAll("tr[data-row]")].map(cell) };
  }, hash);
}

/** The same of the viewer. Where it knows what may have been meant, it says more than a file does. */
async function shownBy(viewer, run, given) {
  const answer = await viewer.fetch(`/runs/${run}/cases.json?${new URLSearchParams({ n: 500, ...given })}`);
  const body = await answer.json();
  if (answer.status !== 200) return { alert: body.error.replace(/; did you mean .*$/s, "") };
  const variant = (it) => [it.prompt, it.subject, it.replicate && `#${it.replicate}`].filter((part) => part).join(" ");
  const word = (it) => ({ passed: "✓ passed", failed: "✗ failed", measured: "≈ measured", error: "! error", not_run: "○ not run", not_judged: "– not judged" })[it];
  return { rows: body.cases.map((it) => `${it.id} ${variant(it) || word(it.verdict)}`) };
}

const OF_SCORED = `
verdict:failed|verdict!=passed|verdict:failed,error|-verdict:error|verdict:fialed|verdict>passed|verdict:|verdict
task:quality=error|task:quality!=passed|task:only_english=skipped,failed|task:none=failed|task=failed|task:quality|task:quality=skiped|task:english=not_run
score:quality=0.25,0.75|score:quality!=0.5|score:quality>=0.5|score:quality<0|-score:quality>0|score:quality=x|score:none>1|score:quality>1e-1
group:lang=de|group:lang!=de|group:lang=de,fr|-group:lang=de|group:lang=it|group:none=de|group:lang>de|group:kind=b
(group:lang=de OR group:lang=en) group:kind=b|(verdict:passed (group:lang=fr OR id:s-0*))|-(group:lang=de OR group:lang=en)|--group:lang=de|()
id:s-00|id:s-0*|id:*3|id:*-1*|id:s-0*,s-2*|id!=s-0*|id>s|id:"s-00"|id:*|id:nothing
took>1ms|took<1h|took>0us|took<=10m|took>2|took>1e3us|took!=1us|latency>1us|latency>=0s|tokens>0|tokens>=0|cost>0|cost>=0|requests>0|requests>=1|requests=1|reused:yes|reused:no|reused:maybe|-reused:yes
flaky:yes|flaky:no|flaky:yes,no|subject:x|prompt:x|replicate:1|replicate:2|label:quality=x|label:none=x|label:quality>1
a OR b|(a|a)|"open|- a|OR|group:lang=de OR|(group:lang=de OR|group:"lang"="de"|task:"quality"=error|group:lang = de|verdicts:failed|group:lang=|group:lang=de,|task:quality:error|-|change:regression|change:quality=fix
`;

const QUERIES = {
  scored: ["only", [...OF_SCORED.trim().split(/[|\n]/), "", "  group:lang=de   -group:kind=a "]],
  repeated: ["only", ["flaky:yes", "flaky:no", "-flaky:yes", "replicate:2", "replicate:2,3", "replicate!=1", "replicate:4", "verdict:passed replicate:1", "subject:x", "reused:no"]],
  amounts: ["only", ["cost>0.0002", "tokens>200", "tokens!=110", "took>30ms", "latency>45ms", "latency<45ms", "requests:1", "cost:0", "-cost>0.0002", "reused:yes"]],
  pair: ["new", ["group:region=north verdict:failed", "task:right!=failed", "label:tone=rude", "label:tone!=rude", "subject:x", "why:friendly", "why:\"It brushes\"", "-why:friendly", "of", "TOKYO", "Tokyo", "tokyo -verdict:failed", "\"of course\"", "north", "why:contains,brushes"]],
};

async function sameQueries(visit) {
  for (const [name, [which, queries]] of Object.entries(QUERIES)) {
    const project = visit.fixtures[name];
    const viewer = await visit.bench.viewer(name);
    const page = await visit.file(exported(project, "queries", project.runs[which]));
    for (const q of queries) {
      const { rows, alert } = await shownIn(page, { q });
      const expected = await shownBy(viewer, project.runs[which], { q });
      assert.deepEqual({ rows, alert: alert?.replace("there is no key `verdicts`; this file takes", "") }, { rows: undefined, alert: undefined, ...expected, ...OWN[q] }, `${name}: ${q}`);
    }
    const refused = await shownIn(page, { q: "row.lang=de" });
    assert.match(refused.alert, /`row.PATH` looks into rows .* `jurat view`/);
    assert.match((await shownIn(page, { q: "human:pass" })).alert, /does not have labels of people as a column/);
  }
}

/** What a file says in words of its own. */
const OWN = {
  "verdicts:failed": { alert: " `verdict`, `task`, `label`, `score`, `group`, `subject`, `prompt`, `replicate`, `id`, `took`, `cost`, `tokens`, `latency`, `requests`, `reused`, `flaky` and `why`, and a text in quotes is looked for at character 1" },
};

const SORTS = ["input", "id", "verdict", "took", "cost", "tokens", "latency", "nothing", "score:none"];

async function sameOrders(visit) {
  for (const [name, run, sorts] of [["scored", "only", ["score:quality", "label:quality"]], ["amounts", "only", []], ["pair", "new", ["label:tone", "score:tone"]]]) {
    const project = visit.fixtures[name];
    const viewer = await visit.bench.viewer(name);
    const page = await visit.file(exported(project, "orders", project.runs[run]));
    for (const sort of [...SORTS, ...sorts]) {
      for (const dir of ["asc", "desc"]) {
        const { rows, alert } = await shownIn(page, { sort, dir });
        assert.deepEqual({ rows, alert }, { rows: undefined, alert: undefined, ...(await shownBy(viewer, project.runs[run], { sort, dir })) }, `${name}: ${sort} ${dir}`);
      }
    }
  }
  const project = visit.fixtures.scored;
  const results = await visit.file(exported(project, "results", project.runs.only, "--results-only"));
  assert.match((await shownIn(results, { sort: "took" })).alert, /left out of this file by `--results-only`/);
  assert.match((await shownIn(results, { q: "took>1ms" })).alert, /left out of this file by `--results-only`/);
  assert.match((await shownIn(results, { q: "reused:yes" })).alert, /left out of this file by `--results-only`/);
}

async function textInDetails(visit) {
  const project = visit.fixtures.pair;
  const page = await visit.file(exported(project, "details", project.runs.new, "--cases", "2"));
  const all = await shownIn(page, { q: "o" });
  assert.match(all.count, /^2 of 20 cases; 18 more cannot be searched, because their details are not in this file$/);
  // What cannot be known is neither found nor left out.
  assert.match((await shownIn(page, { q: "-o" })).count, /^0 of 20 cases; 18 more/);
  assert.match((await shownIn(page, { q: "(o OR verdict:passed)" })).count, /^18 of 20 cases; 2 more/);
}

async function withoutScript(visit) {
  const project = visit.fixtures.pair;
  const page = await visit.file(exported(project, "plain", project.runs.new), { javaScriptEnabled: false });
  const main = await text(page, "main");
  assert.ok(main.includes("tone") && main.includes("q-15") && main.includes("Details of"), main);
  await page.locator("summary", { hasText: "q-15" }).click();
  assert.ok((await text(page, "#details > details[open]")).includes("It brushes the reader off."));
}

async function explained(visit) {
  const project = visit.fixtures.gallery;
  const viewer = await visit.bench.viewer("gallery");
  let n = 0;
  for (const name of ["appliances", "capitals", "sycophancy", "agents", "evaluators"]) {
    const run = project.runs[name];
    const shown = plain(shownText(contents(exported(project, `explained-${name}`, run))));
    const { cases } = await viewer.json(`/runs/${run}/cases.json`);
    for (const { id } of cases.slice(0, 8)) {
      const { tasks } = await viewer.json(`/runs/${run}/cases/${encodeURIComponent(id)}.json`);
      for (const leaf of tasks.flatMap((it) => leaves(it))) {
        const wanted = plain(leaf).slice(0, 2000);
        assert.ok(shown.includes(wanted) || shown.includes(wanted.replaceAll("`", "")), `${name} ${id}: ${leaf}`);
        n += 1;
      }
    }
  }
  assert.ok(n > 20, `${n} texts`);
}

/** A case of a file, open, with all that is folded in it. */
async function opened(page, id) {
  await page.locator("#table a.open", { hasText: id }).first().click();
  const details = page.locator("#details > details", { has: page.locator("> summary", { hasText: id }) }).first();
  await details.evaluate((it) => it.querySelectorAll("details").forEach((fold) => (fold.open = true)));
  return details;
}

async function replies(visit) {
  const { judged, journalled, amounts } = visit.fixtures;
  const again = await opened(await visit.file(exported(judged, "again", judged.runs.first)), "again");
  const asked = await again.innerText();
  assert.ok(asked.includes("Is this kind? Please wait.") && asked.includes("I think it is kind."), asked);
  assert.match(asked, /the reply is not JSON/);
  assert.match(asked, /asked 2 times/);
  assert.match(asked, /9 \+ 3 tokens/);
  const failed = await opened(await visit.file(exported(journalled, "failed", journalled.runs.first)), "one");
  assert.match(await failed.innerText(), /failed after [\d.]+ (µs|ms|s) \(.+\): .*too busy now/);
  const priced = await opened(await visit.file(exported(amounts, "priced", amounts.runs.only)), "a-1");
  assert.match(await priced.innerText(), /507 \+ 3 tokens · \$0\.0005/);
}

async function conversation(visit) {
  const project = visit.fixtures.gallery;
  const page = await visit.file(exported(project, "conversation", project.runs.sycophancy));
  const viewer = await visit.bench.viewer("gallery");
  const { cases } = await viewer.json(`/runs/${project.runs.sycophancy}/cases.json`);
  const details = await opened(page, cases[0].id);
  assert.ok((await details.locator("svg").count()) > 0, "the graph");
  assert.ok((await details.locator(".routing li").count()) > 0, "edges that were tested");
  assert.ok((await details.locator(".taken").count()) > 0, "edges that were taken");
  assert.ok((await details.locator(".outcomes pre.trace").count()) > 0, "how outcomes were decided");
  // A turn is a place of its own in the file, and going there leaves the rest as it is.
  const n = await page.locator("#table tr[data-row]").count();
  await details.locator("li.turn h3 a").nth(1).click();
  assert.match(page.url(), /#case-\d+-turn-2$/);
  assert.equal(await page.locator(new URL(page.url()).hash).count(), 1);
  assert.equal(await page.locator("#table tr[data-row]").count(), n);
  const ids = await page.evaluate(() => [...document.querySelectorAll("[id]")].map((it) => it.id));
  assert.equal(new Set(ids).size, ids.length, "no id stands there twice");
}

async function agent(visit) {
  const project = visit.fixtures.worked;
  const details = await opened(await visit.file(exported(project, "agent", project.runs.only)), "work");
  const events = await details.locator("li.event").allInnerTexts();
  assert.ok(events.some((it) => it.includes("a reply")) && events.some((it) => it.includes("done")), String(events));
  const main = await details.innerText();
  assert.ok(main.includes("report.bin") && main.includes("zwei"), main);
  assert.equal(await details.locator("a:not([href])").count(), 0, "what leads nowhere is no link");
}

async function chosen(visit) {
  const project = visit.fixtures.pair;
  const file = exported(project, "chosen", project.runs.new, "--where", "verdict:failed");
  const page = await visit.file(file);
  assert.equal(await text(page, "#count"), "3 of 3 cases");
  assert.deepEqual((await page.locator("#table tr[data-row] th").allInnerTexts()).sort(), ["q-05", "q-07", "q-15"]);
  assert.match(await text(page, "#cases .note"), /the 3 cases that verdict:failed finds, of 20 in the run/);
  assert.match(await text(page, "#cases"), /Details of all 3 cases\./);
  assert.ok(!contents(file).includes("q-09"), "other cases are not in it");
  const { code, said } = project.jurat("export", project.runs.new, "--to", "html", "-o", "no.html", "--where", "verdict:fialed");
  assert.equal(code, 2);
  assert.match(said, /verdict:failed/);
}

async function spread(visit) {
  const project = visit.fixtures.amounts;
  const page = await visit.file(exported(project, "spread", project.runs.only));
  for (const title of ["Latency of responses", "Cost of a case", "Tokens of a case"]) {
    const section = page.locator("section", { has: page.getByRole("heading", { name: title, exact: true }) });
    assert.equal(await section.locator("svg.columns rect.point").count() > 1, true, title);
    await section.locator("summary").click();
    const counts = (await section.locator("tbody td.number").allInnerTexts()).map(Number);
    assert.equal(counts.reduce((sum, it) => sum + it, 0), 6, title);
  }
  const results = await visit.file(exported(project, "spread-results", project.runs.only, "--results-only"));
  assert.equal(await results.locator("svg.columns").count(), 0);
  assert.ok(!(await text(results, "main")).includes("$"));
}

async function limited(visit) {
  const project = visit.fixtures.pair;
  const file = exported(project, "few", project.runs.new, "--cases", "2");
  assert.match(readFileSync(file, "utf8"), /Details of 2 of 4 cases that did not pass/);
  const small = exported(project, "small", project.runs.new, "--max-size", "75kB");
  assert.ok(statSync(small).size <= 75_000, String(statSync(small).size));
  const { code, said } = project.jurat("export", project.runs.new, "--to", "html", "-o", "no.html", "--max-size", "1kB");
  assert.equal(code, 2);
  assert.match(said, /without any details the file has .*`--max-size`/s);
}

/** Everything that is in a file, packed or not. */
function contents(file) {
  const html = readFileSync(file, "utf8");
  const packed = [...html.matchAll(/<script[^>]*octet-stream"[^>]*>([^<]*)</g)].map((it) => gunzipSync(Buffer.from(it[1], "base64")).toString());
  return [html, ...packed].join("\n");
}

async function omitted(visit) {
  const project = visit.fixtures.pair;
  const whole = contents(exported(project, "whole", project.runs.new));
  assert.ok(whole.includes("Santiago"));
  const file = exported(project, "omitted", project.runs.new, "--omit", "town");
  const all = contents(file);
  for (const town of ["Santiago", "Oslo", "Tokyo", "Kathmandu"]) assert.ok(!all.includes(town), town);
  assert.match(all, /Left out on purpose: .*20 texts/);
  assert.ok(!all.includes(project.folder), "no path of the machine");
}

async function sameBytes(visit) {
  const project = visit.fixtures.pair;
  const { runs } = project;
  const bytes = (name, run) => readFileSync(exported(project, name, run, "--results-only"));
  const first = bytes("first", runs.new);
  assert.ok(first.equals(bytes("second", runs.new)));
  project.jurat("export", runs.new, "--effects", "-o", "effects.jsonl");
  if (!runs.replay) project.run("replay", "suite.yaml", "--model", "subject=script/new.jsonl", "--model", "judge=script/judge-new.jsonl", "--replay", "effects.jsonl");
  assert.ok(first.equals(bytes("replayed", runs.replay)), "a replay gives the same file");
}

async function hostile(visit) {
  const project = visit.fixtures.hostile;
  const page = await visit.file(exported(project, "hostile", project.runs.base, "--with", project.runs.new));
  for (const link of await page.locator("#table a.open").all()) await link.click();
  const found = await page.evaluate(() => ({
    foreign: [...document.querySelectorAll("img, iframe, object, embed, base")].length,
    styles: document.querySelectorAll("style").length,
    links: [...document.querySelectorAll("a[href]")].map((it) => it.getAttribute("href")).filter((it) => !it.startsWith("#")),
  }));
  assert.deepEqual(found, { foreign: 0, styles: 1, links: [] });
  assert.ok((await text(page, "main")).includes("<script>alert('script')</script>"));
}

async function accessible(visit) {
  const project = visit.fixtures.pair;
  const file = exported(project, "axe", project.runs.new, "--with", project.runs.base);
  for (const colorScheme of ["light", "dark"]) {
    const page = await visit.file(file, { colorScheme });
    assert.deepEqual(await visit.axe(page), [], colorScheme);
  }
  const narrow = await visit.file(file, { viewport: { width: 320, height: 700 } });
  const width = await narrow.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= 320, `${width} px wide`);
}
