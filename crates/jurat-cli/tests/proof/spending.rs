//! What agents spend counts: through the proxy as it is spent, and by their own report where nothing else counts it. Judging their runs again spends nothing.

use std::fs;

use jurat_testkit::{Endpoint, Reply, Script, Usage};
use serde_json::Value;

use crate::project::{Ended, Project, ended};

/// Asks its model as often as its argument says, whatever comes back, and notes that it was there.
const ASKING: &str = r#"
import json, os, sys, urllib.error, urllib.request

with open(os.environ["NOTES"], "a") as notes:
    notes.write("started\n")
asked = json.dumps({"model": "any", "messages": [{"role": "user", "content": "Go on?"}]}).encode()
headers = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["JURAT_API_KEY"]}
at = os.environ["JURAT_BASE_URL"] + "/v1/chat/completions"
for _ in range(int(sys.argv[1])):
    try:
        urllib.request.urlopen(urllib.request.Request(at, asked, headers)).read()
    except urllib.error.HTTPError:
        pass
print(json.dumps({"type": "final", "text": "done"}))
"#;

/// Reports spending that no proxy saw.
const REPORTING: &str = r#"
import json, os

with open(os.environ["NOTES"], "a") as notes:
    notes.write("started\n")
print(json.dumps({"type": "usage", "input_tokens": 500, "output_tokens": 100, "cost_usd": 0.6}))
print(json.dumps({"type": "final", "text": "done"}))
"#;

/// A project with an agent and three cases. Agents run on the machine itself, so that what they note is seen.
struct Spenders {
    project: Project,
    endpoint: Endpoint,
}

impl Spenders {
    fn new(agent: &str, code: &str) -> Spenders {
        let usage = Usage { input: 30, output: 20, cached: 0, reasoning: 0 };
        let endpoint = Endpoint::start(Script::new().keep_requests().reply(Reply::text("on").usage(usage)));
        let project = Project::new("", "", &endpoint.url());
        let notes = project.path().join("notes.txt");
        project.write(
            "suite.yaml",
            &format!(
                "suite: spending\n\
                 models: {{ subject: {{ model: openai/any, price: {{ input: 1000, output: 1000 }}, max_tokens: 100 }} }}\n\
                 agents: {{ spender: {{ {agent}, env: {{ NOTES: '{}' }} }} }}\n\
                 cases: [{{ id: c1, task: Go. }}, {{ id: c2, task: Go! }}, {{ id: c3, task: Go }}]\n\
                 tasks: [{{ id: done, check: {{ kind: status_is, expected: success }} }}]\n",
                notes.display()
            ),
        );
        project.write("agent.py", code);
        Spenders { project, endpoint }
    }

    fn run(&self, options: &[&str]) -> Ended {
        let fixed = ["run", "suite.yaml", "-j", "1", "--unsafe-host", "--json"];
        let mut command = self.project.command(&[&fixed, options].concat());
        command.env("PATH", std::env::var_os("PATH").expect("there is a path")).env("OPENAI_API_KEY", "sk-none");
        ended(&mut command)
    }

    /// The verdict of each case after a run, its exit code, how many agents were started and how many requests were made until now.
    #[track_caller]
    fn spent(&self, options: &[&str]) -> (Vec<String>, Option<i32>, usize, u64) {
        let ended = self.run(options);
        let report: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{}", ended.stderr));
        let cases = report["results"]["cases"].as_array().unwrap_or_else(|| panic!("{}", ended.stdout));
        let verdict = |it: &Value| it["tasks"][0]["verdict"].as_str().unwrap_or("?").to_owned();
        let n_started = fs::read_to_string(self.project.path().join("notes.txt")).map_or(0, |it| it.lines().count());
        (cases.iter().map(verdict).collect(), ended.code, n_started, self.endpoint.stats().requests)
    }
}

fn verdicts(words: &str) -> Vec<String> {
    words.split(' ').map(str::to_owned).collect()
}

#[test]
fn an_agent_is_cut_when_the_budget_is_gone_and_the_next_is_not_started() {
    let asks_four_times = "command: [python3, ./agent.py, '4'], model: subject";
    // A request has less than 100 bytes, may have 100 tokens written, and takes 50 tokens for 5 cents.
    for (options, n_requests) in
        [(["--budget-calls", "6"], 6), (["--budget-tokens", "400"], 5), (["--budget-usd", "0.4"], 5)]
    {
        let spenders = Spenders::new(asks_four_times, ASKING);
        let (shown, code, n_started, n_asked) = spenders.spent(&options);
        assert_eq!((shown, code, n_started), (verdicts("passed not_run not_run"), Some(4), 2), "{options:?}");
        assert!((n_requests..=n_requests + 1).contains(&n_asked), "{options:?}: {n_asked}");
        // What may be written is said in every request, or nothing would bound it.
        let requests = spenders.endpoint.requests();
        assert!(requests.iter().all(|it| it.body.contains("\"max_tokens\":100")));
        // With more to spend the same command does the rest; what was cut is begun again.
        let (shown, code, n_started, _) = spenders.spent(&[]);
        assert_eq!((shown, code, n_started), (verdicts("passed passed passed"), Some(0), 4), "{options:?}");
    }
}

#[test]
fn what_may_take_more_than_there_is_does_not_begin() {
    for (limit, option) in [
        ("requests: 7", ["--budget-calls", "6"]),
        ("tokens: 500", ["--budget-tokens", "400"]),
        ("cost_usd: 0.5", ["--budget-usd", "0.4"]),
    ] {
        let agent = format!("command: [python3, ./agent.py, '1'], model: subject, limits: {{ {limit} }}");
        let spenders = Spenders::new(&agent, ASKING);
        let spent = spenders.spent(&option);
        assert_eq!(spent, (verdicts("not_run not_run not_run"), Some(4), 0, 0), "{option:?}");
    }
}

#[test]
fn what_an_agent_says_that_it_spent_counts() {
    for option in [["--budget-usd", "1"], ["--budget-tokens", "1000"]] {
        let spenders = Spenders::new("command: [python3, ./agent.py]", REPORTING);
        let spent = spenders.spent(&option);
        assert_eq!(spent, (verdicts("passed passed not_run"), Some(4), 2, 0), "{option:?}");
    }
}

#[test]
fn judging_runs_again_starts_no_agent_and_asks_no_model() {
    let spenders = Spenders::new("command: [python3, ./agent.py, '2'], model: subject", ASKING);
    assert_eq!(spenders.spent(&[]), (verdicts("passed passed passed"), Some(0), 3, 6));
    let suite = fs::read_to_string(spenders.project.path().join("suite.yaml")).expect("the suite is there");
    let other = suite.replace(
        "id: done, check: { kind: status_is, expected: success }",
        "id: called, check: { kind: tool_called, tool: search }",
    );
    assert_ne!(suite, other);
    spenders.project.write("suite.yaml", &other);
    assert_eq!(spenders.spent(&[]), (verdicts("failed failed failed"), Some(1), 3, 6));
    // Nor when everything is taken from the run itself.
    assert_eq!(spenders.spent(&["--replay", "latest"]), (verdicts("failed failed failed"), Some(1), 3, 6));
}
