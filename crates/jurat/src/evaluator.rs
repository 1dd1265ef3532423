//! Evaluators: code that looks at a case and returns a label, a score, or both.

use jurat_core::evaluator::{Object, transport};
use jurat_core::scenario::Function;
use jurat_format::value::Val;
use serde::Serialize;

use crate::members::{Members, setters};
use crate::scenario::CodeError;
use crate::value::given;
use crate::{Error, Value};

/// An evaluator of a suite: a closure of the program, Python or TypeScript in a sandbox, or one that is built in.
///
/// A function may return many things. Each becomes a label, a score and an explanation, or is rejected with a message that lists what it may return:
/// first by its shape alone, then against what the evaluator says it puts out. Nothing is guessed: no text is read as a number, no list becomes a label.
///
/// Here replies are looked at by a closure with two outputs. What it answers by their names is for each of them, and the explanation is for both; one
/// reply gets a label that is not configured, which is an error of that row and of that output alone:
///
/// ```
/// use jurat::{Evaluator, EvaluatorOutput, RunOptions, Suite, TaskVerdict, compare::equals};
/// use jurat::{Evaluate, Return};
/// use serde_json::json;
///
/// let content = Evaluator::function("content", |arguments| {
///     let output = arguments.at("output").ok_or("there is nothing to look at")?;
///     let text = output.as_str().unwrap_or_default();
///     let n_insults = text.matches("fool").count();
///     Ok(Return::each([
///         ("toxicity", Return::from(n_insults.min(2) as f64 / 2.0)),
///         ("safety", Return::from(match n_insults { 0 => "pass", 1 => "fail", _ => "unknown" })),
///     ])
///     .explanation(format!("{n_insults} insults")))
/// })
/// .output(EvaluatorOutput::continuous("toxicity").lower_bound(0.0).upper_bound(1.0).minimize())
/// .output(EvaluatorOutput::categorical("safety").label_with_score("pass", 1.0).label_with_score("fail", 0.0));
///
/// let suite = Suite::builder("replies")
///     .record(json!({ "id": "kind", "output": "Thank you for asking." }))
///     .record(json!({ "id": "rude", "output": "Only a fool would ask." }))
///     .record(json!({ "id": "ruder", "output": "You fool of a fool." }))
///     .evaluator(content)
///     .task(Evaluate::new("safe", "content").passes_when("safety.label", equals("pass")))
///     .build()?;
///
/// # let directory = tempfile::tempdir()?;
/// let run = suite.run(RunOptions::in_directory(directory.path()))?;
/// let cases: Vec<jurat::Case> = run.cases().collect::<Result<_, _>>()?;
/// let safe: Vec<jurat::TaskResult> = cases.iter().filter_map(|it| it.task("safe")).collect();
/// let verdicts: Vec<TaskVerdict> = safe.iter().map(|it| it.verdict()).collect();
/// assert_eq!(verdicts, [TaskVerdict::Passed, TaskVerdict::Failed, TaskVerdict::Error]);
/// assert_eq!(safe[2].message(), "\
/// `content.safety`: Label 'unknown' not in categorical output config values ['pass', 'fail'].
/// Valid shapes:
///   Return::from(\"pass\")
///   Return::label(\"pass\").explanation(\"...\")");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Evaluator {
    pub(crate) name: String,
    members: Members,
    outputs: Vec<EvaluatorOutput>,
    pub(crate) function: Option<Function>,
}

impl Evaluator {
    /// A closure of this program. It gets its arguments by name: `output`, `input`, `reference` and `metadata` as far as the case has them, and what
    /// [`Evaluate::with`](crate::Evaluate::with) says. Its calls are recorded under the name like any other effect, so a replay does not make them. An error that it returns is an error of
    /// the row.
    ///
    /// It is called on the thread that drives the run, one call at a time: what takes long belongs elsewhere.
    pub fn function(
        name: impl Into<String>,
        call: impl Fn(&Value) -> Result<Return, CodeError> + Send + Sync + 'static,
    ) -> Evaluator {
        let name = name.into();
        let function = Function::new(move |arguments: &Val<'_>| {
            let returned = call(&Value(arguments.clone().into_owned())).map_err(|it| it.to_string())?;
            Ok(returned.to_value())
        });
        let mut evaluator = Evaluator::with(name.clone(), "call", name);
        evaluator.function = Some(function);
        evaluator
    }

    /// Python that is run in a sandbox: `def evaluate(output, reference): …`. The program must [serve as worker](crate::serve_as_worker).
    ///
    /// ```
    /// # use jurat::Evaluator;
    /// Evaluator::python("same", "def evaluate(output, reference):\n    return output == reference");
    /// ```
    pub fn python(name: impl Into<String>, source: impl Into<String>) -> Evaluator {
        Evaluator::with(name.into(), "source", source.into()).language("python")
    }

    /// TypeScript that is run in a sandbox: `export function evaluate({ output, reference }) { … }`. The program must [serve as
    /// worker](crate::serve_as_worker).
    ///
    /// ```
    /// # use jurat::Evaluator;
    /// Evaluator::typescript("long", "export const evaluate = ({ output }: { output: string }) => output.length;");
    /// ```
    pub fn typescript(name: impl Into<String>, source: impl Into<String>) -> Evaluator {
        Evaluator::with(name.into(), "source", source.into()).language("typescript")
    }

    /// One that is built in, with its parameters as an object; `json!({})` when all have their defaults.
    ///
    /// ```
    /// # use jurat::Evaluator;
    /// # use serde_json::json;
    /// Evaluator::builtin("same", "exact_match", json!({ "ignore_case": true }));
    /// ```
    pub fn builtin(name: impl Into<String>, builtin: impl Into<String>, parameters: impl Serialize) -> Evaluator {
        let mut named = Members::default();
        named.given(builtin, given(&parameters));
        let mut evaluator =
            Evaluator { name: name.into(), members: Members::default(), outputs: Vec::new(), function: None };
        evaluator.members.object("builtin", named);
        evaluator
    }

    fn with(name: String, key: &'static str, value: String) -> Evaluator {
        let mut members = Members::default();
        members.put(key, value);
        Evaluator { name, members, outputs: Vec::new(), function: None }
    }

    fn language(mut self, language: &'static str) -> Evaluator {
        self.members.put("language", language);
        self
    }

    /// The evaluator as it stands in a definition.
    pub(crate) fn value(self) -> Result<Val<'static>, Error> {
        let Evaluator { name, mut members, outputs, .. } = self;
        let whose = format!("the evaluator `{name}`");
        let outputs: Vec<Val<'static>> = outputs.into_iter().map(|it| it.0.finish(&whose)).collect::<Result<_, _>>()?;
        members.list_if_any("outputs", outputs);
        members.finish(&whose)
    }
}

setters! { Evaluator:
    /// The same, but a boolean that it returns is the verdict of a task that compares nothing: `true` passed, `false` failed.
    judges() => members.put("judges", true);

    /// The same with a sentence about what it is for; reports show it.
    description(text: impl Into<String>) => members.put("description", text.into());

    /// The same with one more thing that it puts out. Without any it may return anything.
    output(output: EvaluatorOutput) => outputs.push(output);

    /// The same, with whether equal arguments always give the same result, so that other runs use the results again. Code is deterministic by default: it is known
    /// by its text. A closure is not: it is known by its name alone, and may be another one in the next version of the program.
    deterministic(is_deterministic: bool) => members.put("deterministic", is_deterministic);
}

/// What an evaluator puts out: labels, scores, or either.
///
/// ```
/// use jurat::EvaluatorOutput;
///
/// EvaluatorOutput::categorical("safety").label_with_score("pass", 1.0).label_with_score("fail", 0.0);
/// EvaluatorOutput::continuous("toxicity").lower_bound(0.0).upper_bound(1.0).minimize();
/// ```
#[derive(Debug, Clone)]
pub struct EvaluatorOutput(Members);

impl EvaluatorOutput {
    fn new(name: impl Into<String>, kind: &'static str) -> EvaluatorOutput {
        let mut members = Members::default();
        members.put("name", name.into());
        members.put("type", kind);
        EvaluatorOutput(members)
    }

    /// One of some labels, whose scores are looked up.
    pub fn categorical(name: impl Into<String>) -> EvaluatorOutput {
        EvaluatorOutput::new(name, "categorical")
    }

    /// A finite number, within bounds if there are any.
    pub fn continuous(name: impl Into<String>) -> EvaluatorOutput {
        EvaluatorOutput::new(name, "continuous")
    }

    /// Any label and any score.
    pub fn freeform(name: impl Into<String>) -> EvaluatorOutput {
        EvaluatorOutput::new(name, "freeform")
    }

    /// The same with one more label of a categorical output.
    pub fn label(self, label: impl Into<String>) -> EvaluatorOutput {
        self.value([("label", Val::from(label.into()))])
    }

    /// The same with one more label and the score that goes with it.
    pub fn label_with_score(self, label: impl Into<String>, score: f64) -> EvaluatorOutput {
        self.value([("label", Val::from(label.into())), ("score", Val::F(score))])
    }

    fn value<const N: usize>(mut self, members: [(&'static str, Val<'static>); N]) -> EvaluatorOutput {
        self.0.push("values", Val::Map(members.into_iter().collect()));
        self
    }
}

setters! { EvaluatorOutput:
    /// The same with the least score.
    lower_bound(score: f64) => 0.put("lower_bound", Val::F(score));

    /// The same with the greatest score.
    upper_bound(score: f64) => 0.put("upper_bound", Val::F(score));

    /// The same; higher scores are better.
    maximize() => 0.put("optimization_direction", "maximize");

    /// The same; lower scores are better.
    minimize() => 0.put("optimization_direction", "minimize");
}

/// What a closure returns: a label, a score, nothing, or parts by name.
///
/// ```
/// use jurat::Return;
///
/// Return::from("pass");
/// Return::from(0.85);
/// Return::label("fail").score(0.2).explanation("it promises a date");
/// Return::each([("toxicity", Return::from(0.1)), ("safety", Return::from("pass"))]).explanation("for both");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Return(Object);

impl Return {
    /// The same in the form in which it is recorded: what JSON loses (`1` as against `1.0`, infinities) is recorded. It is what an
    /// [`evaluator_function`](crate::SuiteBuilder::evaluator_function) returns.
    pub fn to_value(&self) -> jurat_format::value::Value {
        transport::write(&self.0)
    }

    /// Nothing, which is an answer where there is no output to fill.
    pub fn nothing() -> Return {
        Return(Object::None)
    }

    /// A label; a score and an explanation may follow.
    pub fn label(label: impl Into<String>) -> Return {
        Return(Object::Dict(Vec::new())).member("label", Object::Str(label.into()))
    }

    /// An answer for each output, by its name.
    pub fn each<N: Into<String>>(answers: impl IntoIterator<Item = (N, Return)>) -> Return {
        let answer = |(name, it): (N, Return)| (Object::Str(name.into()), it.0);
        Return(Object::Dict(answers.into_iter().map(answer).collect()))
    }

    /// The same with a score. What was a bare label becomes the label beside it.
    pub fn score(self, score: f64) -> Return {
        self.parts().member("score", Object::Float(score))
    }

    /// The same with why. What was a bare label or score stands beside it.
    pub fn explanation(self, text: impl Into<String>) -> Return {
        self.parts().member("explanation", Object::Str(text.into()))
    }

    /// The same as an object of parts.
    fn parts(self) -> Return {
        let key = match &self.0 {
            Object::Dict(_) => return self,
            Object::None => return Return(Object::Dict(Vec::new())),
            number if number.is_number() => "score",
            _ => "label",
        };
        Return(Object::Dict(Vec::new())).member(key, self.0)
    }

    fn member(self, key: &str, value: Object) -> Return {
        let Object::Dict(mut members) = self.0 else { return self };
        members.retain(|(it, _)| it.as_str() != Some(key));
        members.push((Object::from(key), value));
        Return(Object::Dict(members))
    }
}

impl From<&str> for Return {
    fn from(label: &str) -> Return {
        Return(Object::from(label))
    }
}

impl From<String> for Return {
    fn from(label: String) -> Return {
        Return(Object::Str(label))
    }
}

impl From<f64> for Return {
    fn from(score: f64) -> Return {
        Return(Object::Float(score))
    }
}

impl From<i64> for Return {
    fn from(score: i64) -> Return {
        Return(Object::Int(score))
    }
}

/// A truth value is no number: it is the label `True` or `False`.
impl From<bool> for Return {
    fn from(label: bool) -> Return {
        Return(Object::Bool(label))
    }
}

/// Whatever serde made of a value. Whether it is a shape that is taken shows when it is held against the outputs.
impl From<serde_json::Value> for Return {
    fn from(value: serde_json::Value) -> Return {
        Return(given(&value).map_or(Object::None, |it| Object::from(&it)))
    }
}

impl<T: Into<Return>> From<Option<T>> for Return {
    fn from(value: Option<T>) -> Return {
        value.map_or_else(Return::nothing, Into::into)
    }
}
