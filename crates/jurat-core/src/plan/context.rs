//! What tasks read, against what their contexts can supply.

use jurat_format::codes;
use jurat_format::problem::{Problem, Problems, listed_plainly, nearest};
use jurat_format::value::{FieldPath, Kind, Span, Step, Val, Value};

use super::TaskIx;
use super::base::{Base, Bases, Cases};
use super::evaluations;
use super::graph::Graph;
use super::shape::{Leads, Shape};
use crate::evaluation::output_schema;
use crate::evaluator::binding::{Binding, COMMON, Origin, listed_paths};
use crate::evaluator::{OutputConfig, OutputKind};
use crate::evidence::probe;
use crate::judge::{PROBABILITIES, SOFT_SCORE};
use crate::outcome::Gives;
use crate::section::lost::Part;
use crate::suite::{
    Ask, ChatText, Evaluate, ExpectedValue, InputKind, JudgeArgument, PromptRead, PromptText, Records, RowFile,
    RowFormat, RowSource, Suite, Task, TaskKind, UsedJudge,
};

/// What a task reads of its context.
pub(super) struct Reads<'t> {
    /// The paths, with their places.
    pub(super) paths: Vec<Read<'t>>,
    /// Whether it reads the whole context.
    pub(super) everything: bool,
}

/// One path that a task reads.
pub(super) struct Read<'t> {
    pub(super) path: &'t FieldPath,
    pub(super) at: Span,
    /// Whether the reader says what happens without it.
    pub(super) is_optional: bool,
}

impl<'t> Read<'t> {
    pub(super) fn new(path: &'t FieldPath, at: Span) -> Read<'t> {
        Read { path, at, is_optional: false }
    }
}

/// What a task reads. A judge's own path and operand lead into its reply, not into the context.
pub(super) fn reads(task: &Task) -> Reads<'_> {
    let mut reads = Reads { paths: Vec::new(), everything: false };
    match &task.kind {
        TaskKind::Judge(judge) => match &judge.used {
            Some(used) => reads.paths.extend(inputs(used)),
            None => reads.paths.extend(of_prompts(judge.system.as_ref(), [&judge.prompt])),
        },
        TaskKind::Evaluate(evaluate) => reads.paths.extend(arguments(evaluate)),
        TaskKind::Cel(cel) => reads.paths.extend(cel.reads.iter().map(|it| Read::new(&it.value, it.span))),
        TaskKind::Group(_) => {}
        // Which turns it looks at depends on how they went.
        TaskKind::Outcome(check) => {
            reads.paths.extend(check.reads().into_iter().map(|it| Read::new(&it.value, it.span)));
            reads.everything = true;
        }
        TaskKind::Check(_) | TaskKind::Evaluation { .. } => reads.everything = true,
        TaskKind::Assert => {
            let Some(comparison) = &task.comparison else { return reads };
            match &comparison.path {
                Some(path) => reads.paths.push(Read::new(&path.value, path.span)),
                None => reads.everything = true,
            }
            match comparison.expected.as_ref().map(|it| (&it.value, it.span)) {
                Some((ExpectedValue::Path(path), span)) => reads.paths.push(Read::new(path, span)),
                Some((ExpectedValue::Filled(filled), _)) => {
                    reads.paths.extend(filled.reads.iter().map(|it| Read::new(&it.value, it.span)));
                }
                Some((ExpectedValue::Literal(_), _)) | None => {}
            }
        }
    }
    reads
}

/// What an evaluator reads for sure: what its author says, and keys of the context that it cannot do without. Where the common names are found
/// depends on the case.
fn arguments(evaluate: &Evaluate) -> impl Iterator<Item = Read<'_>> {
    evaluate.bindings.iter().filter_map(|binding| {
        let said = evaluate.with.iter().find(|(name, _)| name.value == binding.parameter);
        let span = said.map_or(evaluate.evaluator.span, |(_, from)| from.span);
        match &binding.from {
            Origin::Path(path) => Some(Read::new(path, span)),
            Origin::Key(path) if binding.is_required => Some(Read::new(path, span)),
            Origin::Key(_) | Origin::Common(_) | Origin::First(_) | Origin::Literal(_) | Origin::Text(_) => None,
        }
    })
}

/// What a used judge reads for sure: what its author says. Where other inputs are found depends on the case.
fn inputs(used: &UsedJudge) -> impl Iterator<Item = Read<'_>> {
    let said = used.arguments.iter().filter_map(|it| match &it.binding.from {
        Origin::Path(path) => Some(Read::new(path, it.span.unwrap_or(used.span))),
        _ => None,
    });
    said.chain(of_prompts(used.rubric.as_ref(), []))
}

/// What prompts read.
pub(super) fn of_prompts<'t>(
    system: Option<&'t PromptText>,
    prompts: impl IntoIterator<Item = &'t ChatText>,
) -> impl Iterator<Item = Read<'t>> {
    let reads = system.into_iter().flat_map(|it| &it.reads).chain(prompts.into_iter().flat_map(|it| &it.reads));
    reads.map(|it: &PromptRead| Read { path: &it.path, at: it.span, is_optional: it.is_optional })
}

/// What a task's output looks like to those that depend on it.
pub(super) fn output_shape(suite: &Suite, task: &Task) -> Shape {
    match &task.kind {
        TaskKind::Evaluate(evaluate) => {
            let evaluator = suite.evaluators.iter().find(|it| it.name.value == evaluate.evaluator.value);
            evaluator.map_or_else(Shape::any, |it| Shape::of_schema(&outputs_schema(&it.configs())))
        }
        TaskKind::Evaluation { .. } => {
            let dimensions = suite.evaluation.as_ref().map(|it| evaluations::dimensions(suite, it));
            Shape::of_schema(&output_schema(&dimensions.unwrap_or_default()))
        }
        TaskKind::Assert | TaskKind::Check(_) => Shape::of_kinds(&[Kind::Boolean]),
        TaskKind::Cel(_) => Shape::any(),
        TaskKind::Group(_) => Shape::any(),
        TaskKind::Outcome(check) => match check.gives() {
            Gives::Boolean => Shape::of_kinds(&[Kind::Boolean]),
            Gives::Number => Shape::of_kinds(&[Kind::Number]),
            Gives::Anything => Shape::any(),
        },
        TaskKind::Judge(judge) => {
            let reply = judge.output.as_ref().map_or_else(Shape::any, |it| Shape::of_schema(&it.schema));
            match &judge.soft {
                None => reply,
                Some(_) => reply
                    .with_member(SOFT_SCORE, Some(Shape::of_kinds(&[Kind::Number])))
                    .with_member(PROBABILITIES, Some(Shape::any_object())),
            }
        }
    }
}

/// What an evaluator with these outputs says, as a schema.
fn outputs_schema(configs: &[OutputConfig]) -> Value {
    let object = |members: Vec<(String, Value)>| {
        let properties = Val::Map(members.into_iter().collect());
        Val::Map([("type", Val::from("object")), ("properties", properties)].into_iter().collect())
    };
    let typed = |names: &[&'static str]| {
        let names: Value = names.iter().map(|it| Val::from(*it)).collect();
        Val::Map([("type", names)].into_iter().collect())
    };
    let triple = |config: Option<&OutputConfig>| {
        let labels = config.and_then(OutputConfig::labels);
        let label = match labels {
            Some(labels) => {
                let labels: Value = labels.map(|it| Val::from(it.to_owned())).collect();
                Val::Map([("enum", labels)].into_iter().collect())
            }
            None => typed(&["string", "null"]),
        };
        let score = match config.map(|it| &it.kind) {
            Some(OutputKind::Continuous { .. }) => typed(&["number"]),
            _ => typed(&["number", "null"]),
        };
        let members = [("label", label), ("score", score), ("explanation", typed(&["string", "null"]))];
        object(members.map(|(name, schema)| (name.to_owned(), schema)).into())
    };
    match configs {
        [] => triple(None),
        [only] => triple(Some(only)),
        several => object(several.iter().map(|it| (it.name.clone(), triple(Some(it)))).collect()),
    }
}

/// What a path leads to in a task's context.
pub(super) enum Source {
    /// The output of a task it depends on, and the rest of the path in it.
    Output(TaskIx),
    /// The data.
    Base,
    /// A task that it does not depend on.
    Stranger(TaskIx),
    Nothing,
    /// It cannot be known.
    Unknown,
}

/// What is known before running: the suite, its graph, and what values look like.
#[derive(Clone, Copy)]
pub(super) struct Known<'s> {
    pub(super) suite: &'s Suite,
    pub(super) graph: &'s Graph,
    /// What is known of the cases, when it is to be looked at.
    pub(super) bases: Option<&'s Bases>,
    /// The output of each task.
    pub(super) outputs: &'s [Shape],
}

impl<'s> Known<'s> {
    /// The output of a task, as those that depend on it see it.
    pub(super) fn output(self, task: TaskIx) -> &'s Shape {
        &self.outputs[task.index()]
    }

    /// What a task sees of its cases, when that is known.
    pub(super) fn base(self, ix: usize) -> Option<&'s Base> {
        self.bases?.of_task(self.suite, &self.suite.tasks[ix])
    }

    /// Whether a path leads to the label of what an evaluator says.
    pub(super) fn is_label_of_evaluator(self, ix: usize, path: &FieldPath) -> bool {
        let Source::Output(task) = self.source(ix, path) else { return false };
        path.rest().root() == Some("label") && matches!(self.suite.tasks[task.index()].kind, TaskKind::Evaluate(_))
    }

    /// Who supplies the first step of a path.
    pub(super) fn source(self, ix: usize, path: &FieldPath) -> Source {
        let base = self.base(ix).map(|it| &it.shape);
        let Some(root) = path.root() else { return base.map_or(Source::Unknown, |_| Source::Base) };
        let is_base = base.is_some_and(|it| it.has(root));
        // The same order as when the path is looked up: an id letter by letter, the data, an id in another case.
        let named = self.graph.find(ix, root);
        let exactly = named.filter(|it| self.suite.tasks[it.index()].id.value == root);
        match (exactly, named) {
            (Some(task), _) if self.graph.depends(ix, task) => Source::Output(task),
            _ if is_base => Source::Base,
            (_, Some(task)) if self.graph.depends(ix, task) => Source::Output(task),
            // Where the rows are not known, a field of theirs with the name of the task is likelier than its own output.
            (_, Some(task)) if base.is_none() && task.index() == ix => Source::Unknown,
            (_, Some(task)) => Source::Stranger(task),
            (_, None) if self.suite.lost.named(Part::Task, root) => Source::Unknown,
            (_, None) if base.is_some_and(|it| !it.is_open()) => Source::Nothing,
            (_, None) => Source::Unknown,
        }
    }
}

pub(super) fn examine(known: Known<'_>, problems: &mut Problems) {
    for (ix, task) in known.suite.tasks.iter().enumerate() {
        if let Some(base) = known.base(ix) {
            problems.extend(hidden_name(known.suite, task, base));
        }
        for read in reads(task).paths.into_iter().filter(|it| !expects_absence(task, it)) {
            examine_read(known, ix, &read, problems);
        }
        examine_reply(known, ix, problems);
        problems.extend(no_common(known, ix));
        problems.extend(no_inputs(known, ix));
        problems.extend(no_path(task));
    }
    let Suite { group_by, cluster_by, question, .. } = known.suite;
    for path in group_by.iter().chain(cluster_by).chain(question) {
        let read = Read::new(&path.value, path.span);
        if let Some(base) = known.bases.and_then(|it| it.of_all(known.suite)) {
            examine_base(known.suite, Reader::Suite, base, &read, problems);
        }
    }
}

/// An evaluator that looks at the output or the input of the case, where the data have neither under a name that is known for it.
fn no_common(known: Known<'_>, ix: usize) -> Option<Problem> {
    let TaskKind::Evaluate(evaluate) = &known.suite.tasks[ix].kind else { return None };
    let base = known.base(ix).map(|it| &it.shape).filter(|it| !it.is_open())?;
    let is_there = |path: &FieldPath| path.root().is_some_and(|it| base.has(it));
    let is_missed = |it: &&Binding| match &it.from {
        Origin::Common(paths) => {
            it.is_required && matches!(it.parameter.as_str(), "output" | "input") && !paths.iter().any(is_there)
        }
        _ => false,
    };
    let name = &evaluate.bindings.iter().find(is_missed)?.parameter;
    let message = format!("no sample row has `{name}`, which `{}` looks at", evaluate.evaluator.value);
    let problem = Problem::new(&codes::UNKNOWN_NAME, message).at(evaluate.evaluator.span, "run here");
    let names = base.names();
    let problem = problem.help(format!("say where it is: `with: {{ {name}: … }}`"));
    Some(if names.is_empty() { problem } else { problem.help(format!("the rows have {}", listed_plainly(&names))) })
}

/// Inputs that a used judge needs and no sample row has where it looks for them.
fn no_inputs(known: Known<'_>, ix: usize) -> Vec<Problem> {
    let TaskKind::Judge(judge) = &known.suite.tasks[ix].kind else { return Vec::new() };
    let (Some(used), Some(base)) = (&judge.used, known.base(ix).map(|it| &it.shape).filter(|it| !it.is_open())) else {
        return Vec::new();
    };
    let is_there = |path: &FieldPath, kind: Option<InputKind>| match base.at(path.steps()) {
        Leads::To(shape) => {
            let fits = |kind: InputKind| Kind::ALL.iter().any(|it| kind.fits(*it) && shape.kinds.contains(*it));
            kind.is_none_or(fits)
        }
        Leads::Nowhere { .. } => false,
    };
    let is_missed = |it: &&JudgeArgument| match &it.binding.from {
        Origin::First(paths) => it.binding.is_required && !paths.iter().any(|path| is_there(path, it.kind)),
        _ => false,
    };
    used.arguments.iter().filter(is_missed).map(|it| no_input(used, it, &base.names())).collect()
}

fn no_input(used: &UsedJudge, argument: &JudgeArgument, names: &[&str]) -> Problem {
    let (judge, input) = (&used.file.name.value, &argument.binding.parameter);
    let kind = argument.kind.map(|it| format!(" as a {}", it.name())).unwrap_or_default();
    let message = format!("no sample row has `{input}`{kind}, which the judge `{judge}` needs");
    let looked = format!("looked for at {}", listed_paths(argument.binding.paths()));
    let problem = Problem::new(&codes::UNKNOWN_NAME, message).at(used.span, looked);
    let about = used.file.inputs.iter().find(|it| it.name == *input).map(|it| it.about.as_str()).unwrap_or_default();
    let problem = problem.help(format!("`{input}` is {about}; say where it is: `with: {{ {input}: … }}`"));
    if names.is_empty() { problem } else { problem.help(format!("the rows have {}", listed_plainly(names))) }
}

/// Who reads the base context.
#[derive(Clone, Copy)]
pub(super) enum Reader<'t> {
    Task(&'t Task),
    /// A key of the suite itself: `group_by`, `cluster_by`, `question`.
    Suite,
    /// A prompt of `ask`, which sees the row before anything came of asking.
    Ask,
}

/// Whether a path leads somewhere in the base context.
pub(super) fn examine_base(suite: &Suite, reader: Reader<'_>, base: &Base, read: &Read<'_>, problems: &mut Problems) {
    if problems.has_room(&codes::UNKNOWN_NAME)
        && !read.is_optional
        && let Leads::Nowhere { step, place } = base.shape.at(read.path.steps())
    {
        problems.push(unknown_name(suite, reader, base.of, read, step, &place));
    }
}

/// The whole record is not empty and contains nothing, so a forgotten path passes or fails without meaning anything.
fn no_path(task: &Task) -> Option<Problem> {
    let comparison = task.comparison.as_ref().filter(|it| it.is_path_forgotten && !task.is_flawed)?;
    let TaskKind::Assert = task.kind else { return None };
    let message = format!("`{}` does not say where to look, so it compares the whole record", task.id.value);
    let problem = Problem::new(&codes::NO_PATH, message).at(comparison.operator.span, "compares the whole record");
    Some(
        problem
            .at(task.id.span, "without `field_path`")
            .help("add `field_path`, or `field_path: null` for the whole record"),
    )
}

fn examine_read(known: Known<'_>, ix: usize, read: &Read<'_>, problems: &mut Problems) {
    let task = &known.suite.tasks[ix];
    // A task that is not depended on may be a mistake all the same: its name is there.
    match (known.source(ix, read.path), known.base(ix)) {
        (Source::Nothing, _) | (Source::Output(_), _) if read.is_optional => {}
        (Source::Stranger(other), _) => {
            problems.push(not_a_dependency(task, &known.suite.tasks[other.index()], read));
        }
        (Source::Nothing, Some(base)) if problems.has_room(&codes::UNKNOWN_NAME) => {
            problems.push(unknown_name(known.suite, Reader::Task(task), base.of, read, 0, &base.shape));
        }
        (Source::Base, Some(base)) => examine_base(known.suite, Reader::Task(task), base, read, problems),
        (Source::Output(other), _) if problems.has_room(&codes::UNKNOWN_FIELD) => {
            if let Leads::Nowhere { step, place } = known.output(other).at(read.path.rest().steps()) {
                problems.push(unknown_field(&known.suite.tasks[other.index()], read, step + 1, &place));
            }
        }
        _ => {}
    }
}

fn not_a_dependency(task: &Task, other: &Task, read: &Read<'_>) -> Problem {
    if other.id.value == task.id.value {
        let problem = Problem::new(&codes::NOT_A_DEPENDENCY, format!("`{}` reads its own output", task.id.value));
        return pointed(problem, read, "read here").help("a task sees the data and the tasks in its `depends_on`");
    }
    let message = format!("`{}` reads `{}` without depending on it", task.id.value, other.id.value);
    let problem = pointed(Problem::new(&codes::NOT_A_DEPENDENCY, message), read, "read here");
    let problem = problem.at(task.id.span, "in this task").at(other.id.span, "which is this task");
    problem.help(format!("add `{}` to `depends_on`", other.id.value))
}

/// Whether a task says that there should be nothing: then nothing is what a row should have.
fn expects_absence(task: &Task, read: &Read<'_>) -> bool {
    let Some(comparison) = &task.comparison else { return false };
    let is_its_path = comparison.path.as_ref().is_some_and(|it| std::ptr::eq(&it.value, read.path));
    let is_false = comparison.expected.as_ref().is_some_and(|it| it.value == ExpectedValue::Literal(Val::Bool(false)));
    is_its_path && is_false && comparison.operator.value.entry().name == "Exists"
}

/// A judge's own path leads into its reply.
fn examine_reply(known: Known<'_>, ix: usize, problems: &mut Problems) {
    let task = &known.suite.tasks[ix];
    if let TaskKind::Judge(_) | TaskKind::Outcome(_) | TaskKind::Evaluate(_) | TaskKind::Check(_) = &task.kind
        && let Some(path) = task.comparison.as_ref().and_then(|it| it.path.as_ref())
        && problems.has_room(&codes::UNKNOWN_FIELD)
        && let Leads::Nowhere { step, place } = known.outputs[ix].at(path.value.steps())
    {
        let read = Read::new(&path.value, path.span);
        problems.push(unknown_field(task, &read, step, &place));
    }
}

fn unknown_field(judge: &Task, read: &Read<'_>, step: usize, place: &Shape) -> Problem {
    let wanted = step_text(read.path, step);
    if let TaskKind::Assert | TaskKind::Check(_) = judge.kind {
        let what = if let TaskKind::Assert = judge.kind { "an assertion" } else { "a check" };
        let message = format!("the output of `{}` is `true` or `false`, it has no `{wanted}`", judge.id.value);
        return pointed(Problem::new(&codes::UNKNOWN_FIELD, message), read, "read here")
            .at(judge.id.span, what)
            .help(format!("read `{}` itself, or the field it looks at", judge.id.value));
    }
    if let TaskKind::Outcome(_) = judge.kind {
        let message = format!("the output of `{}` is {}, it has no `{wanted}`", judge.id.value, place.kinds);
        return pointed(Problem::new(&codes::UNKNOWN_FIELD, message), read, "read here")
            .at(judge.id.span, "an outcome")
            .help(format!("read `{}` itself", judge.id.value));
    }
    let message = format!("`{}` never produces `{wanted}`", judge.id.value);
    let problem = pointed(Problem::new(&codes::UNKNOWN_FIELD, message), read, "read here");
    let names = members_named(read.path, step, place);
    if names.is_empty() {
        return problem.help(format!("{} is {}", place_text(read.path, step, &judge.id.value), place.kinds));
    }
    let near = nearest(&wanted, names.iter().copied());
    let fields = match &judge.kind {
        TaskKind::Judge(it) => it.output.as_ref().map(|it| it.fields.as_slice()).unwrap_or_default(),
        TaskKind::Assert
        | TaskKind::Outcome(_)
        | TaskKind::Evaluate(_)
        | TaskKind::Check(_)
        | TaskKind::Cel(_)
        | TaskKind::Group(_)
        | TaskKind::Evaluation { .. } => &[],
    };
    // Only the fields on the top level know their places.
    let is_top = fields.iter().map(|it| it.value.as_str()).eq(names.iter().copied());
    let label = match near.and_then(|near| fields.iter().find(|it| it.value == near)) {
        Some(field) => Some((field.span, "a field with a similar name")),
        None => fields.first().map(|it| (it.span, "its fields are named here")),
    };
    let problem = match label.filter(|_| is_top) {
        Some((span, text)) => problem.at(span, text),
        None => problem,
    };
    let what = if is_top { format!("`{}` produces", judge.id.value) } else { "there it has".to_owned() };
    problem.help(match near {
        Some(near) => format!("{what} {}; did you mean `{near}`?", listed_plainly(&names)),
        None => format!("{what} {}", listed_plainly(&names)),
    })
}

/// Whether the reader is a task that runs an evaluator, whose parameters may have names that every case supplies.
fn evaluated(reader: Reader<'_>) -> bool {
    matches!(reader, Reader::Task(Task { kind: TaskKind::Evaluate(_), .. }))
}

/// The only member of a row, when it is a list of objects that have what is looked for: `{"data": [{…}, {…}]}`.
fn wrapped_rows(row: &Shape, wanted: &str) -> Option<String> {
    let names = row.names();
    let [only] = names.as_slice() else { return None };
    let member = row.member(only)?;
    let item = member.item()?;
    item.has(wanted).then(|| (*only).to_owned())
}

fn unknown_name(
    suite: &Suite,
    reader: Reader<'_>,
    cases: Cases,
    read: &Read<'_>,
    step: usize,
    place: &Shape,
) -> Problem {
    let wanted = step_text(read.path, step);
    let names = members_named(read.path, step, place);
    let ask = suite.ask.as_ref().filter(|_| cases == Cases::ROWS && !matches!(reader, Reader::Ask));
    let adds = |name: &str| ask.is_some_and(|it| probe::keys(it.whole_row).contains(&name));
    let is_added = read.path.root().is_some_and(adds);
    let whole = place_text(read.path, step, "");
    let sampled = if is_added { String::new() } else { sampled(cases) };
    let message = match step {
        0 if ask.is_some() => format!("no sample row has `{wanted}`, nor does `ask` add it"),
        0 => none_has(cases, &wanted),
        _ if names.is_empty() => format!("{sampled}{whole} is {}, so it has no `{wanted}`", place.kinds),
        _ => format!("{sampled}{whole} has no `{wanted}`"),
    };
    let problem = pointed(Problem::new(&codes::UNKNOWN_NAME, message), read, "read here");
    if let Some(help) = ask.filter(|_| is_added).and_then(|it| about_the_answer(it, read.path, step)) {
        return problem.help(help);
    }
    let is_early = matches!(reader, Reader::Ask) && step == 0 && probe::KEYS.contains(&wanted.as_str());
    let problem =
        if is_early { problem.help("what came of asking is seen by tasks, not by prompts of `ask`") } else { problem };
    let common = if evaluated(reader) { &COMMON[..] } else { &[] };
    let near = nearest(&wanted, names.iter().chain(common).copied());
    let problem = match (near, near_task(suite, reader, &wanted).filter(|_| step == 0)) {
        (None, Some(near)) => {
            let problem = problem.help(format!("did you mean the task `{}`?", near.id.value));
            return problem.at(near.id.span, "a task with a similar id");
        }
        (Some(near), _) => problem.help(format!("did you mean `{near}`?")),
        (None, None) => problem,
    };
    if let Some(list) = wrapped_rows(place, &wanted).filter(|_| step == 0 && cases == Cases::ROWS) {
        if list == "value" && suite.records.iter().any(is_json_lines) {
            return problem
                .help("each line is a row, and a line holds a list: name the file `.json`, or write one object on each line, for example with `jq -c '.[]'`");
        }
        return problem.help(format!(
            "the rows seem to be the items of `{list}`: write that list alone into the file, for example with `jq .{list}`"
        ));
    }
    if let [only] = names.as_slice()
        && let Some(separator) = [';', '\t'].into_iter().find(|it| only.contains(*it))
        && step == 0
        && cases == Cases::ROWS
    {
        let separator = separator.escape_default();
        return problem
            .help(format!("the rows have one column, `{only}`: separate columns with commas, not with `{separator}`"));
    }
    match step {
        _ if names.is_empty() => problem,
        0 if cases.names().len() > 1 => problem.help(format!("they have {}", listed_plainly(&names))),
        0 if !cases.rows => problem.help(format!("it has {}", listed_plainly(&names))),
        0 if ask.is_some() => {
            let (added, rows): (Vec<&str>, Vec<&str>) = names.iter().partition(|it| probe::KEYS.contains(it));
            let rows = if rows.is_empty() { "nothing" } else { &listed_plainly(&rows) };
            problem.help(format!("the rows have {rows}; `ask` adds {}", listed_plainly(&added)))
        }
        0 => problem.help(format!("the rows have {}", listed_plainly(&names))),
        _ => problem.help(format!("it has {}", listed_plainly(&names))),
    }
}

fn is_json_lines(records: &Records) -> bool {
    let has_ending = |it: &RowFile| it.path.extension().is_some_and(|it| it.eq_ignore_ascii_case("jsonl"));
    let is_named = matches!(&records.from, RowSource::Files(files) if files.iter().any(has_ending));
    records.format.map_or(is_named, |it| it == RowFormat::JsonLines)
}

/// `in the sample rows and in the evidence of a scenario `
fn sampled(cases: Cases) -> String {
    let places =
        cases.names().into_iter().map(|it| format!("in {}", if it == "a sample row" { "the sample rows" } else { it }));
    format!("{} ", places.collect::<Vec<_>>().join(" and "))
}

/// `neither a sample row nor the evidence of a scenario has …`
fn none_has(cases: Cases, wanted: &str) -> String {
    match cases.names().as_slice() {
        [] | ["a sample row"] => format!("no sample row has `{wanted}`"),
        [only] => format!("{only} has no `{wanted}`"),
        [others @ .., last] => format!("neither {} nor {last} has `{wanted}`", others.join(", ")),
    }
}

/// A task that `wanted` may mean. Only tasks see other tasks.
fn near_task<'s>(suite: &'s Suite, reader: Reader<'_>, wanted: &str) -> Option<&'s Task> {
    let Reader::Task(task) = reader else { return None };
    let others = || suite.tasks.iter().filter(|it| it.id.value != task.id.value);
    let near = nearest(wanted, others().map(|it| it.id.value.as_str()))?;
    others().find(|it| it.id.value == near)
}

/// Where the fields of an answer are, for authors who looked for them elsewhere.
fn about_the_answer(ask: &Ask, path: &FieldPath, step: usize) -> Option<&'static str> {
    match (path.root()?, step, &ask.output) {
        ("output", 1, Some(_)) => Some("the fields of the answer are under `parsed`"),
        ("parsed", 0, None) | ("output", 1, None) => {
            Some("say what is answered: with `output` in `ask`, the answer's fields are under `parsed`")
        }
        _ => None,
    }
}

/// The names that could stand where a step finds nothing; none when the step asks for an item.
fn members_named<'s>(path: &FieldPath, step: usize, place: &'s Shape) -> Vec<&'s str> {
    match path.steps().get(step) {
        Some(Step::Key(_)) => place.names(),
        _ => Vec::new(),
    }
}

/// What a step was tried on: the path up to it, or `whole` when it is the first.
fn place_text(path: &FieldPath, step: usize, whole: &str) -> String {
    let before = FieldPath::of(path.steps()[..step].iter().cloned()).to_string();
    format!("`{}`", if before.is_empty() { whole } else { &before })
}

fn hidden_name(suite: &Suite, task: &Task, base: &Base) -> Option<Problem> {
    base.shape.has(&task.id.value).then(|| {
        let of_rows = base.of.rows;
        let adds = |ask: &Ask| probe::keys(ask.whole_row).contains(&task.id.value.as_str());
        let is_added = of_rows && suite.ask.as_ref().is_some_and(adds);
        let what = match () {
            () if is_added => "something that `ask` adds",
            () if of_rows => "a field of the data",
            () if base.of.scenarios => "a field of the evidence of a scenario",
            () => "a field of the evidence of a run",
        };
        let message = format!("the task `{}` has the name of {what}", task.id.value);
        let hides = format!("hides {} from tasks that depend on this one", if is_added { "it" } else { "that field" });
        let problem = Problem::new(&codes::HIDDEN_NAME, message).at(task.id.span, hides);
        problem.help("give the task another id")
    })
}

fn step_text(path: &FieldPath, step: usize) -> String {
    FieldPath::of(path.steps().get(step).cloned()).to_string()
}

/// Points at a path.
fn pointed(problem: Problem, read: &Read<'_>, text: &str) -> Problem {
    problem.at(read.at, text)
}
