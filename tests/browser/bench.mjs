// What tests work with: one browser, a viewer for each project, and pages that report whatever goes wrong in them.

import { execFileSync, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

/** How long anything may take before it has failed; the machine may be busy. */
const PATIENCE = 30_000;

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
];

export class Bench {
  static async start(paths, fixtures) {
    const { chromium } = createRequire(join(paths.modules, "index.js"))("playwright-core");
    const executablePath = execFileSync("sh", ["-c", "command -v chromium"], { encoding: "utf8" }).trim();
    const browser = await chromium.launch({ executablePath, headless: true, args: FLAGS });
    return new Bench(paths, fixtures, browser);
  }

  constructor(paths, fixtures, browser) {
    Object.assign(this, { paths, fixtures, browser, viewers: new Map(), axe: null });
  }

  /** Runs a test in a browser context of its own; returns why it failed, or null. */
  async run(test) {
    const visit = new Visit(this);
    try {
      await test(visit);
      assert.deepEqual(visit.faults, [], "nothing goes wrong in a page");
      return null;
    } catch (error) {
      const faults = visit.faults.length ? `\nin pages: ${visit.faults.join("\n")}` : "";
      return `${error.stack ?? error}${faults}`;
    } finally {
      await visit.close();
    }
  }

  /** The viewer of a project, started when it is first needed. */
  async viewer(project, extra = []) {
    const key = [project, ...extra].join("\0");
    if (!this.viewers.has(key)) this.viewers.set(key, await Viewer.start(this.paths.jurat, this.fixtures[project].folder, extra));
    return this.viewers.get(key);
  }

  axeSource() {
    this.axe ??= readFileSync(join(this.paths.modules, "node_modules/axe-core/axe.min.js"), "utf8");
    return this.axe;
  }

  async stop() {
    for (const viewer of this.viewers.values()) await viewer.stop();
    await this.browser.close();
  }
}

/** A running `jurat view`. */
export class Viewer {
  static async start(jurat, folder, extra = []) {
    const process_ = spawn(jurat, ["view", "--port", "0", "--json", ...extra], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    process_.stderr.on("data", (it) => (said += it));
    const line = await new Promise((resolve, reject) => {
      let text = "";
      process_.stdout.on("data", (it) => {
        text += it;
        if (text.includes("\n")) resolve(text);
      });
      process_.on("exit", (code) => reject(new Error(`jurat view ended with ${code}: ${said}`)));
    });
    return new Viewer(process_, new URL(JSON.parse(line).url));
  }

  constructor(process_, url) {
    this.process = process_;
    this.origin = url.origin;
    this.port = url.port;
    this.key = url.searchParams.get("key");
    this.url = url.href;
  }

  /** An answer without a browser, with the key. */
  fetch(path, options = {}) {
    const headers = { authorization: `Bearer ${this.key}`, ...options.headers };
    return fetch(this.origin + path, { redirect: "manual", ...options, headers });
  }

  async json(path) {
    const answer = await this.fetch(path);
    assert.equal(answer.status, 200, `${path}: ${await answer.clone().text()}`);
    return answer.json();
  }

  /** Ends it as Ctrl-C does; returns its exit code. */
  stop(signal = "SIGINT") {
    if (this.process.exitCode !== null) return this.process.exitCode;
    return new Promise((resolve) => {
      this.process.on("exit", (code) => resolve(code));
      this.process.kill(signal);
    });
  }
}

/** What one test sees: pages whose faults are noted. */
export class Visit {
  constructor(bench) {
    Object.assign(this, { bench, faults: [], contexts: [] });
  }

  get fixtures() {
    return this.bench.fixtures;
  }

  get paths() {
    return this.bench.paths;
  }

  /** A page of a viewer, with its cookie. Options are those of browser contexts. */
  async page(viewer, path = "/", options = {}) {
    const context = await this.bench.browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    this.contexts.push(context);
    context.setDefaultTimeout(PATIENCE);
    context.on("page", (page) => this.watch(page, viewer));
    const page = await context.newPage();
    const mark = path.includes("?") ? "&" : "?";
    await page.goto(`${viewer.origin}${path}${mark}key=${viewer.key}`);
    return page;
  }

  /** A page of a file, with the network off. */
  async file(path, options = {}) {
    const context = await this.bench.browser.newContext({ viewport: { width: 1280, height: 900 }, offline: true, ...options });
    this.contexts.push(context);
    context.setDefaultTimeout(PATIENCE);
    const page = await context.newPage();
    this.watch(page, null);
    await page.goto(`file://${path}`);
    return page;
  }

  /** Notes errors, violations of the policy, dialogs, and requests to anywhere else. */
  watch(page, viewer) {
    page.on("console", (it) => it.type() === "error" && this.note(`console: ${it.text()} ${it.location().url}`));
    page.on("pageerror", (it) => this.note(`script: ${it}`));
    page.on("dialog", (it) => {
      this.note(`dialog: ${it.message()}`);
      return it.dismiss();
    });
    page.on("request", (it) => {
      const url = it.url();
      const isOwn = viewer ? url.startsWith(`${viewer.origin}/`) : url.startsWith("file:");
      if (!isOwn && !url.startsWith("data:") && !url.startsWith("blob:")) this.note(`request: ${url}`);
    });
  }

  /** A test that asks for a page that is refused has the browser say so: it sets what it expects. */
  note(fault) {
    // Of what is no page, browsers look for an icon by themselves.
    const isIcon = fault.endsWith("/favicon.ico");
    if (!isIcon && !this.expected?.test(fault) && !this.faults.includes(fault)) this.faults.push(fault);
  }

  /** What axe finds, with the rules of WCAG 2.2 AA. */
  async axe(page) {
    // Evaluated by the browser's own protocol, so the policy of the page stays as it is.
    await page.evaluate(this.bench.axeSource());
    const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
    const found = await page.evaluate((values) => globalThis.axe.run(document, { runOnly: { type: "tag", values } }), tags);
    return found.violations.map((it) => `${it.id}: ${it.help}: ${it.nodes.map((node) => `${node.html} ${node.failureSummary ?? ""}`).slice(0, 3).join(" | ")}`);
  }

  async close() {
    for (const context of this.contexts) await context.close();
  }
}
