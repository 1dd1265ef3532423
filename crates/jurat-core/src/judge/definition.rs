//! The `judge` of a task: which model is asked, what, and what it must answer; or the judge that is used, and where it finds its inputs.

use jurat_format::codes;
use jurat_format::field::{Defaulted, Field};
use jurat_format::fields::Fields;
use jurat_format::form::{Form, Key, Object};
use jurat_format::problem::{Problem, listed, nearest};
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape};
use jurat_format::value::{Node, Span, Spanned, Val, Value, shown_within};

use super::file::{self, InputKind, JudgeFile, JudgeInput};
use super::soft_score::{self, WrittenSoftScore};
use super::{Aggregate, READY, RUBRIC, Ready, SoftScore};
use crate::chat::{self, ChatText, MESSAGES};
use crate::evaluator;
use crate::evaluator::binding::{Binding, Origin};
use crate::output::{self, Output};
use crate::prompt::text::PromptText;
use crate::prompt::{self, PROMPT_FILE, TEXT_OR_FILE};
use crate::text_file;

/// A model asked to judge.
#[derive(Debug, Clone)]
pub struct Judge {
    /// A role under `models`, or `provider/model`. The role `judge` when absent.
    pub model: Option<Spanned<String>>,
    pub system: Option<PromptText>,
    /// What it is asked; first, when the judge that is used asks several questions.
    pub prompt: ChatText,
    /// What it must answer; any text when absent.
    pub output: Option<Output>,
    /// How many more requests one judgement may take.
    pub max_retries: u32,
    /// Several models, each asked; their answers are aggregated.
    pub panel: Vec<Spanned<String>>,
    /// How often each is asked.
    pub repeat: u32,
    /// How several answers become one.
    pub aggregate: Aggregate,
    /// The score from the probabilities of labels that is added to the reply.
    pub soft: Option<Spanned<SoftScore>>,
    /// The judge that is used, where the author does not write the prompt.
    pub used: Option<Box<UsedJudge>>,
}

/// A judge file that a task uses, and where its inputs come from.
#[derive(Debug, Clone)]
pub struct UsedJudge {
    pub file: JudgeFile,
    /// Where it is named.
    pub span: Span,
    pub arguments: Vec<JudgeArgument>,
    /// The author's criterion, where that is what is judged.
    pub rubric: Option<PromptText>,
}

/// An input of a used judge and where it comes from.
#[derive(Debug, Clone)]
pub struct JudgeArgument {
    pub binding: Binding,
    /// What it must be; anything when absent.
    pub kind: Option<InputKind>,
    /// What stands for it when it is not there.
    pub default: Option<Value>,
    /// Where the author says where it comes from.
    pub span: Option<Span>,
}

const MODEL: Field<Spanned<String>> =
    Field::optional("model", shape::TEXT, "the model that is asked: a role under `models`, or `provider/model`")
        .default_words("the role `judge`");

pub(crate) const SYSTEM: Field<PromptText> =
    Field::optional("system", prompt::SHAPE, "the system prompt; `${path}` is replaced by a value of the context");

const PROMPT: Field<ChatText> = Field::optional(
    "prompt",
    chat::SHAPE,
    "what the judge is asked; `${path}` is replaced by a value of the context. Not together with `messages`",
);

const USE: Field<(JudgeFile, Span)> = Field::optional(
    "use",
    Shape::new(TEXT_OR_FILE.form, used),
    "a ready judge by its name, or a judge file as `{file: …}`, in place of `prompt` and `output`",
);

const RUBRIC_TEXT: Field<PromptText> = Field::optional(
    "rubric",
    prompt::SHAPE,
    "a criterion in plain words, in place of `prompt` and `output`; `${path}` is replaced by a value of the context",
);

const WITH: Field<Vec<(Spanned<String>, Spanned<Origin>)>> = Field::optional(
    "with",
    Shape::new(Form::Map(&Form::Any), evaluator::read_with),
    "where inputs of the used judge come from: input name → path, `{value: …}`, or `{text: …}` with placeholders",
);

pub(crate) const OUTPUT: Field<Output> =
    Field::optional("output", output::SHAPE, "what the reply must be: fields in short form, or a JSON Schema")
        .default_words("any text");

const SOFT: Field<WrittenSoftScore> = Field::optional(
    "soft_score",
    soft_score::SHAPE,
    "a field of `output` with a short list of labels: the mean of the labels by their probabilities is added to the reply as `soft_score`. Needs a provider with logprobs",
);

const MAX_RETRIES: Defaulted<u32> = Field::optional(
    "max_retries",
    shape::count::<0>(),
    "retries per judgement, after an error that may pass or a reply that does not fit `output`",
)
.default(3);

const PANEL: Field<Vec<Spanned<String>>> =
    Field::optional("panel", shape::TEXTS, "several models, each of which is asked, in place of `model`");

const REPEAT: Defaulted<u32> =
    Field::optional("repeat", shape::count::<1>(), "number of times each model is asked").default(1);

const AGGREGATE: Defaulted<Aggregate> =
    Field::optional("aggregate", shape::choice(), "how several replies become one result").default_choice("majority");

static JUDGE: Object = Object {
    what: "a judge",
    keys: &[
        MODEL.key,
        SYSTEM.key,
        PROMPT.key,
        MESSAGES.key,
        OUTPUT.key,
        USE.key,
        RUBRIC_TEXT.key,
        WITH.key,
        SOFT.key,
        MAX_RETRIES.key,
        PANEL.key,
        REPEAT.key,
        AGGREGATE.key,
    ],
};

pub(crate) const SHAPE: Shape<Judge> = Shape::new(Form::Object(&JUDGE), read);

fn read(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<Judge> {
    let fields = JUDGE.fields(reading, node)?;
    let (system, prompt, output, used) = match wanted(reading, &fields) {
        Wanted::Prompt => {
            let system = fields.read(reading, &SYSTEM);
            let prompt = asked(reading, &fields);
            (system, prompt, fields.read(reading, &OUTPUT), None)
        }
        Wanted::Used => {
            let used = read_used(reading, &fields);
            let step = used.as_ref().and_then(|it| it.file.steps.first());
            let output = used.as_ref().map(|it| it.file.output.clone());
            (step.and_then(|it| it.system.clone()), step.map(|it| it.prompt.clone().into()), output, used.map(Box::new))
        }
    };
    let asked = match &used {
        Some(used) => used.file.steps.last().map(|it| &it.output),
        None => output.as_ref(),
    };
    // What could not be read may have the field.
    let is_flawed = asked.is_none() && [&OUTPUT.key, &USE.key].iter().any(|it| fields.key_span(*it).is_some());
    let soft = fields.read(reading, &SOFT).filter(|_| !is_flawed);
    let soft = soft.and_then(|it| soft_score::resolve(reading, it, asked, output.as_ref()));
    let (max_retries, repeat) = (fields.value(reading, &MAX_RETRIES), fields.value(reading, &REPEAT));
    let model = fields.read(reading, &MODEL);
    let panel = fields.read(reading, &PANEL).unwrap_or_default();
    let aggregate = fields.value(reading, &AGGREGATE);
    Some(Judge { model, system, prompt: prompt?, output, max_retries, panel, repeat, aggregate, soft, used })
}

/// What says what is asked.
enum Wanted {
    /// The author's own prompt.
    Prompt,
    /// A judge file.
    Used,
}

/// What says what is asked: exactly one of `prompt`, `messages`, `use` and `rubric`.
fn wanted(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Wanted {
    let said = |keys: &[&'static Key]| keys.iter().find_map(|it| Some((it.name, fields.key_span(*it)?)));
    let (own, used) =
        (said(&[&PROMPT.key, &MESSAGES.key, &OUTPUT.key, &SYSTEM.key]), said(&[&USE.key, &RUBRIC_TEXT.key]));
    match (own, used) {
        (Some((own, own_span)), Some((used, used_span))) => {
            let message = format!("a judge has either `{own}` or `{used}`, not both");
            let problem = Problem::new(&codes::CONFLICT, message).at(own_span, "this").at(used_span, "and this");
            reading.problem(problem.help("`jurat judges eject NAME` writes a ready judge into a file of yours"));
            Wanted::Used
        }
        (None, Some(_)) => Wanted::Used,
        (_, None) => {
            let keys = [&PROMPT.key, &MESSAGES.key, &USE.key, &RUBRIC_TEXT.key];
            if !keys.iter().any(|it| fields.key_span(*it).is_some() || fields.may_mean(*it)) {
                let problem =
                    Problem::new(&codes::MISSING_KEY, "a judge needs `prompt`, `messages`, `use` or `rubric`");
                let problem = problem.at(fields.span, "asks nothing");
                reading.problem(problem.help(
                    "`prompt` is what the judge is asked; `use` names a ready judge, which `jurat judges` lists",
                ));
            }
            if let Some(span) = fields.key_span(&WITH) {
                let problem = Problem::new(&codes::CONFLICT, "`with` is for judges with `use` or `rubric`");
                let problem = problem.at(span, "without effect");
                reading.problem(problem.help("a prompt of your own reads the case itself: `${path}`"));
            }
            Wanted::Prompt
        }
    }
}

/// The judge file that is used, with its inputs bound.
fn read_used(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<UsedJudge> {
    if let (Some(used), Some(rubric)) = (fields.key_span(&USE), fields.key_span(&RUBRIC_TEXT)) {
        let problem = Problem::new(&codes::CONFLICT, "a judge has either `use` or `rubric`, not both");
        reading.problem(problem.at(rubric, "and this").at(used, "this").help("make two tasks of it"));
        return None;
    }
    let rubric = fields.read(reading, &RUBRIC_TEXT);
    let (file, span) = match fields.key_span(&RUBRIC_TEXT) {
        Some(span) => (file::of_ready(reading, Ready::find(RUBRIC)?)?, span),
        None => fields.read(reading, &USE)?,
    };
    let with = fields.read(reading, &WITH).unwrap_or_default();
    for (name, _) in with.iter().filter(|(name, _)| !file.inputs.iter().any(|it| it.name == name.value)) {
        reading.problem(unknown_input(name, &file));
    }
    let argument = |input: &JudgeInput| argument(input, &with, rubric.as_ref());
    let arguments = file.inputs.iter().map(argument).collect();
    Some(UsedJudge { file, span, arguments, rubric })
}

/// The input that a rubric is given as.
const CRITERION: &str = "criterion";

fn argument(
    input: &JudgeInput,
    with: &[(Spanned<String>, Spanned<Origin>)],
    rubric: Option<&PromptText>,
) -> JudgeArgument {
    let said = with.iter().find(|(name, _)| name.value == input.name);
    let rubric = rubric.filter(|_| input.name == CRITERION);
    let from = match (said, rubric) {
        (Some((_, from)), _) => from.value.clone(),
        (None, Some(rubric)) => Origin::Text(Box::new(rubric.prompt.clone())),
        (None, None) => Origin::First(input.from.clone()),
    };
    let is_required = said.is_some() || input.default.is_none();
    let binding = Binding { parameter: input.name.clone(), from, is_required };
    let (kind, default) = (input.kind, input.default.clone());
    JudgeArgument { binding, kind, default, span: said.map(|(_, from)| from.span) }
}

fn unknown_input(name: &Spanned<String>, file: &JudgeFile) -> Problem {
    let message = format!("the judge `{}` has no input `{}`", file.name.value, name.value);
    let names = || file.inputs.iter().map(|it| it.name.as_str());
    let problem = Problem::new(&codes::UNKNOWN_PARAMETER, message).at(name.span, "unknown input");
    problem.did_you_mean(&name.value, names()).help(format!("it has {}", listed(names())))
}

/// Reads `use`: the name of a ready judge, or a judge file.
fn used(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<(JudgeFile, Span)> {
    if node.entries().is_some() {
        let fields = PROMPT_FILE.fields(reading, node)?;
        let file = fields.read(reading, &prompt::NAMED_FILE)?;
        let path = reading.beside(file.span, &file.value);
        let text = text_file::read(reading, &path, Some(file.span))?;
        return Some((file::of_text(reading, path, text)?, file.span));
    }
    let Some(name) = node.as_str() else {
        reading.wrong_type(what, "the name of a ready judge, or `{file: …}`", node);
        return None;
    };
    match Ready::find(name) {
        Some(ready) => Some((file::of_ready(reading, ready)?, node.span)),
        None => {
            reading.problem(unknown_judge(name, node.span));
            None
        }
    }
}

fn unknown_judge(name: &str, span: Span) -> Problem {
    let message = format!("there is no ready judge {}", shown_within(&Val::from(name), 40));
    let problem = Problem::new(&codes::WRONG_VALUE, message).at(span, "none of these");
    let names = || READY.iter().map(|it| it.name);
    let is_file = name.contains('/') || name.ends_with(".yaml") || name.ends_with(".yml");
    match nearest(name, names()) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None if is_file => problem.help(format!("for a judge file write `use: {{ file: {name} }}`")),
        None => problem.help(format!("there are {}", listed(names()))),
    }
}

/// What the judge is asked: `prompt` or `messages`.
fn asked(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<ChatText> {
    let (prompt, messages) = (fields.read(reading, &PROMPT), fields.read(reading, &MESSAGES));
    match (fields.key_span(&PROMPT), fields.key_span(&MESSAGES)) {
        (Some(prompt), Some(messages)) => {
            let problem = Problem::new(&codes::CONFLICT, "a judge has either `prompt` or `messages`, not both");
            reading
                .problem(problem.at(messages, "and this").at(prompt, "this").help("make the prompt the last message"));
            None
        }
        _ => prompt.or(messages),
    }
}
