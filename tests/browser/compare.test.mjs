// Runs side by side.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { text } from "./pages.mjs";

export const tests = [
  ["29 every figure is that of compare --json, and the counts are those of the cases", figures],
  ["30 change:regression lists the regressions of compare --json, and causes are told apart", regressions],
  ["31 a redefined task and a changed judge are marked", marked],
  ["29 rows in another order are paired the same", otherOrder],
  ["31 a task that is defined otherwise is marked on its line and on its cases", redefined],
  ["one case beside itself: what was answered, how it was judged, and why it changed", oneCase],
  ["wrong words in the query are named", wrongWords],
  ["queries have the language of cases, and every count leads to as many cases", language],
];

const address = ({ runs }, q = "") => `/compare?base=${runs.base}&new=${runs.new}${q ? `&q=${encodeURIComponent(q)}` : ""}`;

async function figures(visit) {
  const project = visit.fixtures.pair;
  const { runs } = project;
  const viewer = await visit.bench.viewer("pair");
  const compared = project.json("compare", runs.base, runs.new, "--json");
  assert.deepEqual(await viewer.json(address(project).replace("/compare", "/compare.json")), compared);

  const verdicts = (run) => {
    const lines = project.jurat("export", run, "--to", "jsonl").out.trim().split("\n").map((it) => JSON.parse(it));
    return new Map(lines.map((it) => [it.record, it.case_verdict]));
  };
  const [base, fresh] = [verdicts(runs.base), verdicts(runs.new)];
  const n = (was, now) => [...base].filter(([id, verdict]) => verdict === was && fresh.get(id) === now).length;
  const table = compared.comparisons[0].lines.find((it) => it.about === "cases").table;
  assert.deepEqual(table, { both: n("passed", "passed"), only_base: n("passed", "failed"), only_new: n("failed", "passed"), neither: n("failed", "failed") });

  const page = await visit.page(viewer, address(project));
  for (const line of compared.comparisons[0].lines.filter((it) => it.table && it.about !== "slice")) {
    const row = page.locator(".compared").first().locator("tr", { hasText: line.task ?? line.about }).first();
    const cells = await row.locator("td").allInnerTexts();
    assert.deepEqual(cells.slice(6, 10).map(Number), Object.values(line.table), JSON.stringify(line));
  }
  assert.ok((await text(page, "main")).includes(compared.comparisons[0].sentence.split(". ")[0]));
}

async function regressions(visit) {
  const project = visit.fixtures.pair;
  const { runs } = project;
  const { cases } = project.json("compare", runs.base, runs.new, "--all", "--json").comparisons[0];
  const page = await visit.page(await visit.bench.viewer("pair"), address(project, "change:regression"));
  const ids = () => page.locator(".changes tr[data-row] a.open").allInnerTexts();
  const expected = cases.filter((it) => it.new.passed < it.base.passed).map((it) => it.id);
  assert.deepEqual((await ids()).sort(), expected.sort());
  assert.ok(expected.includes("q-05") && expected.includes("q-15"), String(expected));
  const why = async (id) => (await page.locator(".changes tr[data-row]", { hasText: id }).locator("td").last().innerText()).trim();
  assert.equal(await why("q-05"), "evidence");
  assert.equal(await why("q-15"), "judge");
  await page.getByRole("link", { name: /why fault/ }).click();
  assert.deepEqual(await ids(), ["q-18"]);
  await page.getByRole("link", { name: /^fixes/ }).click();
  assert.deepEqual((await ids()).sort(), ["q-03", "q-09", "q-11", "q-12"]);
}

async function marked(visit) {
  const page = await visit.page(await visit.bench.viewer("pair"), address(visit.fixtures.pair));
  const notes = (await page.locator(".note").allInnerTexts()).join("\n");
  assert.match(notes, /the judge of tone changed/);
  assert.ok((await page.locator(".compared th[scope=row]").allInnerTexts()).some((it) => it.startsWith("tone*")));
  const moves = await page.locator(".changes tr[data-row]", { hasText: "q-15" }).locator(".moves").innerText();
  assert.match(moves, /tone\* ✓ passed → ✗ failed/);
}

/** A third run of the pair, with another suite. */
function another(project, name, change, words) {
  if (project.runs[name]) return;
  const [suite, rows] = ["suite.yaml", "rows.jsonl"].map((it) => readFileSync(join(project.folder, it), "utf8"));
  const changed = change(suite, rows.trimEnd().split("\n"));
  project.write({ [`${name}.yaml`]: changed.suite.replace("records: rows.jsonl", `records: ${name}-rows.jsonl`), [`${name}-rows.jsonl`]: `${changed.rows.join("\n")}\n` });
  project.run(name, `${name}.yaml`, ...words, "--fresh");
}

async function otherOrder(visit) {
  const project = visit.fixtures.labels;
  const words = ["--model", "subject=script/new.jsonl", "--model", "judge=script/judge-new.jsonl"];
  another(project, "reversed", (suite, rows) => ({ suite, rows: rows.reverse() }), words);
  const viewer = await visit.bench.viewer("labels");
  const { base, new: fresh, reversed } = project.runs;
  const lines = async (run) => (await viewer.json(`/compare.json?base=${base}&new=${run}`)).comparisons[0].lines.filter((it) => it.table).map(({ about, task, table, p }) => ({ about, task, table, p }));
  assert.deepEqual(await lines(reversed), await lines(fresh));
}

async function redefined(visit) {
  const project = visit.fixtures.labels;
  another(project, "redefined", (suite, rows) => ({ suite: suite.replace("expected_value: kind", "expected_value: rude"), rows }), []);
  const viewer = await visit.bench.viewer("labels");
  const page = await visit.page(viewer, `/compare?base=${project.runs.base}&new=${project.runs.redefined}`);
  assert.ok((await page.locator(".compared th[scope=row]").allInnerTexts()).some((it) => it.startsWith("tone*")));
  const row = page.locator(".changes tr[data-row]", { hasText: "q-01" });
  assert.match(await row.locator(".moves").innerText(), /tone\*/);
  assert.match(await row.locator("td").last().innerText(), /definition/);
}

async function oneCase(visit) {
  const page = await visit.page(await visit.bench.viewer("pair"), address(visit.fixtures.pair));
  await page.locator(".changes a.open", { hasText: "q-05" }).click();
  assert.match(await text(page, "main"), /Why it changed: evidence/);
  assert.match(await text(page, "pre.diff"), /I do not know that town/);
  await page.goBack();
  await page.locator(".changes a.open", { hasText: "q-15" }).click();
  const main = await text(page, "main");
  assert.match(main, /Why it changed: judge/);
  assert.ok(main.includes("It is friendly.") && main.includes("It brushes the reader off."), main);
}

async function wrongWords(visit) {
  visit.expected = /status of 400/;
  const page = await visit.page(await visit.bench.viewer("pair"), address(visit.fixtures.pair, "change:worse"));
  assert.match(await text(page, "main"), /worse is no change; there are regression, fix, unknown, only_base, only_new, changed and same/);
  await page.goto(page.url().replace("worse", "regresion"));
  assert.equal(await text(page, ".query-problem mark"), "regresion");
  await page.getByRole("link", { name: "change:regression" }).click();
  await page.locator(".changes tr[data-row]").first().waitFor();
}

async function language(visit) {
  const project = visit.fixtures.pair;
  const page = await visit.page(await visit.bench.viewer("pair"), address(project));
  const ids = async () => (await page.locator(".changes tr[data-row] a.open").allInnerTexts()).sort();
  const ask = async (q) => {
    await page.getByRole("searchbox", { name: "Search the cases" }).fill(q);
    await page.keyboard.press("Enter");
    await page.waitForURL((it) => it.searchParams.get("q") === q);
    return ids();
  };
  assert.deepEqual(await ask("change:regression -cause:judge"), ["q-05"]);
  assert.deepEqual(await ask("(change:tone=regression OR change:unknown)"), ["q-15", "q-18"]);
  assert.deepEqual(await ask("delta:right<0"), ["q-05"]);
  assert.deepEqual(await ask("group:region=north change:fix"), []);
  assert.equal((await ask("change:same")).length, 13);
  // Each term is a link to the query without it, and each chip leads to as many cases as it says.
  await ask("change:fix id:q-1*");
  await page.getByRole("link", { name: "id:q-1*" }).click();
  assert.deepEqual(await ids(), ["q-03", "q-09", "q-11", "q-12"]);
  for (const chip of await page.locator("p.chips a.chip:not(.term)").evaluateAll((all) => all.map((it) => [it.href, it.querySelector("strong").textContent]))) {
    await page.goto(chip[0]);
    assert.equal((await ids()).length, Number(chip[1]), chip[0]);
  }
  // So does each count of a task.
  await page.goto((await visit.bench.viewer("pair")).origin + address(project));
  for (const [href, n] of await page.locator(".compared td a").evaluateAll((all) => all.map((it) => [it.href, it.textContent]))) {
    await page.goto(href);
    assert.equal((await ids()).length, Number(n), href);
  }
}
