//! Assertions about the tools that were called, as checks.

use jurat_format::value::{Val, Value};

use super::{AssertionType, Taken, Taking, Use};
use crate::document::{Object, plain, text, texts};

pub(super) static TYPES: &[AssertionType] = &[
    AssertionType::new("is-valid-openai-tools-call", Use::Filled, valid_call),
    AssertionType::new("is-valid-openai-function-call", Use::Filled, valid_call),
    AssertionType::new("is-valid-function-call", Use::Filled, valid_call),
    AssertionType::new("trajectory:tool-used", Use::Filled, tool_used),
    AssertionType::new("skill-used", Use::Filled, tool_used),
    AssertionType::new("trajectory:tool-sequence", Use::Filled, tool_sequence),
    AssertionType::new("trajectory:tool-args-match", Use::Filled, tool_arguments),
    AssertionType::new("trajectory:step-count", Use::Filled, step_count),
];

const TOOLS: &str = "tools of jurat are servers (MCP): name them under `tools` of the suite";

/// A task with a check; negated, its result is compared with `false`.
fn check(taking: &Taking<'_, '_>, check: Object) -> Object {
    let task = Object::new().with("check", check);
    match taking.is_negated {
        false => task,
        true => task.with("operator", text("equals")).with("expected_value", false),
    }
}

fn valid_call(taking: &mut Taking<'_, '_>) -> Result<Taken, String> {
    let task = check(taking, Object::new().with("kind", text("tool_called")));
    Ok(Taken::approximate(
        task,
        format!("any call of a tool passes, its arguments are not compared with a schema; {TOOLS}"),
    ))
}

/// The names that a value gives: text, a list, or `{name}`, `{pattern}`.
fn names(value: &Value) -> Result<Vec<String>, String> {
    match value {
        Val::Str(name) => Ok(vec![name.to_string()]),
        Val::List(items) => items.iter().map(|it| names(it).map(|it| it.concat())).collect(),
        Val::Map(map) if map.get("pattern").is_some() => Err("jurat compares names of tools, not patterns".to_owned()),
        Val::Map(map) => match map.get("name").or_else(|| map.get("tool")) {
            Some(name) => Ok(vec![plain(name)]),
            None => Err("it names no tool".to_owned()),
        },
        _ => Err("it names no tool".to_owned()),
    }
}

fn bounds(from: &Value, into: &mut Object) {
    for key in ["min", "max"] {
        into.put_some(key, from.get(key).filter(|it| matches!(it, Val::I(_))).cloned());
    }
}

fn tool_used(taking: &mut Taking<'_, '_>) -> Result<Taken, String> {
    let value = taking.needed()?;
    let names = names(value)?;
    if names.len() != 1 {
        return Err("several tools that must all be called: write a task for each".to_owned());
    }
    let mut called = Object::new().with("kind", text("tool_called")).with("tool", text(names.concat()));
    bounds(value, &mut called);
    Ok(Taken::approximate(check(taking, called), TOOLS))
}

fn tool_sequence(taking: &mut Taking<'_, '_>) -> Result<Taken, String> {
    let value = taking.needed()?;
    let steps = value.get("steps").unwrap_or(value);
    let is_exact = value.get("mode").and_then(Val::as_str) == Some("exact");
    let order =
        Object::new().with("kind", text("tool_order")).with("tools", texts(names(steps)?)).with("exact", is_exact);
    Ok(Taken::approximate(check(taking, order), TOOLS))
}

fn tool_arguments(taking: &mut Taking<'_, '_>) -> Result<Taken, String> {
    let value = taking.needed()?;
    let arguments =
        value.get("args").or_else(|| value.get("arguments")).and_then(Val::as_map).ok_or("it has no `args`")?;
    let names = names(value)?;
    let called = Object::new()
        .with("kind", text("tool_called"))
        .with("tool", text(names.concat()))
        .with("arguments", Val::Map(arguments.clone()));
    Ok(Taken::approximate(check(taking, called), TOOLS))
}

fn step_count(taking: &mut Taking<'_, '_>) -> Result<Taken, String> {
    let value = taking.needed()?;
    if value.get("type").is_some() || value.get("pattern").is_some() {
        return Err("steps of one kind are not counted by jurat".to_owned());
    }
    let mut called = Object::new().with("kind", text("tool_called"));
    match value {
        Val::I(exact) => called = called.with("min", *exact).with("max", *exact),
        value => bounds(value, &mut called),
    }
    if called.get("min").is_none() && called.get("max").is_some() {
        called.put("min", 0);
    }
    Ok(Taken::approximate(check(taking, called), "calls of tools are counted, not spans of a trace"))
}
