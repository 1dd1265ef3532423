//! One case: what it is judged by, and everything that a verdict rests on.

use std::rc::Rc;

use http::StatusCode;
use jurat_core::plan::TaskIx;
use jurat_core::report::explanation::Explanation;
use jurat_engine::view::query::Query;
use jurat_engine::view::{Code, Column, RunView, StoredCase, ViewError};
use jurat_format::value::{Value, parse_json};
use jurat_report::explanation;
use jurat_store::run::RunFileError;
use serde_json::json;

use super::labelling::{self, Sent};
use super::{Answer, Failure, Kind, Shown, Work, asked};
use crate::page::case::{self, CasePage, Neighbours, Place, Replicate, TaskLine};
use crate::page::labelling::Labelling;
use crate::route::{self, Form, Look, Route, VariantName};

pub(super) fn answer(work: &Work<'_>, shown: &Shown<'_>, route: &route::Case) -> Result<Answer, Failure> {
    let view = shown.view;
    let cases = view.cases_named(&route.id)?;
    let case = meant(view, &cases, &route.variant).ok_or_else(|| no_case(shown, route))?;
    let tasks = task_lines(view, case);
    let chosen = chosen(&tasks, route)?;
    if work.form == Form::Json {
        return json_of(view, case, &tasks);
    }
    let mut page = case_page(view, case, shown.id, Place::Viewer)?;
    page.route = route::Case { variant: name_of(view, case), ..route.clone() };
    page.replicates = replicates(view, &cases, case);
    page.neighbours = neighbours(work, view, case, route)?;
    page.asked = page.agent.as_ref().and_then(|it| asked::asked(work, shown, it, route.look.asked));
    if let Some(ix) = chosen {
        page.explained = explained(view, case, ix)?;
        page.labelling = Some(labels_of(work, shown, case, TaskIx(ix))?);
    }
    Ok(Answer::page(StatusCode::OK, &case::page(&page)))
}

/// A case with its evidence: what a page has of it wherever it is shown.
pub(crate) fn case_page(view: &RunView, case: &StoredCase, run: &str, place: Place) -> Result<CasePage, ViewError> {
    let name = view.case_name(case);
    let row = row_of(view, case).map(Rc::new);
    // What an agent did is its row, and may be large.
    let is_agent = |it: &&Rc<Value>| view.agent_case(case).is_some() && it.get("identity").is_some();
    Ok(CasePage {
        place,
        run: run.to_owned(),
        suite: view.head().suite.clone(),
        route: route::Case { id: name.clone(), variant: name_of(view, case), ..route::Case::default() },
        name,
        code: case.code(Column::CASE),
        message: case.detail(Column::CASE).and_then(|it| it.message.as_deref()).unwrap_or_default().to_owned(),
        took: case.took,
        spent: if view.plan().asks() { Some(view.spent_of(case.case_ix)?) } else { None },
        replicates: Vec::new(),
        neighbours: None,
        tasks: task_lines(view, case),
        explained: None,
        graph: scenario_graph(view, case)?,
        transcript: if_readable(view.transcript(case))?,
        asked: None,
        agent: row.as_ref().ok().filter(is_agent).cloned(),
        labelling: None,
        row,
    })
}

/// What a task rests on, without the conversation, which belongs to the case.
pub(crate) fn explained(view: &RunView, case: &StoredCase, task: u32) -> Result<Option<Explanation>, ViewError> {
    let explained = if_readable(view.explain(case, TaskIx(task)))?;
    Ok(explained.map(|it| Explanation { transcript: None, ..it }))
}

/// Nothing where the row of a case cannot be read, because its file changed since or is gone: verdicts are there all the same, and the page says why the rest is not.
fn if_readable<T>(read: Result<Option<T>, ViewError>) -> Result<Option<T>, ViewError> {
    match read {
        Err(ViewError::File(RunFileError::SourceChanged { .. } | RunFileError::SourceUnreadable { .. })) => Ok(None),
        read => read,
    }
}

fn labels_of(work: &Work<'_>, shown: &Shown<'_>, case: &StoredCase, task: TaskIx) -> Result<Labelling, Failure> {
    let view = shown.view;
    let id = &view.plan().tasks[task.index()].id;
    let sent = Sent::about(shown.id, &view.case_name(case), &name_of(view, case), id);
    labelling::labelling(work, shown, case, task, sent)
}

/// The case of a row that a variant names; without, the first.
pub(super) fn meant<'c>(view: &RunView, cases: &'c [StoredCase], variant: &VariantName) -> Option<&'c StoredCase> {
    cases.iter().find(|it| is_meant(&name_of(view, it), variant))
}

/// Whether a case is one that a name means, which may leave out what distinguishes cases.
pub(super) fn is_meant(own: &VariantName, named: &VariantName) -> bool {
    let is = |named: &Option<String>, own: &Option<String>| named.is_none() || named == own;
    is(&named.prompt, &own.prompt)
        && is(&named.subject, &own.subject)
        && (named.replicate.is_none() || named.replicate == own.replicate)
}

pub(super) fn name_of(view: &RunView, case: &StoredCase) -> VariantName {
    let variant = view.variant(case.case_ix);
    let named = |it: &String| (!it.is_empty()).then(|| it.clone());
    let is_repeated = view.head().variants.iter().any(|it| it.replicate > 0);
    VariantName {
        prompt: variant.and_then(|it| named(&it.prompt)),
        subject: variant.and_then(|it| named(&it.subject)),
        replicate: variant.filter(|_| is_repeated).map(|it| it.replicate + 1),
    }
}

fn no_case(shown: &Shown<'_>, route: &route::Case) -> Failure {
    let meant = vec![("All cases of this run".to_owned(), Route::cases(shown.id, ""))];
    Failure::NotFound { reason: format!("the run has no case `{}`", route.id), meant }
}

/// The tasks of a case, in the order of the graph: what a gate guards stands below it.
fn task_lines(view: &RunView, case: &StoredCase) -> Vec<TaskLine> {
    let plan = view.plan();
    let line = |ix: usize| {
        let column = Column::from(TaskIx(ix as u32));
        let task = &plan.tasks[ix];
        let because = case.detail(column).and_then(|it| it.because).and_then(Column::task);
        TaskLine {
            ix: ix as u32,
            id: task.id.clone(),
            gate: task.gate,
            depth: 0,
            code: case.code(column),
            because: because.and_then(|it| plan.tasks.get(it.index())).map(|it| it.id.clone()),
            label: case.labels.iter().find(|(it, _)| *it == column).map(|(_, it)| it.clone()),
            score: case.scores.iter().find(|(it, _)| *it == column).map(|(_, it)| *it),
        }
    };
    let is_for = |it: &TaskLine| it.code != Code::Absent;
    let order = tree_order(view);
    order.into_iter().map(|(ix, depth)| TaskLine { depth, ..line(ix) }).filter(is_for).collect()
}

/// Tasks with how deep each stands: below the last of those that it depends on.
fn tree_order(view: &RunView) -> Vec<(usize, usize)> {
    let tasks = &view.plan().tasks;
    let parent = |ix: usize| tasks[ix].depends_on.iter().map(|it| it.index()).max();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); tasks.len()];
    let mut open: Vec<(usize, usize)> = Vec::new();
    for ix in (0..tasks.len()).rev() {
        match parent(ix) {
            Some(above) => children[above].push(ix),
            None => open.push((ix, 0)),
        }
    }
    let mut order = Vec::with_capacity(tasks.len());
    while let Some((ix, depth)) = open.pop() {
        order.push((ix, depth));
        open.extend(children[ix].iter().map(|it| (*it, depth + 1)));
    }
    order
}

/// The task that is explained.
fn chosen(tasks: &[TaskLine], route: &route::Case) -> Result<Option<u32>, Failure> {
    match &route.task {
        Some(id) => match tasks.iter().find(|it| it.id == *id) {
            Some(task) => Ok(Some(task.ix)),
            None => {
                let reason = format!("no task `{id}` applies to the case `{}`", route.id);
                Err(Failure::NotFound { reason, meant: Vec::new() })
            }
        },
        None => {
            let stands_out = |it: &&TaskLine| matches!(it.code, Code::Failed | Code::Error);
            Ok(tasks.iter().find(stands_out).or(tasks.first()).map(|it| it.ix))
        }
    }
}

fn replicates(view: &RunView, cases: &[StoredCase], own: &StoredCase) -> Vec<Replicate> {
    if cases.len() < 2 {
        return Vec::new();
    }
    let replicate = |it: &StoredCase| Replicate {
        variant: name_of(view, it),
        code: it.code(Column::CASE),
        is_own: it.case_ix == own.case_ix,
    };
    cases.iter().map(replicate).collect()
}

/// The cases before and after this one in the query that led here.
fn neighbours(
    work: &Work<'_>,
    view: &RunView,
    case: &StoredCase,
    route: &route::Case,
) -> Result<Option<Neighbours>, Failure> {
    let columns = labelling::columns(work, view)?;
    let Ok(query) = Query::parse(&route.q, view, &columns)? else { return Ok(None) };
    // Looking into all rows would take too long for a page of one case.
    if query.looks_into_rows() {
        return Ok(None);
    }
    let selection = query.candidates(view, &columns)?;
    let order = route.sort.order(route.descending, view, &columns)?.map_err(Failure::Bad)?;
    let number = u32::try_from(case.case_ix.number()).unwrap_or(u32::MAX);
    let Some(place) = order.place(selection.cases(), number) else { return Ok(None) };
    let link = |number: Option<u32>| -> Result<Option<route::Case>, Failure> {
        let Some(number) = number else { return Ok(None) };
        let stored =
            view.reader().case(jurat_core::plan::CaseIx::numbered(u64::from(number))).map_err(ViewError::from)?;
        Ok(stored.map(|it| route::Case {
            id: view.case_name(&it),
            variant: name_of(view, &it),
            turn: None,
            from: 0,
            look: Look { asked: 0, ..route.look },
            ..route.clone()
        }))
    };
    let codes = columns.codes(view, Column::CASE)?;
    let is_failing = |it: u32| matches!(codes.get(it as usize), Some(Some(Code::Failed | Code::Error)));
    let failing = order.place(selection.cases().filter(|it| *it == number || is_failing(*it)), number);
    Ok(Some(Neighbours {
        place: place.before + 1,
        of: selection.count(),
        before: link(place.previous)?,
        after: link(place.next)?,
        failing_before: link(failing.and_then(|it| it.previous).filter(|it| place.previous != Some(*it)))?,
        failing_after: link(failing.and_then(|it| it.next).filter(|it| place.next != Some(*it)))?,
    }))
}

/// The row or the evidence of a case, or why it is not there.
fn row_of(view: &RunView, case: &StoredCase) -> Result<Value, String> {
    let text = view.reader().row_text(case).map_err(|it| it.to_string())?;
    Ok(parse_json(&text).map_or_else(|_| Value::from(text.clone()), |it| it.value.into_owned()))
}

fn scenario_graph(
    view: &RunView,
    case: &StoredCase,
) -> Result<Option<jurat_core::report::scenario::ScenarioGraph>, ViewError> {
    let Some(scenario) = view.scenario(case) else { return Ok(None) };
    let name = scenario.scenario.name.clone();
    Ok(view.scenario_graphs()?.into_iter().find(|it| it.name == name))
}

/// Every task of the case as `jurat explain --json` has it.
fn json_of(view: &RunView, case: &StoredCase, tasks: &[TaskLine]) -> Result<Answer, Failure> {
    let mut explained = Vec::new();
    for task in tasks {
        if let Some(explanation) = if_readable(view.explain(case, TaskIx(task.ix)))? {
            explained.push(written(&explanation));
        }
    }
    let head = json!({
        "version": 1,
        "id": view.case_name(case),
        "verdict": case.code(Column::CASE).name(),
        "took_us": case.took.map(|it| it.as_micros() as u64),
    });
    let head = head.to_string();
    let body = format!("{},\"tasks\":[{}]}}", head.trim_end_matches('}'), explained.join(","));
    Ok(Answer::new(StatusCode::OK, Kind::Json, body))
}

fn written(explanation: &Explanation) -> String {
    let mut out = Vec::new();
    // Writing to memory cannot fail.
    let _ = explanation::write_json(&mut out, explanation);
    String::from_utf8_lossy(&out).trim_end().to_owned()
}

/// A whole value of a case.
pub(super) fn text(shown: &Shown<'_>, route: &route::Text) -> Result<Answer, Failure> {
    let view = shown.view;
    let cases = view.cases_named(&route.id)?;
    let absent = || Failure::NotFound { reason: "there is no such value".to_owned(), meant: Vec::new() };
    let case = meant(view, &cases, &route.variant).ok_or_else(absent)?;
    if route.part == case::ROW {
        let text = view.reader().row_text(case).map_err(ViewError::from)?;
        return Ok(Answer::text(StatusCode::OK, text));
    }
    let mut words = route.part.splitn(2, ' ');
    let (kind, task) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let ix = view.plan().tasks.iter().position(|it| it.id == task).ok_or_else(absent)?;
    let explained = view.explain(case, TaskIx(ix as u32))?.ok_or_else(absent)?;
    let text = part_of(&explained, kind).ok_or_else(absent)?;
    Ok(Answer::text(StatusCode::OK, text))
}

/// A value of an explanation by the name that links give it: `found`, `seen.2`, `message.0.1`, `reply.0.1`.
fn part_of(explained: &Explanation, kind: &str) -> Option<String> {
    let whole = |value: &Value| value.as_str().map_or_else(|| jurat_report::pretty_json(value), str::to_owned);
    let mut parts = kind.split('.');
    let name = parts.next()?;
    let numbers: Vec<usize> = parts.map(|it| it.parse().ok()).collect::<Option<_>>()?;
    let operands = explained.operands.as_ref();
    match (name, numbers.as_slice()) {
        ("expected", []) => operands?.expected.as_ref().map(whole),
        ("found", []) => operands?.found.as_ref().map(whole),
        ("seen", [ix]) => explained.seen.get(*ix).map(|it| whole(&it.value)),
        ("message", [ix, message]) => Some(explained.conversations.get(*ix)?.messages.get(*message)?.text().to_owned()),
        ("schema", [ix]) => explained.conversations.get(*ix)?.schema.as_ref().map(whole),
        ("reply", [ix, reply]) => explained.conversations.get(*ix)?.replies.get(*reply)?.text.clone(),
        ("arguments", []) => explained.called.as_ref().map(|it| whole(&it.arguments)),
        ("returned", []) => explained.called.as_ref()?.returned.as_ref().map(whole),
        ("stdout", []) => explained.called.as_ref().map(|it| it.printed.stdout.text.clone()),
        ("stderr", []) => explained.called.as_ref().map(|it| it.printed.stderr.text.clone()),
        _ => None,
    }
}
