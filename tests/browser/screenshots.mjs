// Pictures of the viewer for the documentation, from the examples of the repository. `cargo xtask browser --screenshots` starts this program:
//
//     node screenshots.mjs --jurat PROGRAM --modules FOLDER --work FOLDER --to FOLDER

import { mkdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { Bench, Visit } from "./bench.mjs";
import { makePictured } from "./fixtures.mjs";

const here = dirname(fileURLToPath(import.meta.url));

function given(name) {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? null : process.argv[at + 1];
}

const paths = { jurat: given("jurat"), modules: given("modules"), work: given("work"), root: join(here, "../..") };
const to = given("to") ?? join(paths.root, "docs/images");

/** The largest picture: pages of documentation should load quickly. */
const MOST_BYTES = 150 * 1024;

rmSync(join(paths.work, "pictured"), { recursive: true, force: true });
mkdirSync(to, { recursive: true });
const fixtures = await makePictured(paths);
const bench = await Bench.start(paths, fixtures);
const visit = new Visit(bench);
const { appliances } = fixtures.gallery.runs;
const { base, new: newer } = fixtures.pair.runs;
const pictures = [
  ["overview", "gallery", `/runs/${appliances}`, 900],
  ["cases", "gallery", `/runs/${appliances}/cases`, 620],
  ["case", "gallery", `/runs/${appliances}/cases/oven-smoke?task=kitchen_expert`, 820],
  ["compare", "pair", `/compare?base=${base}&new=${newer}`, 900],
];
let isLarge = false;
for (const [name, project, path, height] of pictures) {
  const page = await visit.page(await bench.viewer(project), path, { viewport: { width: 1180, height }, colorScheme: "light", reducedMotion: "reduce" });
  // Times differ from run to run; what they say does not matter here.
  await page.evaluate(() => document.querySelectorAll("time").forEach((it) => (it.textContent = "16 Nov 2026, 00:51:00")));
  const file = join(to, `view-${name}.png`);
  await page.screenshot({ path: file });
  const { size } = statSync(file);
  console.log(`${file} ${Math.round(size / 1024)} kB`);
  isLarge ||= size > MOST_BYTES;
}
await visit.close();
await bench.stop();
if (visit.faults.length > 0) console.error(visit.faults.join("\n"));
process.exit(isLarge || visit.faults.length > 0 ? 1 : 0);
