//! Judges that come with the program, and judge files: what they need, ask and conclude.

use std::collections::HashSet;
use std::path::Path;

use jurat_core::case::{CaseState, ReadyRequest};
use jurat_core::effect::{Answer, Message, Outcome};
use jurat_core::judge::{READY, Ready};
use jurat_core::plan::{Plan, Samples, TaskIx};
use jurat_core::suite::{JudgeFile, TaskKind, load};
use jurat_core::verdict::Verdict;
use jurat_format::source::{Files, ReadError};
use jurat_format::value::{Val, parse_json};

use crate::InMemory;

/// The fewest cases of a labelled set.
const FEWEST: usize = 40;

fn plan(text: &str, files: &[(&str, &str)]) -> Plan {
    let files: Vec<(&str, &str)> = files.iter().copied().chain([("suite.yaml", text)]).collect();
    let loaded = load(Path::new("suite.yaml"), &InMemory(&files));
    assert_eq!(loaded.problems, [], "{text}");
    let samples = Samples { is_partial: true, ..Samples::default() };
    Plan::build(&loaded.suite, &samples).unwrap_or_else(|problems| panic!("{problems:?}\n{text}")).0
}

fn plan_of(judge: &str) -> Plan {
    plan(&format!("models: {{ judge: a/b }}\nrecords: [{{ x: 1 }}]\ntasks: [{{ id: judged, judge: {judge} }}]\n"), &[])
}

/// A judge is asked about a row, and its replies are these, in the order of its questions. What it was asked and what follows.
struct Judged {
    prompts: Vec<String>,
    verdict: String,
    output: String,
}

fn judged(plan: &Plan, row: &str, replies: &[&str]) -> Judged {
    let row = parse_json(row).expect("the row is JSON").value;
    let mut state = CaseState::start(plan, &row);
    let mut prompts = Vec::new();
    for reply in replies {
        let Some(step) = state.steps().next() else { panic!("nothing is asked, and {reply} is left") };
        let (site, request) = (step.site, step.request);
        let ReadyRequest::Model(request) = request else { panic!("a judge asks a model") };
        prompts.push(request.messages.iter().map(Message::text).collect::<Vec<_>>().join("\n---\n"));
        state.apply(site, Outcome::Answer(Box::new(Answer::new(*reply))));
    }
    assert!(state.steps().next().is_none(), "more is asked: {prompts:?}");
    let result = state.result(TaskIx(0)).expect("the task is done");
    let verdict = match &result.verdict {
        Verdict::Passed => "passed".to_owned(),
        Verdict::Failed(_) => "failed".to_owned(),
        Verdict::Error(reason) => format!("error: {}", reason.0),
        other => format!("{other:?}"),
    };
    Judged { prompts, verdict, output: result.output.as_ref().map(Val::to_json).unwrap_or_default() }
}

#[test]
fn every_ready_judge_can_be_read_and_is_complete() {
    for ready in READY {
        let judge = JudgeFile::ready(ready).unwrap_or_else(|problems| panic!("{}: {problems:?}", ready.name));
        assert_eq!(judge.name.value, ready.name);
        assert!(!judge.about.is_empty() && !judge.sources.is_empty(), "{} says what it rests on", ready.name);
        assert!(judge.passes.is_some(), "{} passes or fails", ready.name);
        let prompts: String = judge.steps.iter().map(|it| it.prompt.prompt.text()).collect();
        for input in &judge.inputs {
            assert!(prompts.contains(&format!("${{{}}}", input.name)), "{} shows `{}`", ready.name, input.name);
        }
    }
    let names: HashSet<&str> = READY.iter().map(|it| it.name).collect();
    assert_eq!(names.len(), READY.len());
    assert_eq!(Ready::find("faithfulness").map(Ready::path).as_deref(), Some("jurat:judges/faithfulness.yaml"));
}

/// Both labels are there in number, so that a judge that always says the same is found out.
#[test]
fn labelled_sets_have_both_labels_and_reasons() {
    for ready in READY {
        let (mut passes, mut ids) = (0, HashSet::new());
        let lines: Vec<&str> = ready.cases.lines().collect();
        assert!(lines.len() >= FEWEST, "{} has {} cases", ready.name, lines.len());
        for line in &lines {
            let case = parse_json(line).unwrap_or_else(|error| panic!("{}: {error}: {line}", ready.name)).value;
            let text = |key: &str| case.get(key).and_then(Val::as_str).unwrap_or_default().to_owned();
            assert!(ids.insert(text("case")), "{} is there twice", text("case"));
            assert!(text("note").len() > 5, "{} has no reason", text("case"));
            assert!(["pass", "fail"].contains(&text("label").as_str()), "{}", text("case"));
            passes += usize::from(text("label") == "pass");
        }
        assert!(passes * 3 >= lines.len() && passes * 3 <= lines.len() * 2, "{}: {passes} pass", ready.name);
    }
}

#[test]
fn prompts_of_ready_judges_bind_for_every_labelled_case() {
    for ready in READY {
        let plan = plan_of(&format!("{{ use: {} }}", ready.name));
        for line in ready.cases.lines() {
            let row = parse_json(line).expect("a test reads every line").value;
            let state = CaseState::start(&plan, &row);
            assert!(state.steps().next().is_some(), "{}: {:?}", line, state.verdicts().collect::<Vec<_>>());
        }
    }
}

const CLAIMS: &str = r#"{"claims": ["It opened in 1964.", "It is the largest."]}"#;

fn verdicts(first: &str, second: &str) -> String {
    format!(
        r#"{{"verdicts": [{{"claim": "It opened in 1964.", "quote": "", "verdict": "{first}"}},
                          {{"claim": "It is the largest.", "quote": "", "verdict": "{second}"}}]}}"#
    )
}

#[test]
fn faithfulness_is_judged_claim_by_claim() {
    let plan = plan_of("{ use: faithfulness }");
    let row = r#"{"output": "It opened in 1964 and is the largest.", "context": ["It opened in 1964."]}"#;
    let mixed = judged(&plan, row, &[CLAIMS, &verdicts("supported", "not_stated")]);
    assert!(mixed.prompts[0].contains("It opened in 1964 and is the largest."));
    assert!(!mixed.prompts[0].contains(r#"["It opened in 1964."]"#), "claims are found without the context");
    assert!(mixed.prompts[1].contains(r#"["It opened in 1964.","It is the largest."]"#), "{}", mixed.prompts[1]);
    assert_eq!(mixed.verdict, "failed");
    assert!(
        mixed.output.contains(r#""score":0.5,"label":"unfaithful","reason":"not_stated: It is the largest.""#),
        "{}",
        mixed.output
    );
    assert_eq!(judged(&plan, row, &[CLAIMS, &verdicts("supported", "supported")]).verdict, "passed");
}

#[test]
fn an_answer_without_claims_is_faithful_and_asked_about_once() {
    let plan = plan_of("{ use: faithfulness }");
    let row = r#"{"output": "I do not know.", "context": "Nothing of it."}"#;
    let none = judged(&plan, row, &[r#"{"claims": []}"#]);
    assert_eq!((none.verdict.as_str(), none.prompts.len()), ("passed", 1));
}

#[test]
fn a_reply_that_skips_a_claim_is_asked_for_again() {
    let plan = plan_of("{ use: faithfulness, max_retries: 1 }");
    let row = r#"{"output": "It opened in 1964 and is the largest.", "context": "It opened in 1964."}"#;
    let one = r#"{"verdicts": [{"claim": "It opened in 1964.", "quote": "", "verdict": "supported"}]}"#;
    let again = judged(&plan, row, &[CLAIMS, one, &verdicts("supported", "supported")]);
    assert_eq!(again.verdict, "passed");
    assert!(again.prompts[2].contains("there must be one verdict for each claim of the list"), "{}", again.prompts[2]);
    let never = judged(&plan, row, &[CLAIMS, one, one]);
    assert!(never.verdict.starts_with("error: there must be one verdict for each claim"), "{}", never.verdict);
}

#[test]
fn a_preference_counts_when_both_orders_agree() {
    let plan = plan_of("{ use: preference }");
    let row = r#"{"input": "Say hi.", "output": "Hi!", "other": "Go away."}"#;
    let said = |better: &str| format!(r#"{{"first_answer": "a", "second_answer": "b", "better": "{better}"}}"#);
    for (forward, backward, winner, verdict) in [
        ("first", "second", "output", "passed"),
        ("second", "first", "other", "failed"),
        ("first", "first", "tie", "failed"),
        ("second", "second", "tie", "failed"),
        ("neither", "neither", "tie", "failed"),
        ("first", "neither", "tie", "failed"),
    ] {
        let both = judged(&plan, row, &[&said(forward), &said(backward)]);
        assert_eq!(both.verdict, verdict, "{forward} {backward}");
        assert!(both.output.contains(&format!(r#""winner":"{winner}""#)), "{}", both.output);
    }
    let row = parse_json(row).unwrap().value;
    let state = CaseState::start(&plan, &row);
    let sites: Vec<u32> = state.steps().map(|it| it.site.slot).collect();
    assert_eq!(sites, [0, 1], "the orders do not wait for each other");
}

#[test]
fn the_judges_of_a_panel_each_answer_their_own_questions() {
    let plan = plan_of("{ use: faithfulness, repeat: 3 }");
    let row = r#"{"output": "It opened in 1964 and is the largest.", "context": "It opened in 1964."}"#;
    let (good, bad) = (verdicts("supported", "supported"), verdicts("supported", "contradicted"));
    let panel = judged(&plan, row, &[CLAIMS, CLAIMS, CLAIMS, &good, &bad, &good]);
    assert_eq!(panel.verdict, "passed");
    let panel = judged(&plan, row, &[CLAIMS, r#"{"claims": []}"#, CLAIMS, &bad, &bad]);
    assert_eq!(panel.verdict, "failed", "the judge without claims is asked no second question, and outvoted");
}

#[test]
fn a_rubric_is_a_judge_in_one_line() {
    let plan = plan_of("{ rubric: 'It names ${city}.', with: { output: answer } }");
    let row = r#"{"city": "Rome", "answer": "In Rome."}"#;
    let reply = |score: u32| format!(r#"{{"steps": "s", "reason": "r", "score": {score}}}"#);
    let met = judged(&plan, row, &[&reply(4)]);
    assert!(met.prompts[0].contains("<criterion>\nIt names Rome.\n</criterion>"), "{}", met.prompts[0]);
    assert_eq!((met.verdict.as_str(), judged(&plan, row, &[&reply(3)]).verdict.as_str()), ("passed", "failed"));
    let missing = judged(&plan, r#"{"answer": "In Rome."}"#, &[]).verdict;
    assert_eq!(missing, "error: the prompt needs `city`: the context has no `city`; it has answer");
}

#[test]
fn inputs_are_found_under_their_usual_names_or_where_the_author_says() {
    let plan = plan_of("{ use: correctness, with: { reference: gold.text, input: { value: Who? } } }");
    let row = r#"{"response": "Ada", "gold": {"text": "Ada Lovelace"}, "reference": "not this"}"#;
    let asked = judged(&plan, row, &[r#"{"reason": "r", "label": "correct"}"#]);
    for part in ["Who?", "Ada Lovelace", "<answer>\nAda\n</answer>"] {
        assert!(asked.prompts[0].contains(part), "{part}: {}", asked.prompts[0]);
    }
    assert!(!asked.prompts[0].contains("not this"));
    let missing = judged(&plan, r#"{"gold": {"text": "x"}, "output": null}"#, &[]);
    let start = "error: the case has no `output`, `actual_output`, `response`";
    assert!(missing.verdict.starts_with(start), "{}", missing.verdict);
}

/// The task of a run is what its user asked, and not what the system says before it.
#[test]
fn a_trajectory_is_judged_by_what_the_user_asked() {
    let artifact = r#"{"identity": {"schema_version": 1, "run_id": "r1", "case_id": "c", "suite_id": "s", "run_profile_id": "p", "runner_type": "trace"},
        "status": "success", "request": {"requested_model": "m"}, "trace": [
        {"sequence": 0, "event_type": "message", "role": "system", "content": "Be brief."},
        {"sequence": 1, "event_type": "message", "role": "user", "content": "Where is it?"},
        {"sequence": 2, "event_type": "final_output", "content": "Here."}]}"#;
    let evidence = jurat_core::evidence::run::evidence(parse_json(artifact).expect("JSON").value).expect("an artifact");
    let reply = r#"{"walk_through": "w", "goal_reached": true, "problems": []}"#;
    let asked = judged(&plan_of("{ use: trajectory }"), &evidence.to_json(), &[reply]);
    assert!(asked.prompts[0].contains("<task>\nWhere is it?\n</task>"), "{}", asked.prompts[0]);
}

#[test]
fn an_input_of_another_type_is_an_error_before_anything_is_asked() {
    let plan = plan_of("{ use: context-precision }");
    let text = judged(&plan, r#"{"input": "q", "context": "one text"}"#, &[]);
    assert_eq!(text.verdict, "error: `context` must be a list, and is text");
}

const OWN: &str = "
judge: brevity
description: whether a text is short
inputs: { output: { about: the text }, most: { about: the most words, default: 5 } }
prompt: How many words has ${output}?
output: { words: integer }
conclude:
  short: { cel: reply.words <= most }
passes: { field_path: short, operator: equals, expected_value: true }
";

#[test]
fn a_judge_file_of_the_project_is_used_like_a_ready_one() {
    let suite = |with: &str| {
        format!(
            "models: {{ judge: a/b }}\nrecords: [{{ output: x }}]\ntasks: [{{ id: short, judge: {{ use: {{ file: brevity.yaml }}{with} }} }}]\n"
        )
    };
    let row = r#"{"output": "one two"}"#;
    let plan_with = |with: &str| plan(&suite(with), &[("brevity.yaml", OWN)]);
    assert_eq!(judged(&plan_with(""), row, &[r#"{"words": 5}"#]).output, r#"{"words":5,"short":true}"#);
    assert_eq!(judged(&plan_with(", with: { most: 4 }"), row, &[r#"{"words": 5}"#]).verdict, "failed");
}

#[test]
fn a_task_compares_otherwise_where_it_says_so() {
    let text = "models: { judge: a/b }\nrecords: [{ output: x }]\ntasks:\n  - id: half\n    judge: { use: faithfulness }\n    \
                field_path: score\n    operator: greater_than_or_equal\n    expected_value: 0.5\n";
    let plan = plan(text, &[]);
    let row = r#"{"output": "It opened in 1964 and is the largest.", "context": "It opened in 1964."}"#;
    assert_eq!(judged(&plan, row, &[CLAIMS, &verdicts("supported", "not_stated")]).verdict, "passed");
}

#[test]
fn what_a_row_lacks_is_a_problem_before_the_run() {
    let text = "models: { judge: a/b }\nrecords: [{ answer: x, question: y }]\ntasks: [{ id: t, judge: { use: faithfulness } }]\n";
    let loaded = load(Path::new("suite.yaml"), &InMemory(&[("suite.yaml", text)]));
    let row = parse_json(r#"{"answer": "x", "question": "y"}"#).unwrap().value.into_owned();
    let samples = Samples { rows: vec![row], ..Samples::default() };
    let (_, problems) = Plan::build(&loaded.suite, &samples).expect("warnings do not stop it");
    let messages: Vec<&str> = problems.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "no sample row has `output`, which the judge `faithfulness` needs",
            "no sample row has `context`, which the judge `faithfulness` needs"
        ]
    );
}

/// Files of a run that an earlier version of the program made.
struct Recorded(&'static str);

impl Files for Recorded {
    fn read(&self, _: &Path, _: u64) -> Result<Vec<u8>, ReadError> {
        Ok(b"models: { judge: a/b }\nrecords: [{ x: 1 }]\ntasks: [{ id: t, judge: { use: tone } }]\n".to_vec())
    }

    fn recorded(&self, path: &Path) -> Option<Vec<u8>> {
        (path == Path::new("jurat:judges/tone.yaml")).then(|| self.0.as_bytes().to_vec())
    }
}

#[test]
fn a_recorded_suite_has_the_judge_that_it_was_run_with() {
    let earlier = "judge: tone\ndescription: as it was\ninputs: { text: { about: a text } }\n\
                   prompt: Is ${text} kind?\noutput: { kind: boolean }\n";
    let loaded = load(Path::new("suite.yaml"), &Recorded(earlier));
    assert_eq!(loaded.problems, []);
    let TaskKind::Judge(judge) = &loaded.suite.tasks[0].kind else { panic!("it is a judge") };
    assert_eq!(judge.prompt.chat.text(), "Is ${text} kind?");
    let stored =
        loaded.sources.iter().any(|(_, it)| it.path == Path::new("jurat:judges/tone.yaml") && it.text == earlier);
    assert!(stored, "the text of the judge is one of the sources that a run stores");
}
