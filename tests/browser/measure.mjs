// How long pages take in a browser: from the beginning of the navigation to the painted page, several times, beside a target.

import { readFileSync, readdirSync } from "node:fs";

/** How often each page is opened. */
const ROUNDS = 5;

/** How long a page may take. */
const MOST_MS = 120_000;

/** Waits until something is in the page and painted; returns how long that took, in milliseconds since the browser began to navigate. */
export async function painted(page, wanted = "main") {
  await page.locator(wanted).first().waitFor({ state: "attached", timeout: MOST_MS });
  return page.evaluate(
    () =>
      new Promise((resolve) => {
        const look = () => requestAnimationFrame(() => (document.readyState === "complete" ? setTimeout(() => resolve(performance.now())) : look()));
        look();
      }),
  );
}

/** Figures with their targets, printed as a table of Markdown. */
export class Figures {
  lines = [];

  add(what, found, unit, target = null, cpu = null) {
    const sorted = [...found].sort((one, other) => one - other);
    const median = sorted[Math.floor(sorted.length / 2)];
    this.lines.push({ what, median, least: sorted[0], most: sorted.at(-1), unit, target, cpu });
    console.error(`${what}: ${found.map((it) => Math.round(it)).join(", ")} ${unit}${cpu === null ? "" : `, ${Math.round(cpu)} ms of CPU`}`);
  }

  /** Adds the times that something takes that is done several times, and the CPU time of the server and of all of the browser for it. */
  async time(what, target, work) {
    const times = [];
    const before = cpuBelow(process.pid);
    for (let round = 0; round < ROUNDS; round += 1) times.push(await work(round));
    this.add(what, times, "ms", target, (cpuBelow(process.pid) - before) / ROUNDS);
  }

  print() {
    console.log("| what | median | least to most | CPU | target |");
    console.log("|---|---|---|---|---|");
    for (const { what, median, least, most, unit, target, cpu } of this.lines) {
      const range = least === most ? "" : `${Math.round(least)} to ${Math.round(most)} ${unit}`;
      const wanted = target === null ? "" : `${target} ${unit}${median > target ? ", missed" : ""}`;
      console.log(`| ${what} | ${Math.round(median)} ${unit} | ${range} | ${cpu === null ? "" : `${Math.round(cpu)} ms`} | ${wanted} |`);
    }
  }
}

/** The CPU time of all processes that a process started, in milliseconds. */
function cpuBelow(pid) {
  const of = (it) => threads(it).reduce((sum, thread) => sum + Number(read(`/proc/${it}/task/${thread}/schedstat`).split(" ")[0]), 0) / 1e6;
  return childrenOf(pid).reduce((sum, it) => sum + of(it) + cpuBelow(it), 0);
}

function threads(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** A member of `/proc/PID/status` in megabytes, of a process and all that it started. */
export function memory(pid, member = "VmHWM") {
  const own = Number(read(`/proc/${pid}/status`).match(new RegExp(`${member}:\\s+(\\d+)`))?.[1] ?? 0) / 1024;
  return childrenOf(pid).reduce((sum, it) => sum + memory(it, member), own);
}

function childrenOf(pid) {
  return readdirSync("/proc").filter((it) => /^\d+$/.test(it) && Number(read(`/proc/${it}/status`).match(/PPid:\s+(\d+)/)?.[1] ?? 0) === Number(pid));
}

/** The text of a file; nothing of a process that has ended. */
function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** What the machine is and how busy it is. */
export function conditions() {
  const cpu = readFileSync("/proc/cpuinfo", "utf8");
  const [load] = readFileSync("/proc/loadavg", "utf8").split(" ");
  return `${new Date().toISOString().slice(0, 10)}, ${cpu.match(/^processor/gm).length} cores of ${cpu.match(/model name\s*:\s*(.*)/)?.[1] ?? "an unknown processor"}, load ${load} at the end`;
}
