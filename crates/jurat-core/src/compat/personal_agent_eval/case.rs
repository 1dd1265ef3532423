//! A case of a campaign in jurat's own form.

use jurat_format::codes;
use jurat_format::field::{Field, METADATA};
use jurat_format::fields::Fields;
use jurat_format::form::{Form, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Tree, Unused};
use jurat_format::value::{Content, Entry, Node, Spanned};

use super::message::turn_messages;
use super::tree::{entry, list, map, text};
use super::{CampaignAgent, LIMITS, Profile, SETTINGS, unused};

pub(super) const MESSAGES: Field<Tree> =
    Field::optional("messages", shape::tree(Form::List(&Form::Map(&Form::Any))), "the first messages to the agent")
        .or_null();
pub(super) const TURNS: Field<Tree> =
    Field::optional("turns", shape::tree(Form::List(&Form::Map(&Form::Any))), "further messages, one turn each")
        .or_null();
const ATTACHMENTS: Field<Tree> =
    Field::optional("attachments", shape::tree(Form::List(&Form::Text)), "files that are shown to it").or_null();
const CONTEXT: Field<Tree> =
    Field::optional("context", shape::tree(Form::Map(&Form::Any)), "settings of its runner").or_null();

static INPUT_KEYS: Object = Object { what: "`input`", keys: &[MESSAGES.key, TURNS.key, ATTACHMENTS.key, CONTEXT.key] };

const SCHEMA_VERSION: Field<Unused> = Field::required("schema_version", shape::unused(Form::Integer(1)), "1").or_null();
pub(super) const CASE_ID: Field<Spanned<String>> = Field::required("case_id", shape::TEXT, "its name");
const TITLE: Field<Tree> = Field::optional("title", shape::tree(Form::Text), "what it is for").or_null();
const RUNNER: Field<Tree> =
    Field::required("runner", shape::tree(Form::Map(&Form::Any)), "the program that runs it: `type` and settings");
const INPUT: Field<Tree> = Field::required("input", shape::tree(Form::Object(&INPUT_KEYS)), "the input of the agent");
const EXPECTATIONS: Field<Tree> =
    Field::optional("expectations", shape::tree(Form::Map(&Form::Any)), "what is expected of its runs").or_null();
const RUBRIC: Field<Tree> =
    Field::optional("rubric", shape::tree(Form::Map(&Form::Any)), "what scores of its runs mean").or_null();
const DETERMINISTIC_CHECKS: Field<Tree> =
    Field::optional("deterministic_checks", shape::tree(Form::List(&Form::Map(&Form::Any))), "checks of its runs")
        .or_null();
pub(super) const TAGS: Field<Vec<Spanned<String>>> =
    Field::optional("tags", shape::TEXTS, "words to select it by").or_null();

pub(super) static CASE: Object = Object {
    what: "a case of a campaign",
    keys: &[
        SCHEMA_VERSION.key,
        CASE_ID.key,
        TITLE.key,
        RUNNER.key,
        INPUT.key,
        EXPECTATIONS.key,
        RUBRIC.key,
        DETERMINISTIC_CHECKS.key,
        TAGS.key,
        METADATA.key,
    ],
};

/// A case in jurat's own form.
pub(super) fn case<'d>(
    reading: &mut Reading<'_>,
    fields: &Fields<'_, 'd>,
    profile: &Profile<'d>,
    agent: Option<&Spanned<String>>,
    agents: &[CampaignAgent<'d>],
) -> Option<Node<'d>> {
    let mut members: Vec<Entry<'d>> = Vec::new();
    let mut put = |key: &'static str, value: Node<'d>| members.push(entry(key, value));
    put("id", fields.node(&CASE_ID)?.clone());
    for (from, to) in [
        (TITLE.key, "description"),
        (EXPECTATIONS.key, "expectations"),
        (RUBRIC.key, "rubric"),
        (TAGS.key, "tags"),
        (METADATA.key, "metadata"),
    ] {
        if let Some(node) = fields.node(&from) {
            put(to, node.clone());
        }
    }
    let input = INPUT_KEYS.fields(reading, fields.node(&INPUT)?)?;
    let context = input.node(&CONTEXT);
    let runner = fields.node(&RUNNER)?;
    let kind = runner.get("type").and_then(|it| it.as_str().map(|text| Spanned::new(text.to_owned(), it.span)));
    let Some(kind) = kind else {
        let problem = Problem::new(&codes::MISSING_KEY, "a runner needs `type`").at(runner.span, "run by whom?");
        reading.problem(problem.help("`llm_probe` or `openclaw`"));
        return None;
    };
    let mut limits: Vec<Entry<'d>> = Vec::new();
    let own = runner.entries().unwrap_or(&[]).iter().filter(|it| &*it.key != "type");
    let of_probe = (kind.value == "llm_probe").then(|| profile.defaults.iter()).into_iter().flatten();
    for (is_own, it) in of_probe.map(|it| (false, it)).chain(own.map(|it| (true, it))) {
        match LIMITS.iter().find(|(name, _)| *name == &*it.key) {
            Some((_, limit)) => {
                limits.retain(|it| it.key != *limit);
                limits.push(entry(limit, it.value.clone()));
            }
            None if !is_own && SETTINGS.contains(&&*it.key) => {}
            None => {
                let message = format!("`{}` of a runner is not used", it.key);
                unused(reading, it.key_span, message, "settings of models stand in the run profile or under `models`");
            }
        }
    }
    let mut who = vec![entry("runner", runner.get("type")?.clone())];
    match kind.value.as_str() {
        "llm_probe" => {
            let probe = context.and_then(|it| it.get("llm_probe"));
            let tools = probe.and_then(|it| it.get("tools")).filter(|it| !it.is_null());
            let (usable, others): (Vec<_>, Vec<_>) =
                tools.and_then(Node::as_list).unwrap_or(&[]).iter().partition(|it| {
                    it.as_str().is_some_and(|it| ["exec_shell", "read_file", "write_file"].contains(&it))
                });
            for tool in others {
                let message = format!("the tool {} cannot be given to a model", tool.to_val());
                unused(reading, tool.span, message, "there are `exec_shell`, `read_file` and `write_file`");
            }
            if !usable.is_empty() {
                who.push(entry("tools", list(runner.span, usable.into_iter().cloned().collect())));
            }
            if let Some(choice) = probe.and_then(|it| it.get("tool_choice")).filter(|it| it.as_str() != Some("auto")) {
                unused(reading, choice.span, "`tool_choice` is not used", "models choose by themselves");
            }
        }
        "openclaw" => {
            if let Some(time) = &profile.time {
                limits.retain(|it| it.key != "time");
                limits.push(entry("time", time.clone()));
            }
            if let Some(image) = &profile.image {
                let mut container = vec![entry("image", image.clone())];
                container.extend(profile.engine.clone().map(|it| entry("engine", it)));
                let container = map(image.span, vec![entry("container", map(image.span, container))]);
                who.push(entry("sandbox", container));
            }
            let hints = context.and_then(|it| it.get("openclaw"));
            if let Some(expected) = hints.and_then(|it| it.get("expected_artifact")).filter(|it| !it.is_null()) {
                let files = expected.as_list().map_or_else(|| vec![expected.clone()], <[_]>::to_vec);
                put("key_outputs", list(expected.span, files));
            }
            match agent.map(|named| (named, agents.iter().find(|it| it.id.value == named.value))) {
                Some((_, Some(agent))) => {
                    // The directory stands beside the agent's file, so its name is written there.
                    put("workspace", text(agent.span, "workspace"));
                    who.extend(agent.config.clone().map(|it| entry("config", it)));
                }
                Some((named, None)) => {
                    let problem = Problem::new(&codes::UNKNOWN_AGENT, format!("there is no agent `{}`", named.value));
                    let names = || agents.iter().map(|it| it.id.value.as_str());
                    let problem = problem.at(named.span, "unknown agent").did_you_mean(&named.value, names());
                    reading.problem(problem.help("agents are `agents/ID/agent.yaml` beside the suites"));
                    return None;
                }
                None => {
                    let problem = Problem::new(&codes::UNKNOWN_AGENT, "no agent is assigned to this case");
                    let problem = problem.at(kind.span, "an agent's case");
                    reading.problem(problem.help("the suite assigns agents, or the run profile names one"));
                    return None;
                }
            }
        }
        other => {
            let problem = Problem::new(&codes::WRONG_VALUE, format!("there is no runner `{other}`"));
            reading.problem(problem.at(kind.span, "unknown runner").help("`llm_probe` or `openclaw`"));
            return None;
        }
    }
    if !limits.is_empty() {
        who.push(entry("limits", map(runner.span, limits)));
    }
    put("agent", map(runner.span, who));
    turn_messages(reading, &input, &mut put);
    if let Some(files) = input.node(&ATTACHMENTS) {
        put("attachments", files.clone());
    }
    if let Some(checks) = fields.node(&DETERMINISTIC_CHECKS) {
        put("deterministic_checks", distinguished(reading, checks));
    }
    Some(map(fields.span, members))
}

/// Checks that have one name get different names: the program knows them by their places.
fn distinguished<'d>(reading: &mut Reading<'_>, checks: &Node<'d>) -> Node<'d> {
    let mut seen: Vec<String> = Vec::new();
    let Some(items) = checks.as_list() else { return checks.clone() };
    let mut renamed = Vec::with_capacity(items.len());
    for item in items {
        let mut item = item.clone();
        if let Content::Map(entries) = &mut item.content {
            for it in entries.iter_mut().filter(|it| it.key == "check_id") {
                let Some(id) = it.value.as_str().map(str::to_owned) else { continue };
                let mut name = id.clone();
                let mut nth = 2;
                while seen.contains(&name) {
                    name = format!("{id}-{nth}");
                    nth += 1;
                }
                if name != id {
                    let message = format!("two checks are called `{id}`; this one is called `{name}`");
                    unused(reading, it.value.span, message, "give each a `check_id` of its own");
                    it.value = text(it.value.span, &name);
                }
                seen.push(name);
            }
        }
        renamed.push(item);
    }
    list(checks.span, renamed)
}
