// Labels: by key, blind in a queue, by several viewers at once, and tied to the answer that was labelled.

import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { Viewer } from "./bench.mjs";
import { text } from "./pages.mjs";

export const tests = [
  ["34 a key writes one line, which is shown, counted by queries and taken back", byKey],
  ["35 a blind queue hides the judge until a label is saved, in an order of its seed", blindQueue],
  ["35 the task, the size and the order of a queue are chosen, and cases skipped and seen again, by keys", controls],
  ["36 two viewers that write at once write whole lines", twoViewers],
  ["37 a label is shown for an equal answer, and does not count for another one", laterRun],
  ["several annotators are listed, notes are stored, and a viewer that only reads has no form", annotators],
  ["calibrate reads what the viewer wrote", calibrated],
];

const ANSWERS = "labels";

function file(visit) {
  return join(visit.fixtures[ANSWERS].folder, "labels.jsonl");
}

function lines(visit) {
  return existsSync(file(visit)) ? readFileSync(file(visit), "utf8").split("\n").filter((it) => it !== "").map((it) => JSON.parse(it)) : [];
}

/** Waits until something is so; the machine may be busy. */
async function until(holds, what) {
  for (let ix = 0; ix < 200; ix += 1) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.fail(`never: ${what}`);
}

async function byKey(visit) {
  rmSync(file(visit), { force: true });
  const { runs } = visit.fixtures[ANSWERS];
  const viewer = await visit.bench.viewer(ANSWERS, ["--as", "ada"]);
  const page = await visit.page(viewer, `/runs/${runs.base}/cases/q-03?task=tone`);
  await page.keyboard.press("2");
  await until(() => lines(visit).length === 1, "a label is written");
  const [label] = lines(visit);
  assert.match(label.evidence, /^[0-9a-f]{32}$/);
  assert.deepEqual([label.annotator, label.task, label.case, label.state, label.label], ["ada", "tone", "q-03", "given", "fail"]);
  assert.deepEqual(label.judge, { verdict: "passed", label: "kind" });
  await page.locator("ul.said li", { hasText: "ada" }).waitFor();
  await page.reload();
  const said = await text(page, "section.labels");
  assert.ok(said.includes("ada (you): fail") && said.includes("the judge says otherwise"), said);
  const found = async (q) => (await viewer.json(`/runs/${runs.base}/cases.json?q=${encodeURIComponent(q)}`)).cases.map((it) => it.id);
  assert.deepEqual(await found("human:fail"), ["q-03"]);
  assert.deepEqual(await found("human:disagrees"), ["q-03"]);
  assert.equal((await found("human:none")).length, 19);
  await page.keyboard.press("0");
  await until(() => lines(visit).length === 2, "the label is taken back");
  assert.equal(lines(visit)[1].state, "removed");
  assert.deepEqual(await found("human:fail"), []);
}

async function blindQueue(visit) {
  rmSync(file(visit), { force: true });
  const { runs } = visit.fixtures[ANSWERS];
  const viewer = await visit.bench.viewer(ANSWERS, ["--as", "ada"]);
  const queue = (seed) => `/runs/${runs.base}/label?task=tone&n=4&seed=${seed}&blind=1`;
  const order = async (seed) => (await viewer.json(queue(seed).replace("/label?", "/label.json?"))).order.map((it) => it.case);
  assert.deepEqual(await order(3), await order(3));
  assert.notDeepEqual(await order(3), await order(4));
  const page = await visit.page(viewer, queue(3));
  for (let n = 1; n <= 4; n += 1) {
    const before = await text(page, "section.queued");
    assert.ok(!/friendly|brushes|passed|failed|The judge/.test(before), before);
    await page.keyboard.press("1");
    await until(() => lines(visit).length === n, `label ${n}`);
    await page.locator("p.note", { hasText: "you said" }).waitFor();
    assert.match(await text(page, "p.note"), /you said pass, the judge said (passed|failed)/);
    await page.waitForFunction((n) => document.querySelector(".about strong").textContent === String(n), n);
  }
  assert.ok(lines(visit).every((it) => it.blind === true && it.stratum !== null && it.weight >= 1));
  assert.match(await text(page, "main"), /You and the judge agree on .* of 4/);
}

async function controls(visit) {
  rmSync(file(visit), { force: true });
  const { runs } = visit.fixtures[ANSWERS];
  const viewer = await visit.bench.viewer(ANSWERS, ["--as", "ada"]);
  const page = await visit.page(viewer, `/runs/${runs.base}/label?task=tone&n=9&seed=3`);
  await page.keyboard.press("q");
  assert.equal(await page.evaluate(() => document.activeElement.name), "task");
  await page.keyboard.press("Tab");
  await page.keyboard.type("3");
  await page.keyboard.press("Enter");
  await page.waitForURL(/n=3/);
  assert.match(page.url(), /task=tone.*seed=3/);
  assert.match(await text(page, ".about"), /0 of 3 labelled/);
  const shown = () => text(page, "section.queued h2");
  const { order } = await viewer.json(`/runs/${runs.base}/label.json?task=tone&n=3&seed=3`);
  assert.equal(order.length, 3);
  const [first, second] = [await shown(), /^2\. /];
  await page.keyboard.press("s");
  await page.waitForFunction((it) => document.querySelector("section.queued h2").innerText !== it, first);
  assert.match(await shown(), second);
  await page.keyboard.press("b");
  await page.waitForFunction((it) => document.querySelector("section.queued h2").innerText === it, first);
  await page.keyboard.press("s");
  await page.waitForFunction((it) => document.querySelector("section.queued h2").innerText !== it, first);
  // After the second and the third case, the one that was skipped is left.
  for (const [n, next] of [[1, /^3\. /], [2, /^1\. /]]) {
    await page.keyboard.press("1");
    await until(() => lines(visit).length === n, `label ${n}`);
    await page.waitForFunction((n) => document.querySelector(".about strong").textContent === String(n), n);
    assert.match(await shown(), next);
  }
  assert.equal(await page.locator("section.queued a[rel=next]").count(), 0, "there is no other to skip to");
  await page.locator("form.queue-of select").selectOption("right");
  await page.locator("form.queue-of button").click();
  await page.waitForURL(/task=right/);
  rmSync(file(visit), { force: true });
}

async function twoViewers(visit) {
  rmSync(file(visit), { force: true });
  const { folder, runs } = visit.fixtures[ANSWERS];
  const viewers = await Promise.all(["bob", "eve"].map((name) => Viewer.start(visit.paths.jurat, folder, ["--as", name])));
  const send = (viewer, ix) =>
    viewer.fetch("/labels", {
      method: "POST",
      headers: { "content-type": "application/json", "x-jurat": "1", origin: viewer.origin },
      body: JSON.stringify({ run: runs.base, case: `q-${String((ix % 20) + 1).padStart(2, "0")}`, task: "tone", label: ix % 2 ? "pass" : "fail", note: "x".repeat(200) }),
    });
  const numbers = [...Array(100).keys()];
  const answers = await Promise.all(viewers.flatMap((viewer) => numbers.map((ix) => send(viewer, ix))));
  assert.deepEqual([...new Set(answers.map((it) => it.status))], [200]);
  assert.equal(lines(visit).length, 200);
  for (const name of ["bob", "eve"]) assert.equal(lines(visit).filter((it) => it.annotator === name).length, 100);
  for (const viewer of viewers) await viewer.stop();
}

async function laterRun(visit) {
  rmSync(file(visit), { force: true });
  const { runs } = visit.fixtures[ANSWERS];
  const viewer = await visit.bench.viewer(ANSWERS, ["--as", "ada"]);
  // In `new` the subject answers q-05 otherwise, and q-01 as before.
  const page = await visit.page(viewer, `/runs/${runs.base}/cases/q-05?task=tone`);
  await page.keyboard.press("1");
  await until(() => lines(visit).length === 1, "the first label");
  await page.goto(`${viewer.origin}/runs/${runs.base}/cases/q-01?task=tone`);
  await page.keyboard.press("1");
  await until(() => lines(visit).length === 2, "the second label");
  await page.goto(`${viewer.origin}/runs/${runs.new}/cases/q-01?task=tone`);
  assert.match(await text(page, "ul.said"), /ada \(you\): pass/);
  await page.goto(`${viewer.origin}/runs/${runs.new}/cases/q-05?task=tone`);
  assert.match(await text(page, "ul.said"), /of another answer; does not count/);
  const { cases } = await viewer.json(`/runs/${runs.new}/cases.json?q=human:pass`);
  assert.deepEqual(cases.map((it) => it.id), ["q-01"]);
}

async function annotators(visit) {
  rmSync(file(visit), { force: true });
  const { runs } = visit.fixtures[ANSWERS];
  const path = `/runs/${runs.base}/cases/q-02?task=tone`;
  for (const name of ["ada", "bob"]) {
    const page = await visit.page(await visit.bench.viewer(ANSWERS, ["--as", name]), path);
    await page.locator("input[name=note]").fill(`a note of ${name}`);
    await page.getByRole("button", { name: "unsure" }).click();
    await page.locator("ul.said li", { hasText: `${name} (you): unsure` }).waitFor();
  }
  const page = await visit.page(await visit.bench.viewer(ANSWERS, ["--read-only"]), path);
  const said = await text(page, "section.labels");
  assert.ok(said.includes("a note of ada") && said.includes("a note of bob"), said);
  assert.equal(await page.locator("section.labels button").count(), 0);
}

async function calibrated(visit) {
  rmSync(file(visit), { force: true });
  const { runs } = visit.fixtures[ANSWERS];
  const project = visit.fixtures[ANSWERS];
  const viewer = await visit.bench.viewer(ANSWERS, ["--as", "ada"]);
  for (let ix = 1; ix <= 12; ix += 1) {
    const body = JSON.stringify({ run: runs.base, case: `q-${String(ix).padStart(2, "0")}`, task: "tone", label: ix === 9 ? "fail" : "pass" });
    const answer = await viewer.fetch("/labels", { method: "POST", headers: { "content-type": "application/json", "x-jurat": "1", origin: viewer.origin }, body });
    assert.equal(answer.status, 200, await answer.text());
  }
  const { labels } = project.json("calibrate", runs.base, "--task", "tone", "--labels", "labels.jsonl", "--json");
  assert.equal(labels.n, 12, JSON.stringify(labels));
}
