//! Agents and their cases: what they name elsewhere in the suite, and what does not fit together.

use jurat_format::codes;
use jurat_format::problem::{Problem, Problems, listed_all};

use super::roles::Roles;
use super::servers;
use crate::agent::Runner;
use crate::section::lost::Part;
use crate::suite::{AgentCaseText, AgentName, AgentText, SUBJECT, Suite, TaskKind};

pub(super) fn examine(suite: &Suite, roles: &Roles<'_>, problems: &mut Problems) {
    let here = suite.cases.iter().filter_map(|it| match &it.agent {
        AgentName::Here(agent) => Some(&**agent),
        AgentName::Only | AgentName::Named(_) => None,
    });
    for agent in suite.agents.iter().chain(here) {
        roles.examine(&agent.model, problems);
        servers::examine(suite, &agent.servers, &agent.filtered, problems);
    }
    for case in &suite.cases {
        match case.agent_in(suite) {
            Some(agent) => examine_case(roles, case, agent, problems),
            None => problems.extend(unknown_agent(suite, case)),
        }
    }
    unlisted_artifacts(suite, problems);
}

/// What the runs of agents list beside their key outputs.
const LISTED: [&str; 4] = ["key_output", "raw_session_trace", "logs", "wire"];

/// Checks for artifacts of a type that no run of this suite lists. Runs that come from elsewhere may list any.
fn unlisted_artifacts(suite: &Suite, problems: &mut Problems) {
    let runners: Option<Vec<&Runner>> = suite.cases.iter().map(|it| Some(it.agent_in(suite)?.agent.runner)).collect();
    let Some(runners) = runners.filter(|it| !it.is_empty() && suite.records.is_empty()) else { return };
    if suite.lost.any(Part::Case) || runners.iter().any(|it| it.is_recorded() || it.is_function()) {
        return;
    }
    let mut types: Vec<String> =
        runners.iter().flat_map(|runner| LISTED.map(|kind| format!("{}_{kind}", runner.name))).collect();
    types.sort_unstable();
    types.dedup();
    for task in &suite.tasks {
        let TaskKind::Check(check) = &task.kind else { continue };
        let Some(wanted) = check.artifact_type() else { continue };
        if !types.iter().any(|it| it == wanted) {
            let message = format!("no run of this suite lists an artifact of the type `{wanted}`");
            let problem = Problem::new(&codes::NEVER_APPLIES, message).at(task.id.span, "never passes");
            let names = || types.iter().map(String::as_str);
            problems.push(problem.did_you_mean(wanted, names()).help(format!("runs list {}", listed_all(names()))));
        }
    }
}

fn unknown_agent(suite: &Suite, case: &AgentCaseText) -> Option<Problem> {
    let names = || suite.agents.iter().map(|it| it.name.value.as_str());
    let problem = match &case.agent {
        AgentName::Named(name) if suite.lost.has(Part::Agent, &name.value) => return None,
        AgentName::Named(name) => {
            let problem = Problem::new(&codes::UNKNOWN_AGENT, format!("there is no agent `{}`", name.value));
            problem.at(name.span, "unknown agent").did_you_mean(&name.value, names())
        }
        AgentName::Only | AgentName::Here(_) if suite.lost.any(Part::Agent) => return None,
        AgentName::Only | AgentName::Here(_) => {
            let message = format!("the case `{}` does not say which agent it is for", case.id.value);
            Problem::new(&codes::UNKNOWN_AGENT, message).at(case.id.span, "for whom?")
        }
    };
    Some(match suite.agents.as_slice() {
        [] => problem.help("define one, for example `agents: { helper: { runner: claude_code } }`"),
        _ => problem.help(format!("`agents` has {}", listed_all(names()))),
    })
}

fn examine_case(roles: &Roles<'_>, case: &AgentCaseText, agent: &AgentText, problems: &mut Problems) {
    let runner = agent.agent.runner;
    match (runner.is_recorded(), &case.artifact) {
        (true, None) => {
            let message = format!("the case `{}` is for the runner `recorded`, and has no `artifact`", case.id.value);
            let problem = Problem::new(&codes::MISSING_KEY, message).at(case.id.span, "recorded where?");
            problems.push(problem.help("`artifact` is the file of a run artifact"));
        }
        (false, Some(artifact)) => {
            let message = format!("`artifact` is for the runner `recorded`, and this case is for `{}`", runner.name);
            let problem = Problem::new(&codes::CONFLICT, message).at(artifact.span, "without effect");
            problems.push(problem.help("drop it, or give the case to an agent with `runner: recorded`"));
        }
        _ => {}
    }
    if case.turns.len() > 1 && !runner.takes_turns {
        let message = format!("`{}` takes one turn in a run, and this case has {}", runner.name, case.turns.len());
        let problem = Problem::new(&codes::CONFLICT, message)
            .at(case.turns_span, "several turns")
            .at(agent.runner, "this runner");
        problems.push(problem.help("make one `task` of it, or give it to another agent"));
    }
    if case.turns.is_empty() && !runner.is_recorded() && case.artifact.is_none() {
        let problem = Problem::new(&codes::MISSING_KEY, format!("the case `{}` has no `task`", case.id.value));
        problems.push(problem.at(case.id.span, "asks for nothing").help("`task` is the input of the agent"));
    }
    if agent.agent.asks() == Some(SUBJECT) && agent.model.is_none() && !roles.has(SUBJECT) {
        let message = format!("the agent `{}` has no model", agent.agent.name);
        let problem = Problem::new(&codes::NO_MODEL, message).at(agent.runner, "asks the role `subject`");
        problems.push(roles.without_model(SUBJECT, problem));
    }
}
