// A run in one file: opened from disk, with the network off.

import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

import { text } from "./pages.mjs";

export const tests = [
  ["46 a file opens from disk, and its numbers, query, order, details and comparison are those of the run", opens],
  ["46 it reads without script", withoutScript],
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
  const open = page.locator("details[open] > summary").first();
  await open.waitFor();
  assert.equal(await open.innerText(), "q-15");
  assert.ok((await page.locator("details[open]").first().innerText()).includes("It brushes the reader off."));

  await page.goto(page.url().replace(/#.*/, "#cases?sort=id&dir=desc"));
  await page.waitForFunction(() => document.querySelector("#table th[aria-sort=descending]"));
  assert.deepEqual(await ids(), [...(await ids())].sort().reverse());
  await page.goto(page.url().replace(/#.*/, "#cases?q=task%3Anone%3Dfailed"));
  assert.match(await text(page, "[role=alert]"), /there is no task `none`; there are `right`, `tone`/);
}

async function withoutScript(visit) {
  const project = visit.fixtures.pair;
  const page = await visit.file(exported(project, "plain", project.runs.new), { javaScriptEnabled: false });
  const main = await text(page, "main");
  assert.ok(main.includes("tone") && main.includes("q-15") && main.includes("Details of"), main);
  await page.locator("summary", { hasText: "q-15" }).click();
  assert.ok((await text(page, "details[open]")).includes("It brushes the reader off."));
}

async function limited(visit) {
  const project = visit.fixtures.pair;
  const file = exported(project, "few", project.runs.new, "--cases", "2");
  assert.match(readFileSync(file, "utf8"), /Details of 2 of 4 cases that did not pass/);
  const small = exported(project, "small", project.runs.new, "--max-size", "60kB");
  assert.ok(statSync(small).size <= 60_000, String(statSync(small).size));
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
