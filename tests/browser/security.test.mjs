// Who may read and write, and what other people's texts can do: nothing.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";

import { Viewer } from "./bench.mjs";
import { everyPage, text } from "./pages.mjs";

export const tests = [
  ["1 the address opens the viewer and loses its key; Ctrl-C ends with 0", opens],
  ["2 without the key there is nothing but assets", locked],
  ["38 hostile texts are texts on every page", harmless],
  ["39 other hosts and other sites get nothing", otherHosts],
  ["40 every answer has the headers; no page has inline styles or handlers", headers],
];

async function opens(visit) {
  const { folder, runs } = visit.fixtures.gallery;
  const viewer = await Viewer.start(visit.paths.jurat, folder, [runs.appliances]);
  const page = await visit.page(viewer, `/runs/${runs.appliances}`);
  assert.ok(!page.url().includes("key="), page.url());
  assert.match(await page.title(), /appliance-support/);
  assert.equal(await viewer.stop("SIGINT"), 0);
}

async function locked(visit) {
  const viewer = await visit.bench.viewer("gallery");
  const run = visit.fixtures.gallery.runs.appliances;
  for (const path of ["/", `/runs/${run}`, `/runs/${run}.json`, "/.json", "/compare", "/events", "/nonsense", "/?key=", "/?key=0123456789abcdef0123456789abcdef"]) {
    const answer = await fetch(viewer.origin + path, { redirect: "manual" });
    assert.equal(answer.status, 401, path);
    const body = await answer.text();
    assert.ok(!body.includes(run.slice(-4)) && !body.includes("appliance"), `${path} names a run`);
    assert.match(body, /jurat view/);
  }
  const home = await (await viewer.fetch("/")).text();
  const asset = home.match(/\/assets\/[^"]+\.css/)[0];
  assert.equal((await fetch(viewer.origin + asset)).status, 200);
}

async function harmless(visit) {
  const viewer = await visit.bench.viewer("hostile");
  const page = await visit.page(viewer, "/");
  for (const path of await everyPage(viewer, 400)) {
    // JSON has the texts as they are, controls of direction included; a browser shows it as plain text.
    const isData = !(await viewer.fetch(path)).headers.get("content-type").startsWith("text/html");
    await page.goto(viewer.origin + path, { waitUntil: "load" });
    const found = await page.evaluate(() => ({
      foreign: [...document.querySelectorAll("img, iframe, object, embed, base, style, svg image, svg foreignObject")].map((it) => it.outerHTML.slice(0, 200)),
      scripts: [...document.scripts].filter((it) => !it.src.startsWith(`${location.origin}/assets/`)).map((it) => it.outerHTML.slice(0, 200)),
      links: [...document.querySelectorAll("a[href]")].map((it) => new URL(it.getAttribute("href"), location.href).href).filter((it) => !it.startsWith(location.origin)),
      hidden: getComputedStyle(document.body).display,
      bidi: /[\u202A-\u202E\u2066-\u2069\u0000-\u0008\u001B]/.test(document.body.innerText),
    }));
    assert.deepEqual(found, { foreign: [], scripts: [], links: [], hidden: found.hidden, bidi: isData && found.bidi }, path.slice(0, 200));
    assert.notEqual(found.hidden, "none", path.slice(0, 200));
  }
  await page.goto(viewer.origin + "/");
  assert.ok((await text(page, "main")).includes("<img src=x onerror=alert(1)> suite"));
}

/** A request as other programs make it, with any `Host`. */
function request(viewer, { host, path = "/", method = "GET", headers = {}, body = "" }) {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port: viewer.port, path, method, headers: { host, authorization: `Bearer ${viewer.key}`, ...headers } };
    const asked = http.request(options, (answer) => {
      let text = "";
      answer.on("data", (it) => (text += it));
      answer.on("end", () => resolve({ status: answer.statusCode, text }));
    });
    asked.on("error", reject);
    asked.end(body);
  });
}

async function otherHosts(visit) {
  const viewer = await visit.bench.viewer("gallery");
  const own = `127.0.0.1:${viewer.port}`;
  for (const host of ["evil.example", `127.0.0.1.evil.example:${viewer.port}`, `127.0.0.1:${Number(viewer.port) + 1}`, `evil.example:${viewer.port}`]) {
    const { status, text } = await request(viewer, { host });
    assert.equal(status, 421, host);
    assert.ok(!text.includes("appliance"), host);
  }
  assert.equal((await request(viewer, { host: own })).status, 200);
  const json = { "content-type": "application/json", "x-jurat": "1" };
  const sites = [{ "sec-fetch-site": "cross-site" }, { origin: "http://evil.example" }, { "sec-fetch-site": "same-site" }, {}];
  for (const site of sites) {
    const { status } = await request(viewer, { host: own, method: "POST", path: "/labels", headers: { ...json, ...site }, body: "{}" });
    assert.equal(status, 403, JSON.stringify(site));
  }
  assert.ok(!existsSync(join(visit.fixtures.gallery.folder, "labels.jsonl")), "nothing was written");
  const plain = { "content-type": "text/plain", "x-jurat": "1", "sec-fetch-site": "same-origin" };
  assert.equal((await request(viewer, { host: own, method: "POST", path: "/labels", headers: plain, body: "{}" })).status, 403);
}

const HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

async function headers(visit) {
  const viewer = await visit.bench.viewer("gallery");
  const paths = await everyPage(viewer, 120);
  const page = await visit.page(viewer, "/");
  for (const path of [...paths, "/nonsense", "/?from=x"]) {
    const answer = await viewer.fetch(path);
    for (const [name, value] of Object.entries(HEADERS)) assert.equal(answer.headers.get(name), value, `${name} of ${path}`);
    const policy = answer.headers.get("content-security-policy");
    assert.match(policy, /^default-src 'none'/, path);
    assert.ok(!policy.includes("unsafe"), path);
    assert.equal(answer.headers.get("cache-control"), "no-store", path);
    const body = await answer.text();
    if (!answer.headers.get("content-type").startsWith("text/html")) continue;
    const inline = await page.evaluate((html) => {
      const parsed = new DOMParser().parseFromString(html, "text/html");
      const all = [...parsed.querySelectorAll("*")];
      return all.flatMap((it) => [...it.attributes].filter((at) => at.name === "style" || at.name.startsWith("on")).map((at) => at.name));
    }, body);
    assert.deepEqual(inline, [], path);
  }
}
