// Pages for everybody: without script, by keyboard, for screen readers, in light and dark, on narrow screens.

import assert from "node:assert/strict";

import { everyPage, text } from "./pages.mjs";

export const tests = [
  ["3 runs are listed with the numbers of show --list, the newest first", listed],
  ["4 two selected runs lead to their comparison, the older as BASE", selected],
  ["runs have their conclusion, their subject, and the change since the run before them", changes],
  ["the graph has the counts of each task, and each leads to its cases", graphs],
  ["an arrow between tasks leads to the cases in which it was followed", arrows],
  ["the run that gates compare with is marked", baseMark],
  ["overviews have stacked bars, scores, the change since the last run, and the graph", overviewParts],
  ["5 overviews have the numbers of show --json", overview],
  ["17 keys move, open and go up, and none works while typing", keys],
  ["41 axe finds nothing, in light, dark and forced colours, and nothing scrolls sideways at 320 px", accessible],
  ["42 without script every link leads somewhere", withoutScript],
  ["43 every page has its data", twins],
  ["50 a damaged file is listed with its reason", damaged],
];

async function listed(visit) {
  const project = visit.fixtures.gallery;
  const page = await visit.page(await visit.bench.viewer("gallery"));
  const rows = await page.locator("tr[data-row]").evaluateAll((all) => all.map((it) => it.innerText));
  const { runs } = project.json("show", "--list", "--json");
  assert.equal(rows.length, runs.length);
  // A file that cannot be read has no page to open.
  const readable = runs.filter((it) => it.cases !== undefined && it.cases !== null);
  for (const run of readable) {
    const row = rows.find((it) => it.includes(run.run_id.split("_").at(-1)));
    assert.ok(row, `${run.run_id} is listed`);
    assert.ok(row.includes(run.suite) && row.includes(String(run.cases)), `${JSON.stringify(run)} ${row}`);
  }
  const order = await page.locator("tr[data-row] a.open").evaluateAll((all) => all.map((it) => it.title));
  assert.deepEqual([...order].sort(), readable.map((it) => it.run_id).sort());
  // Within a second the order of the ids is not that of the runs.
  const seconds = order.map((it) => it.split("_")[0]);
  assert.deepEqual(seconds, [...seconds].sort().reverse());
}

async function selected(visit) {
  const { runs } = visit.fixtures.pair;
  const page = await visit.page(await visit.bench.viewer("pair"));
  for (const id of [runs.new, runs.base]) await page.locator(`input[type=checkbox][value="${id}"]`).check();
  await page.getByRole("button", { name: "Compare" }).click();
  await page.waitForURL(/\/compare\?/);
  const url = new URL(page.url());
  assert.equal(url.searchParams.get("base"), runs.base);
  assert.deepEqual(url.searchParams.getAll("new"), [runs.new]);
}

async function changes(visit) {
  const { runs } = visit.fixtures.judged;
  const viewer = await visit.bench.viewer("judged");
  const page = await visit.page(viewer);
  const row = (id) => page.locator(`tr[data-run="${id}"]`);
  assert.match(await row(runs.second).innerText(), /failed/);
  const change = row(runs.second).locator("a", { hasText: "±0.0" });
  assert.equal(await row(runs.first).locator("a[title^=Compare]").count(), 0);
  assert.equal(await page.locator("svg.trend").count(), 1);
  await change.click();
  await page.waitForURL((it) => it.pathname === "/compare" && it.searchParams.get("base") === runs.first && it.searchParams.get("new") === runs.second);
  const gallery = await visit.page(await visit.bench.viewer("gallery"));
  assert.match(await gallery.locator("tr[data-row]", { hasText: "second-thoughts" }).innerText(), /gemini-2\.5-flash-lite and 1 more/);
}

async function graphs(visit) {
  const viewer = await visit.bench.viewer("gallery");
  const run = visit.fixtures.gallery.runs.appliances;
  const page = await visit.page(viewer, `/runs/${run}/graph`);
  const { results } = await viewer.json(`/runs/${run}.json`);
  for (const { task, counts } of results.tasks) {
    const box = page.locator("svg.drawing a").filter({ has: page.getByText(task, { exact: true }) });
    const words = await box.textContent();
    for (const [glyph, n] of [["✓", counts.passed], ["✗", counts.failed], ["–", counts.skipped]]) assert.equal(words.includes(`${glyph} ${n}`), n > 0, `${task}: ${words}`);
  }
  const box = page.locator("svg.drawing a").filter({ has: page.getByText("kitchen_expert", { exact: true }) });
  await box.click();
  await page.waitForURL(/cases\?q=task/);
  assert.match(await text(page, "p.count"), /^1 of/);
}

async function arrows(visit) {
  const viewer = await visit.bench.viewer("scored");
  const run = visit.fixtures.scored.runs.only;
  const page = await visit.page(viewer, `/runs/${run}/graph`);
  const arrow = page.getByRole("link", { name: /^only_english after english: 8 cases$/ });
  await arrow.focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/cases\?q=task/);
  assert.match(await text(page, "p.count"), /^8 of 24/);
}

async function baseMark(visit) {
  const { runs } = visit.fixtures.based;
  const page = await visit.page(await visit.bench.viewer("based"));
  const marks = (id) => page.locator(`tr[data-run="${id}"] .tag`, { hasText: "base" }).count();
  assert.deepEqual([await marks(runs.base), await marks(runs.new)], [1, 0]);
}

async function overviewParts(visit) {
  const scored = await visit.page(await visit.bench.viewer("scored"), `/runs/${visit.fixtures.scored.runs.only}`);
  const tasks = scored.locator("section", { has: scored.locator("#tasks") });
  assert.match(await tasks.locator("svg.strip").first().getAttribute("aria-label"), /english: 8 passed, 16 failed/);
  assert.equal(await tasks.locator(".spread svg").count(), 1);
  assert.ok((await scored.locator("svg.drawing a").count()) >= 3);
  assert.equal(await scored.getByRole("link", { name: "the slowest cases" }).count(), 1);
  const judged = await visit.page(await visit.bench.viewer("judged"), `/runs/${visit.fixtures.judged.runs.second}`);
  assert.match(await text(judged, ".since"), /±0\.0[^]* since/);
}

async function overview(visit) {
  const project = visit.fixtures.gallery;
  const viewer = await visit.bench.viewer("gallery");
  for (const id of Object.values(project.runs)) {
    const { results: shown } = project.json("show", id, "--json");
    const { results: data } = await viewer.json(`/runs/${id}.json`);
    for (const member of ["suite", "case_counts", "counts", "tasks", "slices", "usage", "cost_usd", "decision"]) assert.deepEqual(data[member], shown[member], `${member} of ${id}`);
    assert.ok(shown.tasks.length > 0);
    const page = await visit.page(viewer, `/runs/${id}`);
    const main = await text(page, "main");
    for (const { task } of shown.tasks) assert.ok(main.includes(task), `${task} of ${id}`);
  }
}

async function keys(visit) {
  const viewer = await visit.bench.viewer("gallery");
  const page = await visit.page(viewer);
  const focused = () => page.evaluate(() => document.activeElement?.closest("[data-row]")?.querySelector("a.open")?.getAttribute("href") ?? null);
  await page.keyboard.press("j");
  const first = await focused();
  await page.keyboard.press("j");
  const second = await focused();
  assert.ok(first && second && first !== second, `${first} ${second}`);
  await page.keyboard.press("k");
  assert.equal(await focused(), first);
  await page.keyboard.press("o");
  await page.waitForURL((it) => it.pathname === first);
  await page.keyboard.press("u");
  await page.waitForURL((it) => it.pathname !== first || it.pathname === "/");
  await page.goto(viewer.origin);
  await page.keyboard.press("?");
  assert.ok(await page.locator("dialog[open]").isVisible());
  await page.keyboard.press("Escape");
  await keysOfCases(visit);
  await page.keyboard.press("/");
  await page.keyboard.type("jt?");
  assert.equal(await page.locator("main input[type=search]").inputValue(), "jt?");
  assert.equal(await page.locator("dialog[open]").count(), 0);
}

/** In a table: two rows down, open, to the neighbours and up; the focus is visible all the time. */
async function keysOfCases(visit) {
  const viewer = await visit.bench.viewer("pair");
  const page = await visit.page(viewer, `/runs/${visit.fixtures.pair.runs.base}/cases`);
  const at = (id) => page.waitForURL((it) => it.pathname.endsWith(`/cases/${id}`));
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  const ring = await page.evaluate(() => {
    const row = document.activeElement.closest("tr");
    return [document.activeElement, row].some((it) => getComputedStyle(it).outlineStyle !== "none");
  });
  assert.ok(ring, "the focus is visible");
  await page.keyboard.press("Enter");
  await at("q-02");
  await page.keyboard.press("]");
  await at("q-03");
  await page.keyboard.press("[");
  await at("q-02");
  await page.keyboard.press("u");
  await page.waitForURL((it) => it.pathname.endsWith("/cases"));
}

async function accessible(visit) {
  for (const project of ["gallery", "pair", "worked"]) {
    const viewer = await visit.bench.viewer(project);
    const paths = (await everyPage(viewer, 40)).filter((it) => !it.includes(".json") && !it.includes("/text"));
    const looks = [{ colorScheme: "light" }, { colorScheme: "dark" }, { colorScheme: "dark", forcedColors: "active" }];
    for (const look of looks) {
      const page = await visit.page(viewer, "/", { ...look, reducedMotion: "reduce" });
      for (const path of paths) {
        await page.goto(viewer.origin + path);
        assert.deepEqual(await visit.axe(page), [], `${path} ${JSON.stringify(look)}`);
      }
    }
    const narrow = await visit.page(viewer, "/", { viewport: { width: 320, height: 700 } });
    for (const path of paths) {
      await narrow.goto(viewer.origin + path);
      const width = await narrow.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= 320, `${path} is ${width} px wide`);
    }
  }
}

async function withoutScript(visit) {
  for (const project of ["gallery", "pair", "hostile", "empty"]) {
    const viewer = await visit.bench.viewer(project);
    for (const path of await everyPage(viewer, 150)) {
      const answer = await viewer.fetch(path);
      assert.equal(answer.status, 200, `${project} ${path.slice(0, 300)}: ${answer.status === 200 ? "" : (await answer.text()).slice(0, 2000)}`);
    }
  }
}

async function twins(visit) {
  const viewer = await visit.bench.viewer("gallery");
  const paths = (await everyPage(viewer, 120)).filter((it) => it.split("?")[0].endsWith(".json"));
  assert.ok(paths.length > 0);
  for (const path of paths) assert.equal((await viewer.json(path)).version, 1, path);
}

async function damaged(visit) {
  const page = await visit.page(await visit.bench.viewer("gallery"));
  const row = page.locator("tr[data-row]", { hasText: "damaged" });
  assert.equal(await row.count(), 1);
  assert.match(await row.innerText(), /unreadable/);
}
