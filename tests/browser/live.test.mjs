// Runs in progress: numbers change, the reader's place does not, and a writer that is killed shows as killed.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { text } from "./pages.mjs";

export const tests = [
  ["32 counters rise without reload, a typed query and its focus stay, and new cases are a link", rising],
  ["causes of errors appear while a run is in progress, without reload", causes],
  ["33 a killed writer shows as killed, and a resumed one as running at the same address", killed],
];

/** Starts a slow run, and waits until it is there. */
async function start(visit, { suite }, ...words) {
  const project = visit.fixtures.live;
  // A run that another test killed would be resumed.
  for (const file of readdirSync(join(project.folder, ".jurat/runs"))) rmSync(join(project.folder, ".jurat/runs", file));
  const before = new Set(project.files());
  const process_ = spawn(visit.paths.jurat, ["run", suite, "-j", "1", ...words], { cwd: project.folder, stdio: "ignore" });
  for (let ix = 0; ix < 300; ix += 1) {
    const made = project.files().find((it) => !before.has(it));
    if (made) return { process_, id: made.replace(/\.jurat$/, "") };
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("the run did not begin");
}

function ended(process_) {
  return process_.exitCode !== null ? Promise.resolve() : new Promise((resolve) => process_.on("exit", resolve));
}

/** How many cases the head of a page names. */
async function done(page) {
  return Number((await text(page, "#live strong")).replaceAll(",", ""));
}

async function rising(visit) {
  const { process_, id } = await start(visit, { suite: "suite.yaml" }, "--fresh");
  try {
    const viewer = await visit.bench.viewer("live");
    const page = await visit.page(viewer, `/runs/${id}`);
    await page.evaluate(() => (globalThis.isSame = true));
    const first = await done(page);
    await page.waitForFunction((first) => Number(document.querySelector("#live strong")?.textContent.replaceAll(",", "")) > first, first);
    assert.equal(await page.evaluate(() => globalThis.isSame), true, "the page was not loaded again");
    const cases = await visit.page(viewer, `/runs/${id}/cases`);
    const shown = await cases.locator("table.cases tbody tr").count();
    const box = cases.locator("main input[type=search]");
    await box.fill("verdict:pas");
    const link = cases.locator("a.new-cases");
    await link.waitFor({ state: "visible" });
    assert.match(await link.innerText(), /^\d+ new cases?$/);
    assert.equal(await box.inputValue(), "verdict:pas");
    assert.ok(await box.evaluate((it) => it === document.activeElement), "the focus stays");
    assert.equal(await cases.locator("table.cases tbody tr").count(), shown, "no row moves");
    await link.click();
    await cases.waitForFunction((shown) => document.querySelectorAll("table.cases tbody tr").length > shown, shown);
  } finally {
    process_.kill("SIGKILL");
    await ended(process_);
  }
}

async function causes(visit) {
  const { process_, id } = await start(visit, { suite: "faulty.yaml" }, "--fresh", "--keep-going");
  try {
    const page = await visit.page(await visit.bench.viewer("live"), `/runs/${id}`);
    await page.evaluate(() => (globalThis.isSame = true));
    const first = page.locator('[data-part="first"]');
    assert.ok(!(await first.innerText()).includes("no judge for this one"), "nothing failed yet");
    await first.getByText("no judge for this one").first().waitFor();
    assert.equal(await page.evaluate(() => globalThis.isSame), true, "the page was not loaded again");
  } finally {
    process_.kill("SIGKILL");
    await ended(process_);
  }
}

async function killed(visit) {
  const { process_, id } = await start(visit, { suite: "suite.yaml" }, "--fresh");
  const viewer = await visit.bench.viewer("live");
  const page = await visit.page(viewer, `/runs/${id}`);
  await page.locator("#live", { hasText: "running" }).waitFor();
  process_.kill("SIGKILL");
  await ended(process_);
  await page.locator("#live", { hasText: "killed" }).waitFor({ timeout: 20_000 });
  const again = spawn(visit.paths.jurat, ["run", "suite.yaml", "-j", "1", "--fresh"], { cwd: visit.fixtures.live.folder, stdio: "ignore" });
  try {
    await page.locator("#live", { hasText: "running" }).waitFor();
    assert.equal(new URL(page.url()).pathname, `/runs/${id}`);
  } finally {
    again.kill("SIGKILL");
    await ended(again);
  }
}
