// The runs that tests look at, made by the program under test. Each fixture is a project of its own, so that what one test writes is not in the way of another.

import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { HOSTILE, hostileRows } from "./hostile.mjs";

/** Everything, by name: a folder, and the ids of its runs by what they show. */
export async function makeFixtures(paths) {
  const project = (name) => new Project(paths, join(paths.work, "fixtures", name));
  return {
    gallery: gallery(project("gallery")),
    pair: pair(project("pair")),
    hostile: hostile(project("hostile")),
    empty: project("empty"),
  };
}

class Project {
  constructor(paths, folder) {
    Object.assign(this, { paths, folder, runs: {} });
    // A project begins where its directory of runs is.
    mkdirSync(join(folder, ".jurat/runs"), { recursive: true });
  }

  write(files) {
    for (const [name, content] of Object.entries(files)) {
      const lines = Array.isArray(content) ? content.map((it) => `${JSON.stringify(it)}\n`).join("") : content;
      writeFileSync(join(this.folder, name), lines);
    }
    return this;
  }

  example(name) {
    cpSync(join(this.paths.root, "examples", name), join(this.folder, name), { recursive: true });
    return this;
  }

  /** Runs the program here; what it prints. Exit codes up to 4 are verdicts. */
  jurat(...words) {
    const done = spawnSync(this.paths.jurat, words, { cwd: this.folder, encoding: "utf8", maxBuffer: 1 << 28 });
    if (done.error || done.status === null) throw new Error(`jurat ${words.join(" ")}: ${done.error ?? done.signal}`);
    return { code: done.status, out: done.stdout, said: done.stderr };
  }

  json(...words) {
    const { out, said } = this.jurat(...words);
    try {
      return JSON.parse(out);
    } catch {
      throw new Error(`jurat ${words.join(" ")} printed no JSON: ${out}${said}`);
    }
  }

  /** Makes a run and gives it a name. */
  run(name, ...words) {
    const before = new Set(this.files());
    const { code, said } = this.jurat("run", ...words);
    const made = this.files().filter((it) => !before.has(it));
    if (made.length !== 1 || code > 3) throw new Error(`the run \`${name}\` ended with ${code}: ${said}`);
    this.runs[name] = made[0].replace(/\.jurat$/, "");
    return this;
  }

  files() {
    return readdirSync(join(this.folder, ".jurat/runs")).filter((it) => it.endsWith(".jurat"));
  }
}

/** The examples of the repository, and a file that is no run. */
function gallery(project) {
  for (const it of ["appliances", "capitals", "evaluators", "agents", "scenarios"]) project.example(it);
  const replayed = (folder) => [`${folder}/suite.yaml`, "--replay", `${folder}/effects.jsonl`];
  project.run("appliances", ...replayed("appliances"));
  project.run("capitals", "capitals/suite.yaml");
  project.run("sycophancy", ...replayed("scenarios/sycophancy"));
  project.run("agents", ...replayed("agents"));
  project.run("evaluators", "evaluators/suite.yaml");
  project.write({ ".jurat/runs/2020-01-01T00-00-00_damaged.jurat": "this is no run\n" });
  return project;
}

const TOWNS = "Paris Madrid Rome Warsaw Oslo Ankara Tokyo Delhi Hanoi Kathmandu Astana Ottawa Sucre Lima Santiago Nairobi Abuja Rabat Accra Tunis".split(" ");

/** Ids of runs begin with the second in which they began: which of two is older is known only when those differ. */
function nextSecond() {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1001 - (Date.now() % 1000));
}

/** Two runs of one suite: the subject answers otherwise in some rows, the judge judges otherwise in one, and one cannot be judged. */
function pair(project) {
  const rows = TOWNS.map((town, ix) => ({ id: `q-${String(ix + 1).padStart(2, "0")}`, town, region: ["north", "south", "east"][ix % 3] }));
  const answers = (wrong) =>
    rows.map(({ id, town }) => ({ match: { case: id }, reply: wrong.includes(id) ? "I do not know that town, sorry." : `${town}, of course, happy to help.`, usage: { input: 12, output: 6 }, times: "*" }));
  const judge = (rude, broken) => [
    ...broken.map((id) => ({ match: { task: "tone", case: id }, fault: "status:400", message: "the endpoint is down", times: "*" })),
    ...rude.map((id) => ({ match: { task: "tone", case: id }, reply: { tone: "rude", reason: "It brushes the reader off." }, times: "*" })),
    { match: { task: "tone" }, reply: { tone: "kind", reason: "It is friendly." }, times: "*" },
  ];
  project.write({
    "suite.yaml": `suite: towns
description: Does the guide know its towns, and is it kind?
records: rows.jsonl
models: { subject: script/base.jsonl, judge: script/judge.jsonl }
ask: { prompt: "Which town is \${id}?" }
group_by: [region]
tasks:
  - { id: right, field_path: output, operator: contains, expected_value: "\${town}" }
  - id: tone
    judge: { prompt: "Is this kind? \${output}", output: { tone: { enum: [kind, rude] }, reason: string } }
    field_path: tone
    operator: equals
    expected_value: kind
`,
    "rows.jsonl": rows,
    "base.jsonl": answers(["q-03", "q-07", "q-11", "q-12"]),
    "new.jsonl": answers(["q-05", "q-07"]),
    "judge.jsonl": judge(["q-09"], []),
    "judge-new.jsonl": judge(["q-15"], ["q-18"]),
  });
  project.run("base", "suite.yaml", "--model", "subject=script/base.jsonl", "--model", "judge=script/judge.jsonl", "--fresh");
  nextSecond();
  project.run("new", "suite.yaml", "--model", "subject=script/new.jsonl", "--model", "judge=script/judge-new.jsonl", "--fresh");
  return project;
}

/** A run in which every text that people and models write is hostile. */
function hostile(project) {
  project.write({
    "suite.yaml": `suite: '<img src=x onerror=alert(1)> suite'
description: '<script>alert("description")</script> & more'
records: rows.jsonl
models: { subject: script/subject.jsonl, judge: script/judge.jsonl }
ask: { prompt: "\${question}" }
group_by: [group]
tasks:
  - { id: says_it, description: '<b onmouseover=alert(1)>bold</b>', field_path: output, operator: equals, expected_value: "\${expected}" }
  - id: judged
    judge: { prompt: "\${output}", output: { verdict: string, reason: string } }
    field_path: verdict
    operator: equals
    expected_value: "<style>body{display:none}</style>"
`,
    "rows.jsonl": hostileRows(),
    "subject.jsonl": HOSTILE.map((text, ix) => ({ match: { case: hostileRows()[ix].id }, reply: `${text} (reply)`, times: "*" })),
    "judge.jsonl": HOSTILE.map((text, ix) => ({ match: { task: "judged", case: hostileRows()[ix].id }, reply: { verdict: text, reason: `because ${text}` }, times: "*" })),
  });
  project.run("base", "suite.yaml");
  project.write({ "subject.jsonl": HOSTILE.map((text, ix) => ({ match: { case: hostileRows()[ix].id }, reply: ix % 2 ? `${text} otherwise` : hostileRows()[ix].expected, times: "*" })) });
  project.run("new", "suite.yaml", "--fresh");
  return project;
}
