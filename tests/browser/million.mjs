// Large runs in a real browser: how long pages take, from the beginning of the navigation until they are painted, and what memory the server needs. `cargo xtask browser --million PROGRAM` starts this
// program with an optimised build:
//
//     node million.mjs --jurat PROGRAM --modules FOLDER --work FOLDER [--cases N] [--calls N]
//
// Two runs of a million cases with ten tasks, and one of 100,000 calls of a judge; they are made once. Figures are printed beside their targets, and twice a
// target is a failure (check 44 of the viewer's specification).

import { spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, rmSync, writeSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { Bench, Viewer, Visit } from "./bench.mjs";
import { makeTimed } from "./fixtures.mjs";
import { conditions, Figures, memory, painted } from "./measure.mjs";

const TASKS = 10;
/** How often a viewer is started anew. */
const STARTS = 3;

function given(name) {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? null : process.argv[at + 1];
}

const paths = { jurat: given("jurat"), modules: given("modules"), work: given("work"), root: join(dirname(fileURLToPath(import.meta.url)), "../..") };
const N = Number(given("cases") ?? 1_000_000);
const CALLS = Number(given("calls") ?? 100_000);

/** Lines that a function makes of their numbers, some thousand at a time. */
function writeLines(path, n, line) {
  const file = openSync(path, "w");
  for (let start = 0; start < n; start += 10_000) {
    const lines = [...Array(Math.min(10_000, n - start)).keys()].map((it) => JSON.stringify(line(start + it)));
    writeSync(file, `${lines.join("\n")}\n`);
  }
  closeSync(file);
}

/** Makes a folder with runs, unless it is there. */
function made(name, make) {
  const folder = join(paths.work, name);
  if (!existsSync(join(folder, "made"))) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(join(folder, ".jurat/runs"), { recursive: true });
    make(folder);
    writeFileSync(join(folder, "made"), "");
  }
  const runs = readdirSync(join(folder, ".jurat/runs")).filter((it) => it.endsWith(".jurat")).sort().map((it) => it.replace(/\.jurat$/, ""));
  return { folder, runs };
}

function run(folder) {
  const done = spawnSync(paths.jurat, ["run", "suite.yaml"], { cwd: folder, encoding: "utf8", maxBuffer: 1 << 28 });
  if (done.status === null || done.status > 1) throw new Error(`a run in ${folder}: ${done.stderr}`);
}

/** Rows of which some fail each task; those of the second run differ in some. */
function makeCases(folder) {
  const tasks = [...Array(TASKS).keys()].map((it) => `  - { id: t${it}, field_path: answer, operator: not_contains, expected_value: "${it}${it}" }`);
  writeFileSync(join(folder, "suite.yaml"), `suite: million\nrecords: rows.jsonl\ngroup_by: [lang]\ntasks:\n${tasks.join("\n")}\n`);
  for (const shift of [0, 11]) {
    const answer = (ix) => `answer ${(ix * 7919 + shift * (ix % 50 === 0 ? 1 : 0)) % 1000}${ix === N - 7 ? " needle" : ""}`;
    writeLines(join(folder, "rows.jsonl"), N, (ix) => ({ id: `case-${String(ix).padStart(7, "0")}`, lang: ["de", "en", "fr", "ja"][ix % 4], question: `Question ${ix} about a topic`, answer: answer(ix) }));
    run(folder);
  }
}

function makeCalls(folder) {
  const tasks = `  - { id: polite, judge: { prompt: "Is this polite? \${answer}" }, operator: contains, expected_value: "yes" }`;
  writeFileSync(join(folder, "suite.yaml"), `suite: judged\nrecords: rows.jsonl\nmodels: { judge: script/replies.jsonl }\ntasks:\n${tasks}\n`);
  writeLines(join(folder, "replies.jsonl"), 1, () => ({ reply: "yes", usage: { input: 40, output: 2 }, times: "*" }));
  writeLines(join(folder, "rows.jsonl"), CALLS, (ix) => ({ id: `q-${String(ix).padStart(6, "0")}`, answer: `answer ${ix} to a question about refunds${ix === CALLS - 7 ? " needle" : ""}` }));
  run(folder);
}

const bench = await Bench.start(paths, {});
const visit = new Visit(bench);
const figures = new Figures();
const ROW = "table.cases tbody tr";

/** Starts a viewer and opens a page of it; several times, the last one stays. */
async function started(what, folder, path, wanted, words = []) {
  const times = [];
  let viewer, page;
  for (let round = 0; round < STARTS; round += 1) {
    await viewer?.stop();
    const start = performance.now();
    viewer = await Viewer.start(paths.jurat, folder, words);
    page = await visit.page(viewer, path);
    await painted(page, wanted);
    times.push(performance.now() - start);
  }
  figures.add(what, times, "ms", 1000);
  return { viewer, page };
}

/** Measures pages of one run. */
class Pages {
  constructor(name, run, { viewer, page }) {
    Object.assign(this, { name, run, viewer, page });
  }

  cases(query) {
    return `/runs/${this.run}/cases?${new URLSearchParams(query)}`;
  }

  /** The time of a page from its address to its last paint. */
  open(what, target, path, wanted = "main") {
    return figures.time(`${this.name}: ${what}`, target, async (round) => {
      await this.page.goto(this.viewer.origin + (typeof path === "function" ? path(round) : path));
      return painted(this.page, wanted);
    });
  }

  /** The time of a click on a link, until the page behind it is painted; each round clicks another one of the page that it is on. */
  click(what, target, link) {
    return figures.time(`${this.name}: ${what}`, target, async () => {
      const before = this.page.url();
      await this.page.locator(link).first().click();
      await this.page.waitForURL((it) => it.href !== before);
      return painted(this.page);
    });
  }

  /** The time of an answer, without a browser. */
  fetch(what, target, path) {
    return figures.time(`${this.name}: ${what}`, target, async (round) => {
      const start = performance.now();
      await (await this.viewer.fetch(path(round))).text();
      return performance.now() - start;
    });
  }

  memory() {
    figures.add(`${this.name}: memory of the server at most`, [memory(this.viewer.process.pid)], "MB", 150);
  }
}

/** Fifty clients search for what no row has, and leave. */
async function hangUp({ viewer, run }) {
  const searches = [...Array(50).keys()].map((ix) => viewer.fetch(`/runs/${run}/cases?q=absent${ix}`, { signal: AbortSignal.timeout(50) }).catch(() => null));
  await Promise.all(searches);
}

const large = made(`million-${N}`, makeCases);
const [base, newer] = large.runs;
const millions = `${N.toLocaleString("en")} cases × ${TASKS} tasks`;
let opened = await started(`${millions}: start to the first page of cases`, large.folder, `/runs/${newer}/cases`, ROW);
let pages = new Pages(millions, newer, opened);
await pages.click("next page, by a click", 100, "a[rel=next]");
await pages.open("a page far behind", 100, (round) => pages.cases({ from: N * 0.9 + round * 100 }), ROW);
for (const q of ["verdict:failed", "verdict:passed", "task:t1=failed"]) await pages.open(`filter \`${q}\``, 150, pages.cases({ q }), ROW);
const others = ["task:t1=failed task:t2=failed", "-task:t3=passed", "group:lang=de", "group:lang=de verdict:failed", "(task:t4=failed OR task:t5=failed)", "id:case-00001*", "took>1us"];
for (const q of others) await pages.open(`filter \`${q}\``, 300, pages.cases({ q }), "table.cases, .message");
await pages.open("order by time", 300, pages.cases({ sort: "took", dir: "desc" }), ROW);
await pages.open("first hits of a text that all rows have", 1000, pages.cases({ q: "Question", n: 25 }), ROW);
await pages.open("a text that one of the last rows has", 3000, pages.cases({ q: "needle" }), ROW);
await pages.open("a case", 100, (round) => `/runs/${newer}/cases/case-${String(N / 2 + round * 1000).padStart(7, "0")}`, "h1");
await pages.page.goto(pages.viewer.origin + pages.cases({ q: "verdict:failed" }));
await pages.page.locator(`${ROW} a.open`).first().click();
await pages.page.waitForURL(/cases\/case-/);
await pages.click("the next case of a query, by a click", 100, "a[rel=next]");
await pages.open("overview", 1000, `/runs/${newer}`, "h1");
await pages.fetch("answer of a search that is not finished (check 14)", 400, (round) => pages.cases({ q: `nothing${round}` }));
await hangUp(pages);
await pages.fetch("answer after 50 searches that hung up (check 45)", 500, () => pages.cases({}));
pages.memory();
await pages.viewer.stop();

const compare = `/compare?base=${base}&new=${newer}`;
opened = await started(`${millions}: start to the comparison of two runs`, large.folder, compare, ".compared");
pages = new Pages(`${millions}, compared`, newer, opened);
for (const q of ["change:regression", "change:t1=fix", "-cause:evidence", "id:case-00001*"]) await pages.open(`filter \`${q}\``, 300, `${compare}&${new URLSearchParams({ q })}`, ".changes, .about");
pages.memory();
await pages.viewer.stop();

const judged = made(`judged-${CALLS}`, makeCalls);
const calls = `${CALLS.toLocaleString("en")} calls of a judge`;
opened = await started(`${calls}: start to the first page of cases`, judged.folder, `/runs/${judged.runs[0]}/cases`, ROW);
pages = new Pages(calls, judged.runs[0], opened);
await pages.click("next page, by a click", 100, "a[rel=next]");
await pages.open("filter `task:polite=passed`", 150, pages.cases({ q: "task:polite=passed" }), ROW);
await pages.open("filter `tokens>10`", 150, pages.cases({ q: "tokens>10" }), ROW);
await pages.open("order by cost", 300, pages.cases({ sort: "cost", dir: "desc" }), ROW);
await pages.open("a text that one of the last rows has", 1000, pages.cases({ q: "needle" }), ROW);
await pages.open("a case with what its judge was asked", 100, (round) => `/runs/${judged.runs[0]}/cases/q-${String(CALLS / 2 + round * 100).padStart(6, "0")}`, "h1");
pages.memory();
await pages.viewer.stop();

rmSync(join(paths.work, "timed"), { recursive: true, force: true });
const timed = await makeTimed(paths);
for (const [name, what, path, wanted] of [
  ["judged", "two texts of 100 KB compared (check 22)", `/runs/${timed.judged.runs.first}/cases/long?task=same`, "pre.diff ins"],
  ["recorded", "first 500 of 100,000 events (check 26)", `/runs/${timed.recorded.runs.only}/cases/many`, "li.event"],
  ["recorded", "last 500 of 100,000 events (check 26)", `/runs/${timed.recorded.runs.only}/cases/many?from=99500`, "li.event"],
]) {
  const viewer = await Viewer.start(paths.jurat, timed[name].folder);
  const page = await visit.page(viewer, "/");
  await new Pages("one case", "", { viewer, page }).open(what, 1000, path, wanted);
  await viewer.stop();
}
await visit.close();
await bench.stop();

figures.print();
console.log(`\n${conditions()}; Chromium, ${spawnSync("chromium", ["--version"], { encoding: "utf8" }).stdout.trim()}`);
if (visit.faults.length > 0) console.error(visit.faults.join("\n"));
const isFar = figures.lines.some((it) => it.target !== null && it.median > 2 * it.target);
process.exit(isFar || visit.faults.length > 0 ? 1 : 0);
