// The runs that tests look at, made by the program under test. Each fixture is a project of its own, so that what one test writes is not in the way of another.

import { spawn, spawnSync } from "node:child_process";
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
    labels: pair(project("labels")),
    old: older(pair(project("old"))),
    live: live(project("live")),
    scored: scored(project("scored")),
    repeated: repeated(project("repeated")),
    large: large(project("large")),
    changed: changed(project("changed")),
    judged: judged(project("judged")),
    recorded: recorded(project("recorded")),
    amounts: amounts(project("amounts")),
    journalled: await journalled(project("journalled")),
    based: based(project("based")),
    talks: talks(project("talks")),
    worked: worked(project("worked")),
  };
}

/** What pictures are taken of. */
export async function makePictured(paths) {
  const project = (name) => new Project(paths, join(paths.work, "pictured", name));
  return { gallery: gallery(project("gallery")), pair: pair(project("pair")) };
}

/** What is timed beside large runs: long texts, and an agent with many events. */
export async function makeTimed(paths) {
  const project = (name) => new Project(paths, join(paths.work, "timed", name));
  return { judged: judged(project("judged")), recorded: recorded(project("recorded")) };
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

/** A suite whose judge takes its time, so that a run of it can be watched. */
function live(project) {
  const rows = [...Array(400).keys()].map((ix) => ({ id: `r-${String(ix).padStart(3, "0")}`, answer: `answer ${ix}` }));
  return project.write({
    "suite.yaml": `suite: slow
records: rows.jsonl
models: { judge: script/judge.jsonl }
tasks:
  - { id: fine, judge: { prompt: "Is this fine? \${answer}" }, operator: contains, expected_value: "yes" }
`,
    "rows.jsonl": rows,
    "judge.jsonl": [{ reply: "yes", latency_ms: 150, usage: { input: 5, output: 1 }, times: "*" }],
    "faulty.yaml": `suite: faulty
records: rows.jsonl
models: { judge: script/faulty.jsonl }
tasks:
  - { id: fine, judge: { prompt: "Is this fine? \${answer}" }, operator: contains, expected_value: "yes" }
`,
    // The last digit of an answer says which of them cannot be judged: none of the first.
    "faulty.jsonl": [
      { match: { contains: "answer 19" }, fault: "status:400", message: "no judge for this one", times: "*" },
      { reply: "yes", latency_ms: 150, times: "*" },
    ],
  });
}

/** Rows with a score, some of which have none, and two ways to group them. */
function scored(project) {
  const rows = [...Array(24).keys()].map((ix) => ({ id: `s-${String(ix).padStart(2, "0")}`, lang: ["de", "en", "fr"][ix % 3], kind: ["a", "b"][ix % 2], answer: `answer ${ix}` }));
  const score = (ix) => ({ match: { case: rows[ix].id }, reply: { score: ((ix * 7) % 5) / 4, reason: "so" }, times: "*" });
  project.write({
    "suite.yaml": `suite: scored
records: rows.jsonl
models: { judge: script/judge.jsonl }
group_by: [lang, kind]
tasks:
  - { id: english, field_path: lang, operator: equals, expected_value: en, condition: true }
  - id: quality
    judge: { prompt: "How good is this? \${answer}", output: { score: { type: number, minimum: 0, maximum: 1 }, reason: string } }
  - { id: only_english, field_path: kind, operator: equals, expected_value: a, depends_on: [english] }
`,
    "rows.jsonl": rows,
    "judge.jsonl": [...rows.keys()].filter((ix) => ix % 6 !== 5).map(score).concat([{ fault: "status:400", message: "no judge today", times: "*" }]),
  });
  return project.run("only", "suite.yaml", "--keep-going");
}

/** Rows that are judged three times, some of them otherwise each time. */
function repeated(project) {
  const rows = ["steady", "flips", "turns", "calm"].map((id) => ({ id, answer: `about ${id}` }));
  project.write({
    "suite.yaml": `suite: repeated
records: rows.jsonl
models: { subject: script/subject.jsonl }
ask: { prompt: "\${answer}" }
tasks:
  - { id: says_yes, field_path: output, operator: contains, expected_value: "yes" }
`,
    "rows.jsonl": rows,
    "subject.jsonl": [
      { match: { case: "flips" }, reply: "no" },
      { match: { case: "turns" }, reply: "no" },
      { match: { case: "turns" }, reply: "no" },
      { reply: "yes", times: "*" },
    ],
  });
  return project.run("only", "suite.yaml", "--repeat", "3", "-j", "1");
}

/** Many rows, of which the last alone has a word. */
function large(project) {
  const rows = [...Array(40_000).keys()].map((ix) => ({ id: `r-${String(ix).padStart(5, "0")}`, answer: `${"A text about nothing in particular, which goes on for a while. ".repeat(6)}${ix === 39_999 ? "needle" : ix}` }));
  project.write({
    "suite.yaml": `suite: large
records: rows.jsonl
tasks:
  - { id: even, field_path: answer, operator: matches, expected_value: "[02468]$" }
  - { id: long, field_path: answer, operator: has_length_greater_than, expected_value: 100 }
`,
    "rows.jsonl": rows,
  });
  return project.run("only", "suite.yaml");
}

/** A run whose rows are changed later. */
function changed(project) {
  project.write({
    "suite.yaml": `suite: changed
records: rows.jsonl
tasks:
  - { id: answered, field_path: answer, operator: contains, expected_value: "answer" }
`,
    "rows.jsonl": ["first", "second"].map((it, ix) => ({ id: "ab"[ix], answer: `${it} answer` })),
  });
  return project.run("only", "suite.yaml");
}

/** A judge that has to be asked again, and texts that are long. */
function judged(project) {
  const long = (word) => `${`${word} in a long text, line after line.\n`.repeat(2500)}`;
  project.write({
    "suite.yaml": `suite: judged
records: rows.jsonl
models: { judge: script/judge.jsonl }
tasks:
  - id: tone
    judge: { prompt: "Is this kind? \${answer}", output: { tone: { enum: [kind, rude] }, reason: string } }
    field_path: tone
    operator: equals
    expected_value: kind
  - { id: same, field_path: answer, operator: equals, expected_value: "\${wanted}" }
`,
    "rows.jsonl": [
      { id: "again", answer: "Please wait.", wanted: "Please wait." },
      { id: "long", answer: long("found"), wanted: long("expected") },
      { id: "markdown", answer: "# Title\n\n**bold** [link](https://example.org/) ![picture](https://example.org/x.png) <b>raw</b>", wanted: "x" },
    ],
    "judge.jsonl": [
      { match: { case: "again" }, reply: "I think it is kind." },
      { reply: { tone: "kind", reason: "It is." }, usage: { input: 9, output: 3 }, times: "*" },
    ],
  });
  project.run("first", "suite.yaml");
  nextSecond();
  return project.run("second", "suite.yaml");
}

/** Cases that differ in what they took, and texts that JSON writes in several ways. */
function amounts(project) {
  const texts = ['He said "no" twice.', "At the café.", "line one\nline two", "plain", "more", "last"];
  const rows = texts.map((answer, ix) => ({ id: `a-${ix}`, answer }));
  const written = rows.map((it) => JSON.stringify(it).replaceAll("é", "\\u00e9")).join("\n");
  project.write({
    "suite.yaml": `suite: amounts
records: rows.jsonl
models: { judge: { model: script/judge.jsonl, price: { input: 1, output: 2 } } }
tasks:
  - { id: fine, judge: { prompt: "Is this fine? \${answer}" }, operator: contains, expected_value: "yes" }
`,
    "rows.jsonl": `${written}\n`,
    "judge.jsonl": rows.map((it, ix) => ({ match: { case: it.id }, reply: "yes", latency_ms: 5 + 20 * ((ix * 5) % 6), usage: { input: 100 * ((ix * 5) % 6) + 7, output: 3 }, times: "*" })),
  });
  return project.run("only", "suite.yaml", "-j", "1");
}

const ENDPOINT = `
let n = 0;
const answer = { id: "1", model: "m", choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "yes" } }], usage: { prompt_tokens: 5, completion_tokens: 1 } };
const server = require("node:http").createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    const json = { "content-type": "application/json", "retry-after": "0" };
    n += 1;
    if (n === 1) response.writeHead(503, json).end('{"error": {"message": "too busy now"}}');
    else response.writeHead(200, json).end(JSON.stringify(answer));
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
`;

/** Two runs of one suite whose judge is an endpoint on this machine, which first fails: the second run takes its answers from the journal. */
async function journalled(project) {
  // A process of its own, because runs are waited for without answering anything meanwhile.
  const endpoint = spawn(process.execPath, ["-e", ENDPOINT], { stdio: ["ignore", "pipe", "inherit"] });
  const port = await new Promise((resolve) => endpoint.stdout.once("data", (it) => resolve(Number(it))));
  process.env.OPENAI_API_KEY ??= "none";
  project.write({
    "suite.yaml": `suite: journalled
records: rows.jsonl
models: { judge: { model: openai/m, base_url: "http://127.0.0.1:${port}/v1" } }
tasks:
  - { id: fine, judge: { prompt: "Is this fine? \${answer}" }, operator: contains, expected_value: "yes" }
`,
    "rows.jsonl": [{ id: "one", answer: "an answer" }],
  });
  project.run("first", "suite.yaml").run("second", "suite.yaml");
  endpoint.kill();
  return project;
}

/** Recorded runs of agents: one with very many events, and one whose events say when they were, with a file that changed. */
function recorded(project) {
  const identity = (id) => ({ schema_version: 1, run_id: id, case_id: id, suite_id: "traces", run_profile_id: "default", runner_type: "command" });
  const many = [...Array(100_000).keys()].map((ix) => ({ sequence: ix, event_type: "message", role: ix % 2 ? "assistant" : "user", content: `message ${ix + 1}` }));
  const at = (second) => `2026-11-16T09:00:${String(second).padStart(2, "0")}Z`;
  const timed = [
    { sequence: 0, timestamp: at(0), event_type: "message", role: "user", content: "Mend the notes." },
    { sequence: 1, timestamp: at(10), event_type: "tool_call", call_id: "c1", tool_name: "write_file", raw_arguments: '{"path":"notes.md"}', parsed_arguments: { path: "notes.md" } },
    { sequence: 2, timestamp: at(30), event_type: "tool_result", call_id: "c1", status: "success", output: "written" },
    { sequence: 3, timestamp: at(40), event_type: "final_output", content: "Done." },
  ];
  const workspace = {
    added: ["added.md"], changed: ["notes.md"], removed: [],
    files: { "added.md": { kind: "file", size: 8, text: "a line\n" }, "notes.md": { kind: "file", size: 8, diff: "--- a/notes.md\n+++ b/notes.md\n@@ -1 +1 @@\n-before\n+after\n" } },
  };
  const run = (id, trace, more = {}) => ({ identity: identity(id), status: "success", request: { requested_model: "vendor/model" }, trace, ...more });
  project.write({
    "many.json": JSON.stringify(run("many", many)),
    "timed.json": JSON.stringify(run("timed", timed, { runner_metadata: { workspace } })),
    "suite.yaml": `suite: traces
agents: { stored: { runner: recorded } }
cases:
  - { id: many, task: Talk., artifact: many.json, deterministic_checks: [{ check_id: ended, declarative: { kind: status_is, status: success } }] }
  - { id: timed, task: Mend the notes., artifact: timed.json, deterministic_checks: [{ check_id: ended, declarative: { kind: status_is, status: success } }] }
`,
  });
  return project.run("only", "suite.yaml");
}

/** Two runs, of which the second compares itself with the first. */
function based(project) {
  const suite = (gates) => `suite: based
records: rows.jsonl
${gates}tasks:
  - { id: answered, field_path: answer, operator: contains, expected_value: "answer" }
`;
  project.write({ "suite.yaml": suite(""), "rows.jsonl": ["a", "b"].map((id) => ({ id, answer: `the answer ${id}` })) });
  project.run("base", "suite.yaml");
  nextSecond();
  project.write({ "suite.yaml": suite(`gates:\n  base: ${project.runs.base}\n  conditions:\n    - { id: quality, not_worse: 0.1 }\n`) });
  return project.run("new", "suite.yaml");
}

/** Where there is a suite with a conversation about each row. */
export const OVER_ROWS = "tests/cases/scenario/over-rows";

function talks(project) {
  cpSync(join(project.paths.root, OVER_ROWS), project.folder, { recursive: true });
  return project.run("only", "suite.yaml");
}

const AGENT = `
import json, os, sys, urllib.request

def tell(kind, **members):
    print(json.dumps({"type": kind, **members}), flush=True)

asked = json.load(sys.stdin)
model = asked["model"]
for word in ["first", "second"]:
    body = json.dumps({"model": model["model"], "messages": [{"role": "user", "content": word + " question <b>"}]}).encode()
    address = model["base_url"].rstrip("/") + ("" if model["base_url"].rstrip("/").endswith("/v1") else "/v1") + "/chat/completions"
    request = urllib.request.Request(address, data=body, headers={"content-type": "application/json", "authorization": "Bearer " + (model.get("api_key") or "none")})
    with urllib.request.urlopen(request) as reply:
        tell("message", role="assistant", text=json.load(reply)["choices"][0]["message"]["content"])
open("report.bin", "wb").write(bytes(range(256)))
open("notes.txt", "w").write("one\\nzwei\\nthree\\n")
tell("final", text="done")
`;

/** What the agent of `worked` leaves as its key output. */
export const LEFT = Buffer.from([...Array(256).keys()]);

/** An agent that asks its model twice, leaves a file of bytes, and changes one of its workspace. */
function worked(project) {
  mkdirSync(join(project.folder, "notes"));
  project.write({
    "notes/notes.txt": "one\ntwo\nthree\n",
    "agent.py": AGENT,
    "subject.jsonl": [{ reply: "a reply", usage: { input: 7, output: 2 }, times: "*" }],
    "suite.yaml": `suite: worked
models: { subject: script/subject.jsonl }
agents: { small: { command: [python3, ./agent.py], model: subject, limits: { time: 1m } } }
cases:
  - { id: work, task: Work., agent: small, workspace: notes, key_outputs: [report.bin] }
  - { id: broken, task: Work., agent: { command: [python3, -c, "raise ValueError('${"x".repeat(120)}')"] } }
tasks:
  - { id: succeeded, check: { kind: status_is, expected: success } }
`,
  });
  return project.run("only", "suite.yaml", "--unsafe-host");
}

/** Takes from the runs of a project what run files got later. */
function older(project) {
  const script = `
import sqlite3, sys
for path in sys.argv[1:]:
    file = sqlite3.connect(path)
    file.executescript("DROP TABLE taken; DROP TABLE grouping; DROP INDEX block_range; CREATE INDEX block_range ON block (first, last);")
    file.close()
`;
  const files = project.files().map((it) => join(project.folder, ".jurat/runs", it));
  const done = spawnSync("python3", ["-c", script, ...files], { encoding: "utf8" });
  if (done.status !== 0) throw new Error(`runs were not made older: ${done.stderr}`);
  return project;
}
