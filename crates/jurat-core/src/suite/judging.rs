//! The `judge` of a task: which model is asked, what, and what it must answer; or the judge that is used, and where it finds its inputs.

use std::ops::Range;

use jurat_format::codes;
use jurat_format::field::{Defaulted, Field};
use jurat_format::fields::Fields;
use jurat_format::form::{Form, Key, Object};
use jurat_format::problem::{Problem, listed, nearest};
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape};
use jurat_format::source::ReadError;
use jurat_format::value::{Node, Span, Spanned, Val, Value, shown_within};

use super::evaluators;
use super::judge_file::{self, InputKind, JudgeFile, JudgeInput};
use super::prompts::{self, ChatText, MESSAGES, PromptText};
use super::soft_score::{self, WrittenSoftScore};
use crate::evaluator::binding::{Binding, Origin};
use crate::foreign;
use crate::judge::{Aggregate, READY, RUBRIC, Ready, SoftScore};
use crate::output::{self, Output};
use crate::prompt::Prompt;
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

/// A text that may stand in a file of its own, and the name of that file.
pub(super) const TEXT_OR_FILE: Shape<(Spanned<String>, Option<String>)> = Shape::new(FORM, text_or_file);

pub(super) const FORM: Form = Form::Either(&[Form::Text, Form::Object(&PROMPT_FILE)]);

const FILE: Field<Spanned<String>> =
    Field::required("file", shape::TEXT, "the file that holds the text, relative to the file that names it");

static PROMPT_FILE: Object = Object { what: "a text in a file", keys: &[FILE.key] };

const MODEL: Field<Spanned<String>> =
    Field::optional("model", shape::TEXT, "the model that is asked: a role under `models`, or `provider/model`")
        .default_words("the role `judge`");
pub(super) const SYSTEM: Field<PromptText> =
    Field::optional("system", prompts::SHAPE, "the system prompt; `${path}` is replaced by a value of the context");
const PROMPT: Field<ChatText> = Field::optional(
    "prompt",
    prompts::CHAT_SHAPE,
    "what the judge is asked; `${path}` is replaced by a value of the context. Not together with `messages`",
);
const USE: Field<(JudgeFile, Span)> = Field::optional(
    "use",
    Shape::new(FORM, used),
    "a ready judge by its name, or a judge file as `{file: …}`, in place of `prompt` and `output`",
);
const RUBRIC_TEXT: Field<PromptText> = Field::optional(
    "rubric",
    prompts::SHAPE,
    "a criterion in plain words, in place of `prompt` and `output`; `${path}` is replaced by a value of the context",
);
const WITH: Field<Vec<(Spanned<String>, Spanned<Origin>)>> = Field::optional(
    "with",
    Shape::new(Form::Map(&Form::Any), evaluators::read_with),
    "where inputs of the used judge come from: input name → path, `{value: …}`, or `{text: …}` with placeholders",
);
pub(super) const OUTPUT: Field<Output> =
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

pub(super) const JUDGE_SHAPE: Shape<Judge> = Shape::new(Form::Object(&JUDGE), read);

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
        Some(span) => (judge_file::of_ready(reading, Ready::find(RUBRIC)?)?, span),
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
        let file = fields.read(reading, &FILE)?;
        let path = reading.beside(file.span, &file.value);
        let text = text_file::read(reading, &path, Some(file.span))?;
        return Some((judge_file::of_text(reading, path, text)?, file.span));
    }
    let Some(name) = node.as_str() else {
        reading.wrong_type(what, "the name of a ready judge, or `{file: …}`", node);
        return None;
    };
    match Ready::find(name) {
        Some(ready) => Some((judge_file::of_ready(reading, ready)?, node.span)),
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

/// Notes what looks like a placeholder and is sent as it is.
pub(super) fn note_literals(reading: &mut Reading<'_>, prompt: &Prompt, span: Span) {
    let literals = reading.places(span, prompt.literals().iter().map(|it| &prompt.text()[it.clone()]));
    for (literal, place) in prompt.literals().iter().zip(literals) {
        let written = shown_within(&Val::from(&prompt.text()[literal.clone()]), 40);
        let problem =
            Problem::new(&codes::LITERAL_PLACEHOLDER, format!("{written} is not a path, so it is sent as it is"));
        let problem = problem.at(place, "sent as text");
        reading.problem(problem.help("a placeholder is `${name}` or `${name.path}`, without spaces"));
    }
    foreign_placeholders(reading, prompt, span);
}

/// Notes placeholders in a text that is sent as it is.
pub(super) fn unfilled(reading: &mut Reading<'_>, node: &Node<'_>, remedy: &str) {
    let Some(text) = node.as_str() else { return };
    let prompt = Prompt::parse(text);
    let mut found: Vec<Range<usize>> = prompt.holes().iter().map(|it| it.range.clone()).collect();
    found.extend(foreign::placeholders(text));
    found.sort_unstable_by_key(|it| it.start);
    found.truncate(MOST_PLACEHOLDERS);
    let places = reading.places(node.span, found.iter().map(|it| &text[it.clone()]));
    for (found, place) in found.into_iter().zip(places) {
        let message = format!("nothing fills `{}` here, so it is sent as it is", &text[found]);
        let problem = Problem::new(&codes::LITERAL_PLACEHOLDER, message).at(place, "sent as text");
        reading.problem(problem.help(remedy));
    }
}

/// How many placeholders of one text are noted that nothing fills: one who wrote one wrote others in the same way.
const MOST_PLACEHOLDERS: usize = 3;

/// Notes every `{{name}}`, which other tools fill in and this one sends as it is.
fn foreign_placeholders(reading: &mut Reading<'_>, prompt: &Prompt, span: Span) {
    let text = prompt.text();
    let found: Vec<&str> = foreign::placeholders(text).take(MOST_PLACEHOLDERS).map(|it| &text[it]).collect();
    let places = reading.places(span, found.iter().copied());
    for (written, place) in found.into_iter().zip(places) {
        let problem = Problem::new(&codes::LITERAL_PLACEHOLDER, format!("`{written}` is sent as it is"));
        let name = written.trim_matches(['{', '}', ' ']);
        reading.problem(
            problem.at(place, "sent as text").help(format!(
                "a placeholder is written `${{{name}}}` here; for a Jinja template write `{{ jinja: … }}`"
            )),
        );
    }
}

/// The name of a file where its text was meant: one word that names a file which is there.
pub(super) fn path_for_text(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Problem> {
    const LONGEST: usize = 200;
    let name = node.as_str()?;
    let stem = name.rsplit_once('.').filter(|(stem, extension)| !stem.is_empty() && (1..=6).contains(&extension.len()));
    if stem.is_none() || name.len() > LONGEST || name.contains(|it: char| it.is_whitespace() || "${}\0".contains(it)) {
        return None;
    }
    let path = reading.beside(node.span, name);
    // A file that is too large to read is one, too.
    let is_there =
        !matches!(reading.files.read(&path, text_file::MAX_BYTES), Err(ReadError::NotFound | ReadError::Other(_)));
    is_there.then(|| {
        let message = format!("{what} is the text `{name}`, not what the file of that name holds");
        let problem = Problem::new(&codes::PATH_FOR_TEXT, message).at(node.span, "sent as text");
        problem.help(format!("write `{}: {{ file: {name} }}`", what.trim_matches('`')))
    })
}

/// Reads a text that may stand in a file of its own, and the name of that file.
fn text_or_file(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<(Spanned<String>, Option<String>)> {
    if node.entries().is_some() {
        let fields = PROMPT_FILE.fields(reading, node)?;
        let file = fields.read(reading, &FILE)?;
        return Some((file_text(reading, &file)?, Some(file.value)));
    }
    let Some(text) = node.as_str() else {
        reading.wrong_type(what, "text, or `{file: …}`", node);
        return None;
    };
    if let Some(problem) = path_for_text(reading, what, node) {
        reading.problem(problem);
        return None;
    }
    Some((Spanned::new(text.to_owned(), node.span), None))
}

/// The text of a file beside the definition; it becomes a source of its own, so that problems can point into it.
pub(super) fn file_text(reading: &mut Reading<'_>, file: &Spanned<String>) -> Option<Spanned<String>> {
    let path = reading.beside(file.span, &file.value);
    let text = text_file::read(reading, &path, Some(file.span))?;
    let length = text.len();
    let id = reading.sources.add(path, text.clone());
    Some(Spanned::new(text, Span::new(id, 0..length)))
}
