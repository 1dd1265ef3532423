//! Tasks: what is judged about each case.

use jurat_core::judge::Aggregate;
use jurat_format::value::Val;
use serde::Serialize;

use crate::check::Check;
use crate::compare::Comparison;
use crate::members::{Members, setters};
use crate::value::given;
use crate::{Error, Output, Prompt, Transform};

/// A value of the case, or of the results of other tasks, compared with something.
///
/// ```
/// use jurat::Assertion;
/// use jurat::compare::{equals, is_not_empty};
///
/// Assertion::new("answered", "answer", is_not_empty());
/// // Only where this holds do the tasks run that depend on it.
/// Assertion::new("is_kitchen", "classify.category", equals("kitchen")).depends_on(["classify"]).gate();
/// ```
#[derive(Debug, Clone)]
pub struct Assertion {
    id: String,
    members: Members,
    path: Option<String>,
    comparison: Comparison,
}

/// A model that is asked to judge, and what of its answer counts.
///
/// ```
/// use jurat::{Judge, Output, compare::equals};
///
/// Judge::new("expert", "Would you let this answer go out?\n\n${question}\n\n${answer}")
///     .system("You repair kitchen appliances for a living.")
///     .output(Output::new().boolean("is_suitable").text("reason").integer("score"))
///     .passes_when("is_suitable", equals(true))
///     .depends_on(["is_kitchen"]);
/// ```
///
/// Without [`passes_when`](Judge::passes_when) its answers are measured: stored and summed up, but neither passed nor failed.
#[derive(Debug, Clone)]
pub struct Judge {
    id: String,
    members: Members,
    judge: Members,
    /// Where inputs of a ready judge come from.
    with: Members,
    comparison: Option<(Option<String>, Comparison)>,
}

/// An evaluator that is run, and what of its result counts.
///
/// ```
/// use jurat::{Evaluate, compare::equals};
///
/// Evaluate::new("safe", "content-check").with_path("output", "agent_response").passes_when("safety.label", equals("pass"));
/// ```
///
/// Without [`passes_when`](Evaluate::passes_when) its results are measured: stored and summed up, but neither passed nor failed.
#[derive(Debug, Clone)]
pub struct Evaluate {
    id: String,
    members: Members,
    with: Members,
    comparison: Option<(Option<String>, Comparison)>,
}

/// A task of any kind, for lists of them.
///
/// ```
/// use jurat::{Assertion, Judge, Task, compare::{equals, greater_than_or_equal}};
///
/// fn experts(department: &str) -> [Task; 2] {
///     let gate = format!("is_{department}");
///     [
///         Assertion::new(&gate, "classify.category", equals(department)).depends_on(["classify"]).gate().into(),
///         Judge::new(format!("{department}_expert"), "Is this right? ${answer}").depends_on([gate]).into(),
///     ]
/// }
/// assert_eq!(experts("kitchen").len(), 2);
/// ```
#[derive(Debug, Clone)]
pub struct Task {
    pub(crate) id: String,
    members: Members,
}

impl Assertion {
    /// A comparison of what a path leads to. Paths start at the row, or at the id of a task that this one depends on.
    pub fn new(id: impl Into<String>, path: impl Into<String>, comparison: Comparison) -> Assertion {
        Assertion { id: id.into(), members: Members::default(), path: Some(path.into()), comparison }
    }

    /// A comparison of the whole context: the row, and the outputs of the tasks that this one depends on.
    ///
    /// ```
    /// # use jurat::{Assertion, compare::is_object};
    /// Assertion::of_everything("is_a_row", is_object());
    /// ```
    pub fn of_everything(id: impl Into<String>, comparison: Comparison) -> Assertion {
        Assertion { id: id.into(), members: Members::default(), path: None, comparison }
    }

    /// The same, but something is done to the value before it is compared.
    pub fn transform(mut self, transform: Transform) -> Assertion {
        self.members.given("transform", transform.value());
        self
    }
}

impl Judge {
    /// A model that is asked this. Its role is `judge` unless [`model`](Judge::model) names another.
    pub fn new(id: impl Into<String>, prompt: impl Into<Prompt>) -> Judge {
        let mut judge = Members::default();
        judge.put("prompt", prompt.into().value());
        Judge { id: id.into(), members: Members::default(), judge, with: Members::default(), comparison: None }
    }

    /// A judge that comes with the program, by its name. It finds its inputs under their usual names; [`with_path`](Judge::with_path) and
    /// [`with`](Judge::with) say otherwise. Without [`passes_when`](Judge::passes_when) it passes as the judge itself says.
    ///
    /// ```
    /// # use jurat::{Judge, compare::greater_than_or_equal};
    /// Judge::ready("grounded", "faithfulness").with_path("context", "passages");
    /// Judge::ready("mostly_grounded", "faithfulness").passes_when("score", greater_than_or_equal(0.9));
    /// ```
    pub fn ready(id: impl Into<String>, name: impl Into<String>) -> Judge {
        let mut judge = Members::default();
        judge.put("use", name.into());
        Judge { id: id.into(), members: Members::default(), judge, with: Members::default(), comparison: None }
    }

    /// A judge with one criterion in plain words.
    ///
    /// ```
    /// # use jurat::Judge;
    /// Judge::rubric("kind", "It apologises and offers a next step.").with_path("output", "answer");
    /// ```
    pub fn rubric(id: impl Into<String>, criterion: impl Into<Prompt>) -> Judge {
        let mut judge = Members::default();
        judge.put("rubric", criterion.into().value());
        Judge { id: id.into(), members: Members::default(), judge, with: Members::default(), comparison: None }
    }

    /// The same, with an input of a ready judge that gets what a path of the context leads to.
    pub fn with_path(mut self, input: impl Into<String>, path: impl Into<String>) -> Judge {
        self.with.given(input, Ok(Val::from(path.into())));
        self
    }

    /// The same, with an input of a ready judge that gets this value.
    pub fn with(mut self, input: impl Into<String>, value: impl Serialize) -> Judge {
        let wrapped = given(&value).map(|it| Val::Map([("value", it)].into_iter().collect()));
        self.with.given(input, wrapped);
        self
    }

    /// The same, but the answer must have these fields. An answer without them is asked for again, with the problem stated.
    pub fn output(mut self, output: Output) -> Judge {
        output.write(&mut self.judge);
        self
    }

    /// The same, judged: it passes when what this path of the answer leads to compares well.
    pub fn passes_when(self, path: impl Into<String>, comparison: Comparison) -> Judge {
        Judge { comparison: Some((Some(path.into()), comparison)), ..self }
    }

    /// The same, judged: it passes when the whole answer compares well. Without [`output`](Judge::output) that is text.
    ///
    /// ```
    /// # use jurat::{Judge, compare::starts_with};
    /// Judge::new("agrees", "Is this right? Begin with yes or no. ${answer}").passes_when_reply(starts_with("yes"));
    /// ```
    pub fn passes_when_reply(self, comparison: Comparison) -> Judge {
        Judge { comparison: Some((None, comparison)), ..self }
    }
}

setters! { Judge:
    /// The same, with how several answers become one.
    ///
    /// ```
    /// # use jurat::{Aggregate, Judge};
    /// Judge::new("tone", "Rate the tone: ${answer}").repeat(3).aggregate(Aggregate::Median);
    /// ```
    aggregate(aggregate: Aggregate) => judge.put("aggregate", aggregate.name());

    /// The same, but another role is asked, or a `provider/model`.
    model(role: impl Into<String>) => judge.put("model", role.into());

    /// The same with a system message.
    system(prompt: impl Into<Prompt>) => judge.put("system", prompt.into().value());

    /// The same with at most this number of further requests for one judgement, failed requests and invalid answers together; default: 3.
    max_retries(n: u32) => judge.put("max_retries", i64::from(n));

    /// The same, but each of these roles is asked.
    panel(roles: impl IntoIterator<Item: Into<String>>) => judge.texts("panel", roles);

    /// The same, but each judge is asked this number of times.
    repeat(n: u32) => judge.put("repeat", i64::from(n));

    /// The same with a soft score: the mean of the labels of a field by their probabilities, which is added to the reply as `soft_score`. The field is a boolean, an enum
    /// of numbers or an integer with bounds, and the provider must have logprobs.
    ///
    /// ```
    /// # use jurat::{Judge, compare::greater_than_or_equal};
    /// Judge::rubric("kind", "It apologises.").soft_score("score").passes_when("soft_score", greater_than_or_equal(3.5));
    /// ```
    soft_score(field: impl Into<String>) => judge.put("soft_score", field.into());
}

impl Evaluate {
    /// Runs this evaluator. Its parameters are bound by name, unless something else is said.
    pub fn new(id: impl Into<String>, evaluator: impl Into<String>) -> Evaluate {
        let mut members = Members::default();
        members.put("evaluate", evaluator.into());
        Evaluate { id: id.into(), members, with: Members::default(), comparison: None }
    }

    /// The same, with a parameter that gets a value.
    pub fn with(mut self, parameter: impl Into<String>, value: impl Serialize) -> Evaluate {
        let value = given(&value).map(|it| Val::Map([("value", it)].into_iter().collect()));
        self.with.given(parameter, value);
        self
    }

    /// The same, with a parameter that gets what a path of the context leads to.
    pub fn with_path(mut self, parameter: impl Into<String>, path: impl Into<String>) -> Evaluate {
        self.with.given(parameter, Ok(Val::from(path.into())));
        self
    }

    /// The same, judged: it passes when what this path of the result leads to compares well: `label`, `score`, or `OUTPUT.label` where there are several
    /// outputs.
    pub fn passes_when(self, path: impl Into<String>, comparison: Comparison) -> Evaluate {
        Evaluate { comparison: Some((Some(path.into()), comparison)), ..self }
    }
}

/// An expression over the case, in CEL: true passes and false fails; a number or a text is measured, or compared.
///
/// ```
/// use jurat::{Cel, compare::less_than};
///
/// Cel::new("brief", "size(answer) < 200 && lang in ['en', 'de']");
/// Cel::new("words", "size(answer.split(' '))").passes_when(less_than(50));
/// ```
#[derive(Debug, Clone)]
pub struct Cel {
    id: String,
    members: Members,
    comparison: Option<Comparison>,
}

impl Cel {
    /// An expression over the case.
    pub fn new(id: impl Into<String>, expression: impl Into<String>) -> Cel {
        let mut members = Members::default();
        members.put("cel", expression.into());
        Cel { id: id.into(), members, comparison: None }
    }

    /// The same, judged: it passes when what the expression gives compares well.
    pub fn passes_when(self, comparison: Comparison) -> Cel {
        Cel { comparison: Some(comparison), ..self }
    }
}

/// Several tasks that give one verdict. Its members are judged and shown; the group is counted in their place.
///
/// ```
/// use jurat::Group;
///
/// Group::any("helpful", ["cites", "explains"]);
/// Group::at_least("solid", 2, ["short", "polite", "right"]);
/// Group::weighted("good", [("right", 3.0), ("polite", 1.0)], 0.7);
/// ```
#[derive(Debug, Clone)]
pub struct Group {
    id: String,
    members: Members,
}

impl Group {
    fn of(id: impl Into<String>, rule: impl IntoIterator<Item = (&'static str, Val<'static>)>) -> Group {
        let mut members = Members::default();
        members.put("group", Val::Map(rule.into_iter().collect()));
        Group { id: id.into(), members }
    }

    /// Passes when each of these tasks passes.
    pub fn all(id: impl Into<String>, tasks: impl IntoIterator<Item: Into<String>>) -> Group {
        Group::of(id, [("all", texts(tasks))])
    }

    /// Passes when one of these tasks passes.
    pub fn any(id: impl Into<String>, tasks: impl IntoIterator<Item: Into<String>>) -> Group {
        Group::of(id, [("any", texts(tasks))])
    }

    /// Passes when at least `n` of these tasks pass.
    pub fn at_least(id: impl Into<String>, n: u32, tasks: impl IntoIterator<Item: Into<String>>) -> Group {
        Group::of(id, [("at_least", Val::I(i64::from(n))), ("of", texts(tasks))])
    }

    /// Passes when the weighted mean of what these tasks give reaches the threshold.
    pub fn weighted<N: Into<String>>(
        id: impl Into<String>,
        weights: impl IntoIterator<Item = (N, f64)>,
        threshold: f64,
    ) -> Group {
        let weights = weights.into_iter().map(|(task, weight)| (task.into(), Val::F(weight)));
        let weights = Val::Map(weights.collect());
        Group::of(id, [("weights", weights), ("threshold", Val::F(threshold))])
    }
}

fn texts(items: impl IntoIterator<Item: Into<String>>) -> Val<'static> {
    items.into_iter().map(|it| Val::from(it.into())).collect()
}

/// What every kind of task has.
macro_rules! every_task {
    ($($kind:ident),*) => {
        $(setters! { $kind:
            /// The same with a sentence about what it is for; reports show it.
            description(text: impl Into<String>) => members.put("description", text.into());

            /// The same, run after these tasks. It sees their results, and is skipped where one of them is a gate that failed.
            depends_on(ids: impl IntoIterator<Item: Into<String>>) => members.texts("depends_on", ids);

            /// The same as a gate: where it does not pass, what depends on it is skipped. It routes and is never counted.
            gate() => members.put("condition", true);

            /// The same as a gate that is counted: where it does not pass, that is a failure, and what depends on it is skipped.
            required() => members.put("required", true);

            /// The same for the rows with these ids alone.
            on_ids(ids: impl IntoIterator<Item: Into<String>>) => members.texts("on", ids);

            /// The same for the rows with this tag alone.
            on_tag(tag: impl Into<String>) => members.put("on", Val::Map([("tag", Val::from(tag.into()))].into_iter().collect()));

            /// The same for scenarios alone.
            on_scenarios() => members.put("on", "scenarios");

            /// The same for cases of agents alone.
            on_cases() => members.put("on", "cases");

            /// The same with words to select it by.
            tags(tags: impl IntoIterator<Item: Into<String>>) => members.texts("tags", tags);

            /// The same with the dimensions that it says something about.
            dimensions(names: impl IntoIterator<Item: Into<String>>) => members.texts("dimensions", names);
        })*
    };
}

every_task!(Assertion, Cel, Check, Evaluate, Group, Judge);

impl From<Assertion> for Task {
    fn from(assertion: Assertion) -> Task {
        let Assertion { id, mut members, path, comparison } = assertion;
        members.extend(comparison.members(path));
        Task { id, members }
    }
}

impl From<Cel> for Task {
    fn from(cel: Cel) -> Task {
        let Cel { id, mut members, comparison } = cel;
        if let Some(comparison) = comparison {
            members.extend(comparison.members(None));
        }
        Task { id, members }
    }
}

impl From<Group> for Task {
    fn from(group: Group) -> Task {
        Task { id: group.id, members: group.members }
    }
}

impl From<Evaluate> for Task {
    fn from(evaluate: Evaluate) -> Task {
        let Evaluate { id, mut members, with, comparison } = evaluate;
        members.object_if_any("with", with);
        if let Some((path, comparison)) = comparison {
            members.extend(comparison.members(path));
        }
        Task { id, members }
    }
}

impl From<Judge> for Task {
    fn from(judge: Judge) -> Task {
        let Judge { id, mut members, mut judge, with, comparison } = judge;
        judge.object_if_any("with", with);
        members.object("judge", judge);
        if let Some((path, comparison)) = comparison {
            members.extend(comparison.members(path));
        }
        Task { id, members }
    }
}

impl Task {
    pub(crate) fn of(id: String, members: Members) -> Task {
        Task { id, members }
    }

    /// The task as it stands in a definition.
    pub(crate) fn value(self) -> Result<Val<'static>, Error> {
        let mut members = Members::default();
        members.put("id", self.id.clone());
        members.extend(self.members);
        members.finish(&format!("the task `{}`", self.id))
    }
}
