//! Whole task graphs over one record, with canned replies of judges.

use std::collections::BTreeMap;
use std::path::Path;

use jurat_core::case::{CaseState, ReadyRequest};
use jurat_core::effect::{Answer, Asker, Fault, FaultKind, Outcome};
use jurat_core::plan::{Plan, Samples};
use jurat_core::suite::{Loaded, load};
use jurat_core::verdict::Verdict;
use jurat_format::problem::{Problem, Severity};
use jurat_format::value::{Map, Val, Value};

use super::{Answer as Compared, Memory, object, part, same, text_part};

pub(super) fn run(case: &Val<'_>) -> Result<Compared, String> {
    let input = part(case, "input")?;
    let expected = part(case, "expect")?;
    let got = evaluated(input)?;
    // Only what the case says something about is compared.
    let members = expected.as_map().ok_or("`expect` is not an object")?;
    let right = members.iter().all(|(key, value)| got.get(key).is_some_and(|it| same(value, it)));
    Ok(Compared { expected: expected.to_string(), got: got.to_string(), right })
}

fn evaluated(input: &Val<'_>) -> Result<Value, String> {
    let context = part(input, "context")?;
    let tasks = part(input, "tasks")?.as_list().ok_or("`tasks` is not a list")?;
    let Loaded { suite, problems, .. } = load(Path::new("suite.json"), &Memory(definition(context, tasks)?));
    let samples = Samples { is_partial: true, ..Samples::default() };
    let plan = match Plan::build(&suite, &samples) {
        Ok((plan, _)) if !problems.iter().any(|it| it.severity() == Severity::Error) => plan,
        Ok(_) => return rejected(&problems),
        Err(more) => return rejected(&problems.into_iter().chain(more).collect::<Vec<_>>()),
    };
    let replies: BTreeMap<String, &Val<'_>> =
        tasks.iter().map(|it| Ok((text_part(it, "id")?.to_lowercase(), it))).collect::<Result<_, String>>()?;
    Ok(performed(&plan, context, &replies))
}

/// The definition as an author would write it.
fn definition(context: &Val<'_>, tasks: &[Val<'_>]) -> Result<String, String> {
    let tasks: Vec<Value> = tasks.iter().map(|it| task(it)).collect::<Result<_, _>>()?;
    Ok(Val::Map(suite([
        ("records", [context.clone().into_owned()].into_iter().collect()),
        ("tasks", Val::List(tasks)),
    ]))
    .to_string())
}

fn suite(members: [(&'static str, Value); 2]) -> Map<'static> {
    members.into_iter().collect()
}

fn task(task: &Val<'_>) -> Result<Value, String> {
    let mut written: Map<'static> = Map::default();
    for key in ["id", "field_path", "item_field_path", "operator", "expected_value", "depends_on", "condition"] {
        if let Some(value) = task.get(key) {
            written.insert(key.into(), value.clone().into_owned());
        }
    }
    if text_part(task, "type")? == "judge" {
        let prompt = task.get("prompt").cloned().unwrap_or(Val::from("Judge ${user_input}"));
        let mut judge: Map<'static> = [("prompt", prompt.into_owned())].into_iter().collect();
        if let Some(retries) = task.get("max_retries") {
            judge.insert("max_retries".into(), retries.clone().into_owned());
        }
        written.insert("judge".into(), Val::Map(judge));
    }
    Ok(Val::Map(written))
}

fn rejected(problems: &[Problem]) -> Result<Value, String> {
    let kind = |problem: &Problem| match problem.code.name {
        "plan::no_tasks" => Some("no_tasks"),
        "plan::duplicate_id" => Some("duplicate_id"),
        "plan::unknown_dependency" => Some("unknown_dependency"),
        "plan::cycle" => Some("cycle"),
        "plan::no_placeholder" => Some("judge_without_parameters"),
        _ => None,
    };
    match problems.iter().find_map(kind) {
        Some(kind) => Ok(object([("validation_error", Val::from(kind))])),
        None => Err(problems.iter().map(|it| it.message.clone()).collect::<Vec<_>>().join("; ")),
    }
}

fn performed(plan: &Plan, context: &Val<'_>, replies: &BTreeMap<String, &Val<'_>>) -> Value {
    let mut state = CaseState::start(plan, context);
    let mut attempts: BTreeMap<String, u32> = BTreeMap::new();
    let mut prompts: BTreeMap<String, String> = BTreeMap::new();
    loop {
        let Some((site, outcome)) = state.steps().next().map(|ready| {
            let Asker::Task(task) = ready.site.asker else { unreachable!("a record asks nobody itself") };
            let id = plan.tasks[task.index()].id.to_lowercase();
            let (outcome, n_requests) = reply_of(replies[&id], ready.max_requests);
            *attempts.entry(id.clone()).or_default() += n_requests;
            if let ReadyRequest::Model(request) = ready.request {
                prompts.entry(id).or_insert_with(|| request.messages[0].text().to_owned());
            }
            (ready.site, outcome)
        }) else {
            break;
        };
        state.apply(site, outcome);
    }
    report(plan, &state, &attempts, &prompts)
}

/// A call that fails each time is repeated as often as it may be; that is the transport's part.
fn reply_of(task: &Val<'_>, max_requests: u32) -> (Outcome, u32) {
    let answer = |text: String| (Outcome::Answer(Box::new(Answer::new(text))), 1);
    match (task.get("output"), task.get("raw").and_then(Val::as_str), task.get("http_status")) {
        (Some(output), ..) => answer(output.to_string()),
        (None, Some(raw), _) => answer(raw.to_owned()),
        (None, None, status) => {
            let message = format!("status {}", status.map(Val::to_string).unwrap_or_default());
            (Outcome::Fault(Box::new(Fault::new(FaultKind::NoAnswer, message, max_requests))), max_requests)
        }
    }
}

fn report(
    plan: &Plan,
    state: &CaseState<'_>,
    attempts: &BTreeMap<String, u32>,
    prompts: &BTreeMap<String, String>,
) -> Value {
    let id = |ix: usize| plan.tasks[ix].id.to_lowercase();
    let stages = plan.stages.iter().map(|stage| {
        let mut ids: Vec<String> = stage.iter().map(|it| id(it.index())).collect();
        ids.sort_unstable();
        ids.into_iter().map(Val::from).collect()
    });
    let verdicts: Map<'static> =
        state.verdicts().enumerate().map(|(ix, it)| (id(ix), Val::from(it.map_or("open", Verdict::name)))).collect();
    let errored = state.verdicts().flatten().any(|it| matches!(it, Verdict::Error(_)));
    let counts = state.counts();
    let number = |n: u64| Val::from(n);
    object([
        ("plan", stages.collect()),
        ("tasks", Val::Map(verdicts)),
        (
            "counts",
            object([
                ("total", number(counts.total())),
                ("passed", number(counts.passed)),
                ("failed", number(counts.failed)),
                ("errored", number(counts.errored)),
                ("skipped", number(counts.skipped)),
            ]),
        ),
        ("pass_rate", counts.pass_rate().map_or(Val::Null, Val::F)),
        ("record_success", Val::Bool(!errored)),
        ("judge_calls", attempts.keys().map(|it| Val::from(it.clone())).collect()),
        ("judge_attempts", Val::Map(attempts.iter().map(|(id, n)| (id.clone(), Val::from(u64::from(*n)))).collect())),
        ("bound_prompts", Val::Map(prompts.iter().map(|(id, text)| (id.clone(), Val::from(text.clone()))).collect())),
    ])
}
