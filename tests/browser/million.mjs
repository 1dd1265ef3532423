// A run of a million cases in a real browser: how long pages take, and what memory the server needs. `cargo xtask browser --million PROGRAM` starts this program with
// an optimised build:
//
//     node million.mjs --jurat PROGRAM --modules FOLDER --work FOLDER
//
// Figures are printed beside their targets, and twice a target is a failure (check 44 of the viewer's specification). The runs are made once.

import { spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, readdirSync, rmSync, writeSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Bench, Viewer, Visit } from "./bench.mjs";

const N = 1_000_000;
const TASKS = 10;

function given(name) {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? null : process.argv[at + 1];
}

const paths = { jurat: given("jurat"), modules: given("modules"), work: given("work") };
const folder = join(paths.work, "million");

/** Rows of which some fail each task; those of the second run differ in some. */
function writeRows(name, shift) {
  const file = openSync(join(folder, name), "w");
  for (let start = 0; start < N; start += 10_000) {
    const lines = [...Array(10_000).keys()].map((it) => {
      const ix = start + it;
      return JSON.stringify({ id: `case-${String(ix).padStart(7, "0")}`, lang: ["de", "en", "fr", "ja"][ix % 4], question: `Question ${ix} about a topic`, answer: `answer ${(ix * 7919 + shift * (ix % 50 === 0 ? 1 : 0)) % 1000}${ix === N - 7 ? " needle" : ""}` });
    });
    writeSync(file, `${lines.join("\n")}\n`);
  }
  closeSync(file);
}

function make() {
  if (existsSync(join(folder, "made"))) return;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, ".jurat/runs"), { recursive: true });
  const tasks = [...Array(TASKS).keys()].map((it) => `  - { id: t${it}, field_path: answer, operator: not_contains, expected_value: "${it}${it}" }`);
  for (const [shift, name] of ["base", "new"].entries()) {
    writeRows("rows.jsonl", shift * 11);
    writeFileSync(join(folder, "suite.yaml"), `suite: million\nrecords: rows.jsonl\ngroup_by: [lang]\ntasks:\n${tasks.join("\n")}\n`);
    const done = spawnSync(paths.jurat, ["run", "suite.yaml"], { cwd: folder, encoding: "utf8", maxBuffer: 1 << 28 });
    if (done.status === null || done.status > 1) throw new Error(`the run ${name}: ${done.stderr}`);
  }
  writeFileSync(join(folder, "made"), "");
}

make();
const [base, newer] = readdirSync(join(folder, ".jurat/runs")).filter((it) => it.endsWith(".jurat")).sort().map((it) => it.replace(/\.jurat$/, ""));
const bench = await Bench.start(paths, {});
const visit = new Visit(bench);
const results = [];

function note(name, found, target, unit) {
  const isMissed = found > 2 * target;
  results.push(isMissed);
  console.log(`${isMissed ? "FAIL" : found > target ? "slow" : "ok  "}  ${name}: ${Math.round(found)} ${unit}, at most ${target} wanted`);
}

const started = Date.now();
const viewer = await Viewer.start(paths.jurat, folder);
const page = await visit.page(viewer, `/runs/${newer}/cases`);
await page.locator("table.cases tbody tr").first().waitFor();
note("first page of cases, from the start of the process", Date.now() - started, 1000, "ms");

/** The time of a page in the browser, until its table is there. */
async function timed(name, path, target, wanted = "main") {
  const start = Date.now();
  await page.goto(viewer.origin + path);
  await page.locator(wanted).first().waitFor();
  note(name, Date.now() - start, target, "ms");
}

const cases = (query) => `/runs/${newer}/cases?${new URLSearchParams(query)}`;
for (const q of ["verdict:failed", "verdict:passed", "task:t1=failed", "task:t1=failed task:t2=failed", "-task:t3=passed", "group:lang=de", "group:lang=de verdict:failed", "(task:t4=failed OR task:t5=failed)", "id:case-00001*", "took>1us"]) await timed(`filter ${q}`, cases({ q }), 300, "table.cases, .message");
await timed("filter by verdict, again", cases({ q: "verdict:failed" }), 150);
await timed("order by time", cases({ sort: "took", dir: "desc" }), 300);
await timed("page at 900,000", cases({ from: 900_000 }), 300);
await timed("next page", cases({ from: 900_100 }), 100);
await timed("one case", `/runs/${newer}/cases/case-0500000`, 100);
await timed("first hits of a text", cases({ q: "Question", n: 25 }), 1000, "table.cases tbody tr");
await timed("a text of the last rows", cases({ q: "needle" }), 3000, "table.cases tbody tr");
await timed("comparison", `/compare?base=${base}&new=${newer}`, 1000);
const status = readFileSync(`/proc/${viewer.process.pid}/status`, "utf8");
note("memory of the server at most", Number(status.match(/VmHWM:\s+(\d+)/)[1]) / 1024, 150, "MB");
await visit.close();
await viewer.stop();
await bench.stop();
if (visit.faults.length > 0) console.error(visit.faults.join("\n"));
process.exit(results.includes(true) || visit.faults.length > 0 ? 1 : 0);
