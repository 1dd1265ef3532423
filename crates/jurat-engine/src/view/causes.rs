//! Why cases could not be judged: equal reasons are counted together, the most frequent first.
//!
//! Reasons of two cases are equal when they differ only in numbers, ids and quoted texts. The number of distinct reasons is limited, so memory does not
//! grow with the number of cases.

use std::collections::HashMap;

use jurat_core::effect::{Asker, Endpoint, FaultClass, FaultKind, Outcome, Role};
use jurat_core::plan::{CaseIx, TaskIx};
use jurat_core::report::Cause;
use jurat_store::run::CaseErrors;

use super::query::quoted_value;
use super::revisit::Happened;
use super::{RunView, ViewError};
use crate::roles::CALL;

/// How many distinct reasons there are at most.
const MOST_CAUSES: usize = 50;
/// How many cases and tasks of a reason are named.
const EXAMPLES: usize = 3;

/// Reasons, and what is left over when there are too many of them.
#[derive(Debug, Default)]
pub(super) struct Causes {
    pub(super) causes: Vec<Cause>,
    pub(super) n_other: u64,
    /// Cases that no task applies to.
    pub(super) n_without_task: u64,
}

/// One reason while cases are counted.
struct Group {
    n_cases: u64,
    message: String,
    tasks: Vec<TaskIx>,
    cases: Vec<String>,
    first: CaseIx,
}

/// Counts the reasons of all cases of a run that could not be judged.
pub(super) fn causes(view: &RunView) -> Result<Causes, ViewError> {
    let mut grouping = Grouping { view, groups: Vec::new(), by_reason: HashMap::new(), n_other: 0, n_without_task: 0 };
    for case in view.reader.errors() {
        grouping.add(&case?);
    }
    let Grouping { mut groups, n_other, n_without_task, .. } = grouping;
    // Equal counts stay in the order of input.
    groups.sort_by_key(|it| std::cmp::Reverse(it.n_cases));
    let causes = groups.into_iter().map(|it| cause(view, it)).collect::<Result<_, _>>()?;
    Ok(Causes { causes, n_other, n_without_task })
}

struct Grouping<'v> {
    view: &'v RunView,
    groups: Vec<Group>,
    by_reason: HashMap<String, usize>,
    n_other: u64,
    n_without_task: u64,
}

impl Grouping<'_> {
    /// Counts a case once for each of its reasons.
    fn add(&mut self, case: &CaseErrors) {
        let mut counted: Vec<usize> = Vec::new();
        let mut is_other = false;
        self.n_without_task += u64::from(case.reasons.iter().all(|(column, _)| column.task().is_none()));
        for (column, message) in &case.reasons {
            let Some(ix) = self.group(message, case) else {
                is_other = true;
                continue;
            };
            if !counted.contains(&ix) {
                counted.push(ix);
            }
            let group = &mut self.groups[ix];
            if let Some(task) = column.task()
                && group.tasks.len() < EXAMPLES
                && !group.tasks.contains(&task)
            {
                group.tasks.push(task);
            }
        }
        for ix in &counted {
            let group = &mut self.groups[*ix];
            group.n_cases += 1;
            if group.cases.len() < EXAMPLES {
                group.cases.push(self.view.name_of(&case.case));
            }
        }
        self.n_other += u64::from(is_other && counted.is_empty());
    }

    /// The group of a reason; nothing when there are too many already.
    fn group(&mut self, message: &str, case: &CaseErrors) -> Option<usize> {
        let reason = normalised(message, &case.case.id);
        if let Some(ix) = self.by_reason.get(&reason) {
            return Some(*ix);
        }
        if self.groups.len() == MOST_CAUSES {
            return None;
        }
        let group = Group {
            n_cases: 0,
            message: message.to_owned(),
            tasks: Vec::new(),
            cases: Vec::new(),
            first: case.case.case_ix,
        };
        self.groups.push(group);
        self.by_reason.insert(reason, self.groups.len() - 1);
        Some(self.groups.len() - 1)
    }
}

/// A reason with where it comes from and what to do about it, as far as the first case of it shows that.
fn cause(view: &RunView, group: Group) -> Result<Cause, ViewError> {
    let happened = view.happened(group.first)?;
    let origin = origin(&group, &happened).unwrap_or_default();
    let Origin { role, key_env, class, remedy, is_garbled, is_local } = origin;
    let remedy = match (class, &key_env) {
        _ if remedy.is_some() => remedy.map(str::to_owned),
        (Some(FaultClass::WrongKey), Some(variable)) => Some(format!("check the key in `{variable}`")),
        (Some(FaultClass::InvalidReply), _) if is_garbled => {
            Some("see what was sent with `jurat explain`, and fix the endpoint or the program".to_owned())
        }
        (Some(FaultClass::InvalidReply), _) => Some(reply_remedy(view, &group, is_local).to_owned()),
        (class, _) => class.and_then(FaultClass::remedy).map(str::to_owned),
    };
    let mut tasks: Vec<String> = group.tasks.iter().map(|it| view.plan.tasks[it.index()].id.clone()).collect();
    // Scenarios may have outcomes of the same name.
    tasks.dedup();
    Ok(Cause {
        n_cases: group.n_cases,
        message: without_requests(&group.message),
        role: role.map(|it| it.name().to_owned()),
        key_env,
        remedy,
        tasks,
        cases: group.cases,
    })
}

/// What to do about a reply that cannot be used.
fn reply_remedy(view: &RunView, group: &Group, is_local: bool) -> &'static str {
    let mut judges = group.tasks.iter().filter_map(|it| view.plan.tasks[it.index()].work.judge());
    if group.message.contains("cut off at `max_tokens`") {
        "raise `max_tokens` on the model"
    } else if judges.any(|it| it.output.is_none()) {
        "say what the judge answers with `output`, and read a field of it"
    } else if is_local {
        "read the reply with `jurat explain`"
    } else {
        "read the reply with `jurat explain`; `structured` on the model may help"
    }
}

/// The request that a reason is about.
#[derive(Default)]
struct Origin {
    role: Option<Role>,
    key_env: Option<String>,
    class: Option<FaultClass>,
    /// What helps, where that is not what helps against other faults of the class.
    remedy: Option<&'static str>,
    /// Whether the response is not what the protocol asks for, so that there is no reply in it.
    is_garbled: bool,
    /// Whether a script, a program or a function was asked, which have no `structured`.
    is_local: bool,
}

fn is_local(endpoint: &Endpoint) -> bool {
    matches!(endpoint.codec.as_str(), "script" | "exec" | CALL)
}

/// The request without a response that the reason quotes; else the last one that its task made.
fn origin(group: &Group, happened: &[Happened]) -> Option<Origin> {
    let fault = |it: &Happened| match &it.outcome {
        Outcome::Fault(fault) if group.message.contains(&fault.message) => {
            // Code and tools have no role, and nothing is known of what would help.
            let Some((endpoint, _)) = it.asked() else { return Some(Origin::default()) };
            Some(Origin {
                role: fault.role.clone(),
                key_env: fault.key_env.clone().filter(|_| fault.class == FaultClass::WrongKey),
                class: Some(fault.class),
                remedy: match fault.kind {
                    FaultKind::TurnDeadline => Some("raise `turn_timeout` of the scenario"),
                    FaultKind::CaseDeadline => Some("raise `timeout` of the scenario"),
                    _ => None,
                },
                is_garbled: fault.kind == FaultKind::Garbled,
                is_local: is_local(&endpoint),
            })
        }
        of_agent => {
            let (class, _) = of_agent.endpoint_fault().filter(|(_, message)| group.message.contains(*message))?;
            // The agent gave up by a timeout of its own, which jurat does not know.
            let remedy = (class == FaultClass::Timeout).then_some("resume the run when the endpoint answers");
            Some(Origin { class: Some(class), remedy, ..Origin::default() })
        }
    };
    let of_task = |it: &&Happened| group.tasks.iter().any(|task| it.effect.site.asker == Asker::Task(*task));
    let reply = || {
        let found = happened.iter().rev().find(of_task)?;
        let (endpoint, request) = found.asked()?;
        // Judges that disagree have replied as they should.
        let class = group.message.contains("reply").then_some(FaultClass::InvalidReply);
        Some(Origin { role: Some(request.model), class, is_local: is_local(&endpoint), ..Origin::default() })
    };
    happened.iter().find_map(fault).or_else(reply)
}

/// The reason without the number of requests at its end: `(role judge, 2 requests)`.
fn without_requests(message: &str) -> String {
    let is_count = |it: &str| {
        let digits = it.strip_suffix(" requests").or_else(|| it.strip_suffix(" request"));
        digits.is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()))
    };
    let Some((rest, notes)) = message.strip_suffix(')').and_then(|it| it.rsplit_once(" (")) else {
        return message.to_owned();
    };
    let notes: Vec<&str> = notes.split(", ").filter(|it| !is_count(it)).collect();
    if notes.is_empty() { rest.to_owned() } else { format!("{rest} ({})", notes.join(", ")) }
}

/// What equal reasons have in common: numbers, ids and long quotations are replaced, except what distinguishes causes, such as a status, a model or an
/// address.
fn normalised(message: &str, id: &str) -> String {
    let mut text = String::with_capacity(message.len());
    let quoted = format!("`{id}`");
    let message = without_requests(message).replace(&quoted, "`…`");
    for (ix, part) in message.split('`').enumerate() {
        text.push_str(if ix > 0 { "`" } else { "" });
        let is_quotation = ix % 2 == 1 && (part.len() > LONG_QUOTATION || part.contains(char::is_whitespace));
        if is_quotation {
            text.push('…');
        } else {
            push_normalised(&mut text, part);
        }
    }
    text
}

/// A query for the cases of a reason: by the texts that all of them have in common. What differs between them stands between those texts.
pub fn cause_query(cause: &Cause) -> String {
    // The notes at the end have a number of requests among them.
    let has_requests = without_requests(&cause.message) != cause.message;
    let message = cause.message.rsplit_once(" (").filter(|_| has_requests).map_or(cause.message.as_str(), |it| it.0);
    let common = normalised(message, cause.cases.first().map_or("", String::as_str));
    let says_something = |it: &&str| it.chars().filter(|it| it.is_alphanumeric()).count() >= SHORTEST_PIECE;
    let pieces = common.split(['#', '…']).map(str::trim).filter(says_something);
    let terms = pieces.map(|it| format!("why:{}", quoted_value(it)));
    std::iter::once("verdict:error".to_owned()).chain(terms).collect::<Vec<_>>().join(" ")
}

/// Fewer letters and digits stand in other messages by chance.
const SHORTEST_PIECE: usize = 3;

/// A name in backticks is shorter; what a model said is longer.
const LONG_QUOTATION: usize = 60;

fn push_normalised(text: &mut String, part: &str) {
    let is_word = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '_' | '-');
    let mut rest = part;
    let mut is_status = text.ends_with("status ") || text.ends_with("HTTP ");
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|it| is_word(it) != is_word(first)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        // A port belongs to its address.
        let is_port = text.ends_with(':') && !text.ends_with("#:");
        let is_same = !is_word(first) || is_status || is_port || !is_variable(word);
        text.push_str(if is_same { word } else { "#" });
        is_status = (is_status && word == " ") || matches!(word, "HTTP" | "status");
        rest = after;
    }
}

/// Whether a word is a number or an id, which differs from request to request. Models and addresses have digits, too.
fn is_variable(word: &str) -> bool {
    let word = word.trim_end_matches('.');
    let has_digit = word.bytes().any(|it| it.is_ascii_digit());
    let has_letter = word.bytes().any(|it| it.is_ascii_alphabetic());
    let longest = word.split(['-', '_', '.']).map(str::len).max().unwrap_or(0);
    let is_address = word.split('.').count() == 4;
    has_digit && !is_address && (!has_letter || longest > LONGEST_NAME)
}

/// The parts of a model's name are not longer: `claude-sonnet-4-20250514`.
const LONGEST_NAME: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn equal(one: &str, other: &str) {
        assert_eq!(normalised(one, "r1"), normalised(other, "r2"));
    }

    #[track_caller]
    fn different(one: &str, other: &str) {
        assert_ne!(normalised(one, "r1"), normalised(other, "r1"));
    }

    #[test]
    fn numbers_ids_and_quotations_do_not_tell_reasons_apart() {
        equal("no response within 1.5 s (2 requests)", "no response within 12 s (14 requests)");
        equal("HTTP 500: request req_011CSHoEeqs5C35K2UUqR7Fy", "HTTP 500: request req_99aCSHoEeqs5C35K2UUqR7Fz");
        equal("not JSON: it is `I think so`", "not JSON: it is `Well, let me see`");
        equal("diverged at task `tone` of `r1`", "diverged at task `tone` of `r2`");
        equal("expected value (line 1, column 2)", "expected value (line 7, column 19)");
        equal("HTTP 429: try again in 3s", "HTTP 429: try again in 3s");
    }

    #[test]
    fn the_cases_of_a_reason_are_found_by_what_their_messages_have_in_common() {
        let query = |message: &str| {
            let cause = Cause { message: message.to_owned(), cases: vec!["r1".to_owned()], ..Cause::default() };
            cause_query(&cause)
        };
        assert_eq!(query("HTTP 400: the endpoint is down"), "verdict:error why:\"HTTP 400: the endpoint is down\"");
        assert_eq!(
            query("no response within 1.5 s (role judge, 2 requests)"),
            "verdict:error why:\"no response within\""
        );
        assert_eq!(query("diverged at task `tone` of `r1`"), "verdict:error why:\"diverged at task `tone` of `\"");
        assert_eq!(query("not JSON: it is `I think so`, in 12 of 14"), "verdict:error why:\"not JSON: it is `\"");
    }

    #[test]
    fn statuses_models_addresses_and_names_do() {
        different("HTTP 401 from api: no", "HTTP 403 from api: no");
        different("the model answered with status 503", "the model answered with status 500");
        different("HTTP 404 from 127.0.0.1:8080", "HTTP 404 from 127.0.0.1:8081");
        different("HTTP 404 from 10.0.0.1:80", "HTTP 404 from 10.0.0.2:80");
        different("no model `gpt-4.1`", "no model `gpt-4o-mini-2024-07-18`");
        different("`anwser` is not in the record", "`q1` is not in the record");
    }

    #[test]
    fn the_number_of_requests_is_left_out() {
        assert_eq!(without_requests("no answer (2 requests)"), "no answer");
        assert_eq!(without_requests("no answer (1 request)"), "no answer");
        assert_eq!(without_requests("no answer (role judge, 2 requests)"), "no answer (role judge)");
        assert_eq!(without_requests("no answer (as usual)"), "no answer (as usual)");
    }
}
