//! The judges of an evaluation: their names, how many times each is asked, and their system prompt.

use jurat_format::codes;
use jurat_format::field::{Defaulted, Field};
use jurat_format::fields::Fields;
use jurat_format::form::{Form, Object};
use jurat_format::problem::{Problem, listed_all};
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Tree, Unused};
use jurat_format::value::{Map, Node, Spanned};

use super::{JUDGE_RUNS, JUDGE_SYSTEM_PROMPT, JUDGE_SYSTEM_PROMPT_PATH, JUDGES, JudgeRun};
use crate::evaluation::SYSTEM;
use crate::model::role::Role;
use crate::model::{Model, ModelSettings, is_provider_and_model};
use crate::text_file;

const JUDGE_ID: Field<Spanned<String>> = Field::required("judge_id", shape::TEXT, "its name");
const TYPE: Field<Spanned<String>> = Field::optional("type", shape::TEXT, "the kind: `llm`, or `llm_probe`").or_null();
const MODEL: Field<Spanned<String>> =
    Field::optional("model", shape::TEXT, "the model: a role under `models`, or `provider/model`")
        .or(&["judge_model", "model_id"])
        .or_null()
        .default_words("the role of its own name");
const REQUEST_OPTIONS: Field<Tree> = Field::optional(
    "request_options",
    shape::tree(Form::Map(&Form::Any)),
    "settings of a `provider/model`: `temperature`, `max_tokens` and others, by the provider's names",
)
.or_null();

pub(crate) static JUDGE: Object =
    Object { what: "a judge of an evaluation", keys: &[JUDGE_ID.key, TYPE.key, MODEL.key, REQUEST_OPTIONS.key] };

const JUDGE_RUN_ID: Field<Unused> = Field::optional("judge_run_id", shape::unused(Form::Text), "its name");
const JUDGE_OF_RUN: Field<Spanned<String>> = Field::required("judge_id", shape::TEXT, "one of `judges`");
const REPETITIONS: Defaulted<u32> =
    Field::optional("repetitions", shape::count::<1>(), "number of times it is asked").or_null().default(1);
const SAMPLE_SIZE: Field<Unused> =
    Field::optional("sample_size", shape::unused(Form::Integer(1)), "not used: every case is judged").or_null();

pub(crate) static JUDGE_RUN: Object =
    Object { what: "a run of a judge", keys: &[JUDGE_RUN_ID.key, JUDGE_OF_RUN.key, REPETITIONS.key, SAMPLE_SIZE.key] };

/// The judges that are asked. Each that brings settings of its own becomes a role of its name.
pub(crate) fn runs(reading: &mut Reading<'_>, roles: &mut Vec<Role>, fields: &Fields<'_, '_>) -> Vec<JudgeRun> {
    let mut judges: Vec<(Spanned<String>, Spanned<String>)> = Vec::new();
    if let Some(node) = fields.node(&JUDGES) {
        for item in reading.list(&JUDGES.quoted(), "a list of judges", node) {
            let Some((id, model)) = judge(reading, roles, item) else { continue };
            if let Some((first, _)) = judges.iter().find(|(it, _)| it.value == id.value) {
                let problem = Problem::new(&codes::DUPLICATE_ID, format!("two judges are called `{}`", id.value));
                let problem = problem.at(id.span, "again here").at(first.span, "first here");
                reading.problem(problem.help("give one of them another `judge_id`, or use `repetitions`"));
                continue;
            }
            judges.push((id, model));
        }
    }
    let Some(node) = fields.node(&JUDGE_RUNS) else {
        let once =
            |(id, model): (Spanned<String>, _)| JudgeRun { judge: id.value, model, repetitions: REPETITIONS.value };
        return judges.into_iter().map(once).collect();
    };
    let mut runs: Vec<JudgeRun> = Vec::new();
    for item in reading.list(&JUDGE_RUNS.quoted(), "a list of runs of judges", node) {
        let Some(fields) = JUDGE_RUN.fields(reading, item) else { continue };
        let repetitions = fields.value(reading, &REPETITIONS);
        if let Some(span) = fields.key_span(&SAMPLE_SIZE).filter(|_| fields.node(&SAMPLE_SIZE).is_some()) {
            let problem = Problem::new(&codes::UNUSED_SETTING, "`sample_size` is not used: every case is judged");
            reading.problem(problem.at(span, "not used").help("`--limit` and `--tag` select cases"));
        }
        let Some(id) = fields.read(reading, &JUDGE_OF_RUN) else { continue };
        match judges.iter().find(|(it, _)| it.value == id.value) {
            Some((_, model)) => {
                // Several runs of one judge go on counting, so that each of them is a question of its own.
                runs.push(JudgeRun { judge: id.value, model: model.clone(), repetitions });
            }
            None => {
                let message = format!("there is no judge `{}`", id.value);
                let problem = Problem::new(&codes::WRONG_VALUE, message).at(id.span, "unknown judge");
                let names = || judges.iter().map(|(it, _)| it.value.as_str());
                let problem = problem.did_you_mean(&id.value, names());
                reading.problem(match judges.is_empty() {
                    true => problem.help("`judges` has none"),
                    false => problem.help(format!("`judges` has {}", listed_all(names()))),
                });
            }
        }
    }
    runs
}

/// A judge: its name, and who is asked.
fn judge(
    reading: &mut Reading<'_>,
    roles: &mut Vec<Role>,
    node: &Node<'_>,
) -> Option<(Spanned<String>, Spanned<String>)> {
    if node.entries().is_none() {
        let role = reading.text("a judge", node)?;
        return Some((role.clone(), role));
    }
    let fields = JUDGE.fields(reading, node)?;
    let id = fields.read(reading, &JUDGE_ID);
    let model = fields.read(reading, &MODEL);
    let kind = fields.read(reading, &TYPE);
    if let Some(kind) = kind.filter(|it| !KINDS.contains(&it.value.as_str())) {
        let message = format!("a judge of the type `{}` cannot be asked", kind.value);
        let problem = Problem::new(&codes::NOT_SUPPORTED, message).at(kind.span, "unknown type");
        reading.problem(problem.help("judges are models: drop `type`, or write `llm`"));
    }
    let id = id?;
    let model = model.unwrap_or_else(|| id.clone());
    let options = fields.node(&REQUEST_OPTIONS).filter(|it| it.entries().is_none_or(|it| !it.is_empty()));
    let Some(options) = options else { return Some((id, model)) };
    let Some(entries) = options.entries() else {
        reading.wrong_type("`request_options`", "an object", options);
        return None;
    };
    if !is_provider_and_model(&model.value) {
        let message = format!("`request_options` are for a `provider/model`, and `{}` is a role", model.value);
        let problem = Problem::new(&codes::CONFLICT, message).at(options.span, "whose?");
        reading.problem(problem.help(format!("put them into `models: {{ {}: {{ … }} }}`", model.value)));
        return None;
    }
    let mut settings = ModelSettings::default();
    let mut extra: Map<'static> = Map::default();
    for entry in entries {
        if RESERVED.contains(&&*entry.key) {
            let message = format!("`{}` is not for `request_options`: jurat sets it", entry.key);
            reading.problem(Problem::new(&codes::WRONG_VALUE, message).at(entry.key_span, "drop it"));
            continue;
        }
        if SETTINGS.contains(&&*entry.key) {
            settings.read(reading, &entry.key, &entry.value);
        } else {
            extra.insert(entry.key.clone().into_owned().into(), entry.value.to_val().into_owned());
        }
    }
    if !extra.is_empty() {
        settings.add_extra(extra, options.span);
    }
    if let Some(earlier) = roles.iter().find(|it| it.name.value == id.value) {
        let message = format!("the judge `{}` has settings of its own, and so has the role", id.value);
        let problem = Problem::new(&codes::CONFLICT, message).at(id.span, "this judge").at(earlier.name.span, "a role");
        reading.problem(problem.help("rename one of them"));
        return None;
    }
    roles.push(Role { name: id.clone(), models: vec![Model { model, settings }] });
    Some((id.clone(), id))
}

/// What judges may call themselves.
const KINDS: [&str; 4] = ["llm", "llm_probe", "llm_judge", "model"];
/// Settings of models that have names of their own.
const SETTINGS: [&str; 6] = ["temperature", "top_p", "max_tokens", "seed", "base_url", "api_key_env"];
/// Members of requests that are not the author's.
const RESERVED: [&str; 5] = ["model", "messages", "stream", "tools", "response_format"];

/// The system prompt of judges. Lines of a text in the definition, or in a file that is no Markdown, are one paragraph.
pub(crate) fn system(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> String {
    let inline = fields.read(reading, &JUDGE_SYSTEM_PROMPT).map(|it| joined(&it)).filter(|it| !it.is_empty());
    let path = fields.read(reading, &JUDGE_SYSTEM_PROMPT_PATH).filter(|it| !it.value.trim().is_empty());
    match (inline, path) {
        (Some(_), Some(path)) => {
            let message = "`judge_system_prompt` and `judge_system_prompt_path` say the same";
            let problem = Problem::new(&codes::CONFLICT, message).at(path.span, "and this");
            let at = fields.key_span(&JUDGE_SYSTEM_PROMPT).unwrap_or(fields.span);
            reading.problem(problem.at(at, "this").help("keep one of them"));
            SYSTEM.to_owned()
        }
        (Some(inline), None) => inline,
        (None, Some(path)) => {
            let file = reading.beside(path.span, &path.value);
            let Some(text) = text_file::read(reading, &file, Some(path.span)) else {
                return SYSTEM.to_owned();
            };
            reading.sources.add(&file, text.clone());
            let is_markdown = file.extension().is_some_and(|it| it.eq_ignore_ascii_case("md"));
            let text = if is_markdown { text.replace("\r\n", "\n").trim().to_owned() } else { joined(&text) };
            if text.is_empty() {
                let problem = Problem::new(&codes::WRONG_VALUE, "the system prompt of judges is empty");
                reading.problem(problem.at(path.span, "this file").help("drop the key, and jurat's own is used"));
            }
            text
        }
        (None, None) => SYSTEM.to_owned(),
    }
}

fn joined(text: &str) -> String {
    text.lines().map(str::trim).filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ")
}
