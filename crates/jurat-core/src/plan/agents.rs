//! Agents and their cases: what they name elsewhere in the suite, and what does not fit together.

use super::roles::Roles;
use super::servers;
use crate::agent::Runner;
use crate::suite::problem::{Problem, Problems, listed_all};
use crate::suite::{AgentCaseText, AgentName, AgentText, SUBJECT, Suite, codes};

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
}

fn unknown_agent(suite: &Suite, case: &AgentCaseText) -> Option<Problem> {
    let names = || suite.agents.iter().map(|it| it.name.value.as_str());
    let problem = match &case.agent {
        AgentName::Named(name) if suite.lost.has_agent(&name.value) => return None,
        AgentName::Named(name) => {
            let problem = Problem::new(&codes::UNKNOWN_AGENT, format!("there is no agent `{}`", name.value));
            problem.at(name.span, "unknown agent").did_you_mean(&name.value, names())
        }
        AgentName::Only | AgentName::Here(_) if suite.lost.agents || !suite.lost.agent_names.is_empty() => return None,
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
    match (runner == Runner::Recorded, &case.artifact) {
        (true, None) => {
            let message = format!("the case `{}` is for the runner `recorded`, and has no `artifact`", case.id.value);
            let problem = Problem::new(&codes::MISSING_KEY, message).at(case.id.span, "recorded where?");
            problems.push(problem.help("`artifact` is the file of a run artifact"));
        }
        (false, Some(artifact)) => {
            let message = format!("`artifact` is for the runner `recorded`, and this case is for `{}`", runner.name());
            let problem = Problem::new(&codes::CONFLICT, message).at(artifact.span, "for nobody");
            problems.push(problem.help("drop it, or give the case to an agent with `runner: recorded`"));
        }
        _ => {}
    }
    if case.turns.len() > 1 && !runner.takes_turns() {
        let message =
            format!("`{}` can be told one thing in a run, and this case has {}", runner.name(), case.turns.len());
        let problem = Problem::new(&codes::CONFLICT, message)
            .at(case.turns_span, "several turns")
            .at(agent.runner, "this runner");
        problems.push(problem.help("make one `task` of it, or give it to another agent"));
    }
    if case.turns.is_empty() && runner != Runner::Recorded && case.artifact.is_none() {
        let problem = Problem::new(&codes::MISSING_KEY, format!("the case `{}` has no `task`", case.id.value));
        problems.push(problem.at(case.id.span, "asks for nothing").help("`task` is what the agent is told"));
    }
    if agent.agent.asks() == Some(SUBJECT) && agent.model.is_none() && !roles.has(SUBJECT) {
        let message = format!("the agent `{}` has no model", agent.agent.name);
        let problem = Problem::new(&codes::NO_MODEL, message).at(agent.runner, "asks the role `subject`");
        problems.push(roles.nobody_plays(SUBJECT, problem));
    }
}
