// The viewers of other products beside ours, with the same number of cases, in the same browser, by the same script. `cargo xtask browser --peers PROGRAM` installs
// them and starts this program with an optimised build:
//
//     node peers.mjs --jurat PROGRAM --modules FOLDER --work FOLDER --inspect ENVIRONMENT --promptfoo FOLDER [--sizes N,N]
//
// Each is given logs of growing size until it does not open one in time. The product itself makes some hundred cases; those of Inspect and promptfoo are repeated
// under other ids, as the product would store them. Measured are: the start of its server until its first cases
// are shown, a click on a case until what the case says is shown, and the memory of the server. All of them measure from outside, by what is in the page.

import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { Bench, Viewer } from "./bench.mjs";
import { conditions, memory } from "./measure.mjs";

const here = dirname(fileURLToPath(import.meta.url));
/** How long a page may take before it counts as not opened, and how long a log may take to be made. */
const MOST_MS = 120_000;
const MOST_MAKING_MS = 900_000;
const ROUNDS = 3;

function given(name) {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? null : process.argv[at + 1];
}

const paths = { jurat: given("jurat"), modules: given("modules"), work: given("work") };
const sizes = (given("sizes") ?? "1000,10000,100000").split(",").map(Number);
const folder = join(paths.work, "peers");

/** Makes something once; a log that takes too long is none. */
function made(name, make) {
  const place = join(folder, name);
  if (existsSync(join(place, "made"))) return place;
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  make(place);
  writeFileSync(join(place, "made"), "");
  return place;
}

function run(program, words, options = {}) {
  const done = spawnSync(program, words, { encoding: "utf8", maxBuffer: 1 << 28, timeout: MOST_MAKING_MS, ...options });
  if (done.error || (done.status !== 0 && done.status !== options.alsoGood)) throw new Error(`${program} ${words[0]}: ${done.error ?? done.stderr.slice(-500)}`);
  return done.stdout;
}

const id = (ix) => `case-${String(ix).padStart(7, "0")}`;

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Waits until a server answers. */
async function answering(address) {
  for (const start = Date.now(); Date.now() - start < MOST_MS; ) {
    try {
      await fetch(address);
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  throw new Error(`nothing answers at ${address}`);
}

/** A server of another product, in a group of processes of its own. */
async function served(program, words, port, options) {
  const process_ = spawn(program, words, { stdio: "ignore", detached: true, ...options });
  await answering(`http://127.0.0.1:${port}/`);
  return { pid: process_.pid, address: `http://127.0.0.1:${port}`, stop: () => process.kill(-process_.pid, "SIGTERM") };
}

const jurat = {
  name: "jurat",
  version: () => run(paths.jurat, ["--version"]).trim().split(" ").at(-1),
  make: (n) =>
    made(`jurat-${n}`, (place) => {
      const rows = [...Array(n).keys()].map((ix) => JSON.stringify({ id: id(ix), question: `Question ${ix} about a topic`, answer: `answer ${(ix * 7919) % 1000}` }));
      writeFileSync(join(place, "rows.jsonl"), `${rows.join("\n")}\n`);
      writeFileSync(join(place, "suite.yaml"), 'suite: peers\nrecords: rows.jsonl\ntasks:\n  - { id: right, field_path: answer, operator: not_contains, expected_value: "7" }\n');
      run(paths.jurat, ["run", "suite.yaml"], { cwd: place, alsoGood: 1 });
    }),
  async serve(place) {
    const viewer = await Viewer.start(paths.jurat, place, ["latest"]);
    return { pid: viewer.process.pid, address: viewer.url.replace("?", "/cases?"), stop: () => viewer.stop() };
  },
  path: "",
  row: (page, ix) => page.getByText(id(ix), { exact: true }),
  opened: (page) => page.getByText("Evidence").first(),
};

const inspect = {
  name: "Inspect View",
  version: () => run(join(given("inspect"), "bin/inspect"), ["--version"]).trim(),
  make: (n) => made(`inspect-${n}`, (place) => run(join(given("inspect"), "bin/python"), [join(here, "peers/inspect_log.py"), n, join(place, "logs")])),
  async serve(place) {
    const port = await freePort();
    return served(join(given("inspect"), "bin/inspect"), ["view", "start", "--log-dir", join(place, "logs"), "--host", "127.0.0.1", "--port", port], port, {});
  },
  row: (page, ix) => page.getByText(id(ix), { exact: true }),
  opened: (page) => page.getByText("assistant", { exact: true }).first(),
};

/** Nothing of it asks another host. */
const QUIET = { PROMPTFOO_DISABLE_TELEMETRY: "1", PROMPTFOO_DISABLE_UPDATE: "1", PROMPTFOO_DISABLE_REMOTE_GENERATION: "1", PROMPTFOO_DISABLE_SHARING: "1", CI: "1" };

const promptfoo = {
  name: "promptfoo",
  program: () => join(given("promptfoo"), "node_modules/.bin/promptfoo"),
  environment: (place) => ({ ...process.env, ...QUIET, PROMPTFOO_CONFIG_DIR: join(place, "home") }),
  version: () => run(promptfoo.program(), ["--version"], { env: { ...process.env, ...QUIET } }).trim().split("\n").at(-1),
  make: (n) =>
    made(`promptfoo-${n}`, (place) => {
      // An evaluation takes some milliseconds a test, so its results are repeated.
      const tests = [...Array(Math.min(n, 1000)).keys()].map((ix) => ({ vars: { id: id(ix), question: `Question ${ix} about a topic` }, assert: [{ type: "not-contains", value: "7" }] }));
      writeFileSync(join(place, "tests.json"), JSON.stringify(tests));
      writeFileSync(join(place, "config.yaml"), "description: peers\nproviders: [echo]\nprompts: ['{{id}}: {{question}}']\ntests: file://tests.json\n");
      const words = ["eval", "-c", "config.yaml", "--no-progress-bar", "--no-table", "--no-cache", "-j", "20"];
      run(promptfoo.program(), words, { cwd: place, env: promptfoo.environment(place), alsoGood: 100 });
      run(join(given("inspect"), "bin/python"), [join(here, "peers/promptfoo_log.py"), n, join(place, "home/promptfoo.db")]);
    }),
  async serve(place) {
    const port = await freePort();
    const server = await served(promptfoo.program(), ["view", "--no", "--port", port], port, { cwd: place, env: promptfoo.environment(place) });
    return { ...server, address: `${server.address}/eval` };
  },
  row: (page, ix) => page.getByText(id(ix), { exact: true }),
  async open(page) {
    const details = page.getByRole("button", { name: /view output and test details/i }).first();
    await details.click({ force: true });
  },
  opened: (page) => page.getByRole("dialog").first(),
};

const bench = await Bench.start(paths, {});

/** One round with a log: the times and the memory; throws when something is not shown in time. */
async function measured(product, place) {
  const start = performance.now();
  const server = await product.serve(place);
  const context = await bench.browser.newContext({ viewport: { width: 1280, height: 900 } });
  try {
    context.setDefaultTimeout(MOST_MS);
    const page = await context.newPage();
    await page.goto(server.address);
    await product.row(page, 0).first().waitFor();
    const first = performance.now() - start;
    const clicked = performance.now();
    await (product.open ? product.open(page) : product.row(page, 3).first().click());
    await product.opened(page).waitFor();
    return { first, opened: performance.now() - clicked, memory: memory(server.pid) };
  } finally {
    await context.close();
    await server.stop();
  }
}

const median = (all, of) => all.map(of).sort((one, other) => one - other)[Math.floor(all.length / 2)];
const lines = [];
for (const product of [jurat, inspect, promptfoo]) {
  const version = product.version();
  for (const n of sizes) {
    const name = `${product.name} ${version}, ${n.toLocaleString("en")} cases`;
    try {
      const place = product.make(n);
      const rounds = [];
      for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measured(product, place));
      lines.push([product.name, version, n.toLocaleString("en"), `${Math.round(median(rounds, (it) => it.first))} ms`, `${Math.round(median(rounds, (it) => it.opened))} ms`, `${Math.round(median(rounds, (it) => it.memory))} MB`]);
      console.error(`${name}: ${JSON.stringify(rounds)}`);
    } catch (error) {
      lines.push([product.name, version, n.toLocaleString("en"), `not opened: ${String(error.message).split("\n")[0]}`, "", ""]);
      console.error(`${name}: ${error.stack ?? error}`);
      break;
    }
  }
}
await bench.stop();
console.log("| viewer | version | cases | start to first cases | a case, by a click | memory of the server |");
console.log("|---|---|---|---|---|---|");
for (const line of lines) console.log(`| ${line.join(" | ")} |`);
console.log(`\n${conditions()}`);
