// Tests of the viewer in a real browser. `cargo xtask browser` installs what they need and starts this program:
//
//     node main.mjs --jurat PROGRAM --modules FOLDER --work FOLDER [--only TEXT] [--force]
//
// A file `NAME.test.mjs` has tests of one kind; each is numbered after the check of the viewer's specification that it is for. Fixtures are made by the
// program under test. When nothing that the tests depend on has changed since all of them passed, they are not run again; a hash of all of it proves that.

import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync, rmSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { Bench } from "./bench.mjs";
import { makeFixtures, OVER_ROWS } from "./fixtures.mjs";

const here = dirname(fileURLToPath(import.meta.url));

function given(name) {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? null : process.argv[at + 1];
}

const paths = { jurat: given("jurat"), modules: given("modules"), work: given("work"), root: join(here, "../..") };
const only = given("only");

/** Everything that the result depends on, as one hash. */
function fingerprint() {
  const hash = createHash("sha256");
  const files = [paths.jurat, ...filesOf(here), ...["examples", OVER_ROWS].flatMap((it) => filesOf(join(paths.root, it)))];
  for (const file of files) hash.update(file.replace(paths.root, "")).update(createHash("sha256").update(readFileSync(file)).digest());
  hash.update(execFileSync("chromium", ["--version"]));
  return hash.digest("hex");
}

function filesOf(folder) {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return entries.filter((it) => it.isFile()).map((it) => join(it.parentPath ?? it.path, it.name)).sort();
}

const stamp = join(paths.work, "passed");
const known = fingerprint();

function passedBefore() {
  try {
    const [hash, n] = readFileSync(stamp, "utf8").split(" ");
    return hash === known ? Number(n) : null;
  } catch {
    return null;
  }
}

const before = only || process.argv.includes("--force") ? null : passedBefore();
if (before !== null) {
  console.log("the program, the tests and the browser are those that passed before");
  console.log(`${before} passed, 0 failed`);
  process.exit(0);
}

rmSync(join(paths.work, "fixtures"), { recursive: true, force: true });
mkdirSync(join(paths.work, "fixtures"), { recursive: true });
const started = Date.now();
const fixtures = await makeFixtures(paths);
console.log(`fixtures made in ${((Date.now() - started) / 1000).toFixed(1)} s`);

const bench = await Bench.start(paths, fixtures);
let passed = 0;
const failed = [];
for (const file of readdirSync(here).filter((it) => it.endsWith(".test.mjs")).sort()) {
  const { tests } = await import(join(here, file));
  for (const [name, test] of tests) {
    const title = `${file.replace(".test.mjs", "")}: ${name}`;
    if (only && !title.includes(only)) continue;
    const start = Date.now();
    const reason = await bench.run(test);
    const took = `${((Date.now() - start) / 1000).toFixed(1)} s`;
    if (reason === null) {
      passed += 1;
      console.log(`ok    ${title} (${took})`);
    } else {
      failed.push(title);
      console.log(`FAIL  ${title} (${took})\n${reason.replace(/^/gm, "      ")}`);
    }
  }
}
await bench.stop();
if (failed.length === 0 && !only) writeFileSync(stamp, `${known} ${passed}`);
console.log(`${passed} passed, ${failed.length} failed`);
process.exit(failed.length === 0 && passed > 0 ? 0 : 1);
