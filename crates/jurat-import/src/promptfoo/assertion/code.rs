//! Assertions that are code: JavaScript and Python, wrapped into evaluators that run in jurat's sandbox.

use jurat_format::value::{Val, Value};

use super::super::places::ending;
use super::{AssertionType, Taken, Taking, Use};
use crate::document::{Object, text};

pub(super) static TYPES: &[AssertionType] =
    &[AssertionType::new("javascript", Use::Code, javascript), AssertionType::new("python", Use::Code, python)];

const DIFFERENCE: &str = "the code runs in jurat's sandbox; `context` has `vars`, `prompt` and `config`; a name that does not exist there is an error, not a failure";

/// What code of a sandbox does not have.
const NOT_IN_JAVASCRIPT: [&str; 6] = ["require", "fetch", "process", "await", "import", "async"];

/// An evaluator with this code in a file of its own.
pub(super) fn evaluator(taking: &mut Taking<'_, '_>, wanted: &str, ending: &str, source: &str) -> String {
    let file = taking.draft.code(wanted, ending, source);
    let definition = Object::new().with("source", Object::new().with("file", text(file)));
    taking.draft.evaluator(wanted, definition)
}

fn javascript(taking: &mut Taking<'_, '_>) -> Result<Taken, String> {
    let written = taking.needed()?.as_str().ok_or("its value is no text")?.to_owned();
    let threshold = taking.spec.get("threshold").and_then(Val::as_f64);
    let config = taking.spec.get("config").cloned().unwrap_or_else(|| Object::new().into());
    let (body, name) = match written.strip_prefix("file://") {
        Some(reference) => (javascript_file(taking, reference)?, file_name(reference)),
        None => (javascript_body(&written), "javascript".to_owned()),
    };
    let words = identifiers(&body);
    if let Some(word) = NOT_IN_JAVASCRIPT.iter().find(|it| words.contains(it)) {
        return Err(format!("its code uses `{word}`, which code in jurat's sandbox does not have"));
    }
    let source = javascript_source(&body, threshold, &config, taking.is_structured);
    let evaluator = evaluator(taking, &name, "js", &source);
    Ok(Taken::approximate(taking.labelled(&evaluator, ("pass", "fail")), DIFFERENCE))
}

fn file_name(reference: &str) -> String {
    let path = reference.split(':').next().unwrap_or(reference);
    let name = path.rsplit('/').next().unwrap_or(path);
    jurat_format::id::repaired(name.split('.').next().unwrap_or(name))
}

/// Lines are the body of a function. One line is an expression, or declarations and the expression that they are for.
fn javascript_body(written: &str) -> String {
    let line = written.trim().trim_end_matches(';').trim_end();
    let begins = |word: &str| line.strip_prefix(word).is_some_and(|it| it.starts_with([' ', '(']));
    if line.contains('\n') || ["return", "if"].into_iter().any(begins) {
        return format!("\n{}\n", written.trim_end());
    }
    match line.rsplit_once(';').filter(|_| ["const", "let", "var"].into_iter().any(begins)) {
        Some((declared, last)) if last.trim().starts_with("return ") => format!("\n    {declared};{last}\n"),
        Some((declared, last)) => format!("\n    {declared};\n    return ({});\n", last.trim()),
        None => format!("\n    return ({line});\n"),
    }
}

/// The function of a file, called as promptfoo calls it.
fn javascript_file(taking: &Taking<'_, '_>, reference: &str) -> Result<String, String> {
    let (path, function) = match reference.split_once(':') {
        Some((path, function)) => (path, Some(function)),
        None => (reference, None),
    };
    if !matches!(ending(path).as_str(), "js" | "cjs" | "mjs") {
        return Err(format!("code in `.{}` files is not taken over", ending(path)));
    }
    let (_, source) = taking.places.text(path)?;
    let source = source.replace("export default ", "module.exports = ").replace("export function ", "function ");
    if source.lines().any(|it| it.starts_with("export ")) {
        return Err("its code exports by `export`; promptfoo's `module.exports` is taken over".to_owned());
    }
    let call = match function {
        Some(function) => format!("(module.exports.{function} ?? module.exports.default?.{function})"),
        None => "(module.exports.default ?? module.exports)".to_owned(),
    };
    Ok(format!(
        "\n    const module = {{ exports: {{}} }};\n    let exports = module.exports;\n{}\n    return {call}(output, context);\n",
        source.trim_end()
    ))
}

/// A whole evaluator around the body of a function. Where answers are structured the function gets what their text says, as promptfoo's own providers give it.
pub(super) fn javascript_source(body: &str, threshold: Option<f64>, config: &Value, is_structured: bool) -> String {
    let (parsed, given) = match is_structured {
        true => (PARSED_IN_JAVASCRIPT, "parsed(output)"),
        false => ("", "output"),
    };
    let bound = match threshold {
        Some(threshold) => format!("score >= {threshold}"),
        None => "score > 0".to_owned(),
    };
    format!(
        r#"// Imported from promptfoo.
function assertion(output, context) {{{body}}}
{parsed}
export function evaluate({{ output, vars = {{}}, input = "" }}) {{
  let result;
  try {{
    result = assertion({given}, {{ vars, prompt: input, config: {config} }});
  }} catch (error) {{
    // Code that names something unknown is wrong. Other errors are about the answer, and fail it as in promptfoo.
    if (error instanceof ReferenceError) throw error;
    return {{ label: "threw", score: 0, explanation: `the code threw ${{error}}` }};
  }}
  if (typeof result === "boolean") return result ? "pass" : "fail";
  if (typeof result === "number") {{
    const score = result;
    return {{ label: {bound} ? "pass" : "fail", score }};
  }}
  if (result === null || typeof result !== "object") throw new Error("the assertion returned neither a boolean, a number nor an object");
  const {{ pass, score = pass ? 1 : 0, reason = "" }} = result;
  return {{ label: pass ? "pass" : "fail", score, explanation: String(reason) }};
}}
"#,
        config = config.to_json(),
    )
}

const PARSED_IN_JAVASCRIPT: &str = "
function parsed(output) {
  if (typeof output !== \"string\") return output;
  try {
    return JSON.parse(output);
  } catch {
    return output;
  }
}
";

const PARSED_IN_PYTHON: &str = "

def _parsed(output):
    if not isinstance(output, str):
        return output
    try:
        return json.loads(output)
    except ValueError:
        return output
";

/// Modules of Python that are always there and need no network.
const STANDARD: [&str; 32] = [
    "ast",
    "base64",
    "bisect",
    "collections",
    "copy",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "enum",
    "fractions",
    "functools",
    "hashlib",
    "heapq",
    "html",
    "itertools",
    "json",
    "math",
    "numbers",
    "operator",
    "random",
    "re",
    "statistics",
    "string",
    "sys",
    "textwrap",
    "time",
    "typing",
    "unicodedata",
    "urllib",
    "uuid",
    "warnings",
];

fn python(taking: &mut Taking<'_, '_>) -> Result<Taken, String> {
    let written = taking.needed()?.as_str().ok_or("its value is no text")?.to_owned();
    let threshold = taking.spec.get("threshold").and_then(Val::as_f64);
    let config = taking.spec.get("config").cloned().unwrap_or_else(|| Object::new().into());
    let (code, name) = match written.strip_prefix("file://") {
        Some(reference) => (python_file(taking, reference)?, file_name(reference)),
        None => (python_function(&written), "python".to_owned()),
    };
    if let Some(module) = imported(&code).find(|it| !STANDARD.contains(it)) {
        return Err(format!(
            "its code imports `{module}`, which is not in Python's standard library or needs the network"
        ));
    }
    let source = python_source(&code, threshold, &config, taking.is_structured);
    let evaluator = evaluator(taking, &name, "py", &source);
    Ok(Taken::approximate(taking.labelled(&evaluator, ("pass", "fail")), DIFFERENCE))
}

/// The modules that code imports.
fn imported(code: &str) -> impl Iterator<Item = &str> {
    let statements = code.split(['\n', ';']).map(str::trim);
    statements.flat_map(|it| {
        let names = match it.strip_prefix("from ") {
            Some(rest) => rest.split(" import").next().unwrap_or_default(),
            None => it.strip_prefix("import ").unwrap_or_default(),
        };
        names.split(',').map(|it| it.trim().split(['.', ' ']).next().unwrap_or_default()).filter(|it| !it.is_empty())
    })
}

fn python_function(written: &str) -> String {
    let is_body = written.trim().contains('\n') || identifiers(written).contains(&"return");
    if !is_body {
        return format!("def _assertion(output, context):\n    return ({})\n", written.trim());
    }
    let body: String = written.lines().map(|it| format!("    {it}\n")).collect();
    format!("def _assertion(output, context):\n{body}")
}

fn python_file(taking: &Taking<'_, '_>, reference: &str) -> Result<String, String> {
    let (path, function) = match reference.split_once(':') {
        Some((path, function)) => (path, function),
        None => (reference, "get_assert"),
    };
    if ending(path) != "py" {
        return Err(format!("code in `.{}` files is not taken over", ending(path)));
    }
    let (_, source) = taking.places.text(path)?;
    if !source.contains(&format!("def {function}(")) {
        return Err(format!("its file has no function `{function}`"));
    }
    if source.contains(&format!("async def {function}(")) {
        return Err("its function is a coroutine".to_owned());
    }
    Ok(format!("{}\n\n\n_assertion = {function}\n", source.trim_end()))
}

fn python_source(code: &str, threshold: Option<f64>, config: &Value, is_structured: bool) -> String {
    let bound = match threshold {
        Some(threshold) => format!("result >= {threshold}"),
        None => "result > 0".to_owned(),
    };
    // Of an object the threshold is one more condition, in Python alone.
    let enough = threshold.map_or_else(String::new, |it| format!(" and score >= {it}"));
    let (parsed, given) = if is_structured { (PARSED_IN_PYTHON, "_parsed(output)") } else { ("", "output") };
    let config = jurat_format::value::python::repr(config);
    format!(
        r#"# Imported from promptfoo, where code has `json` without importing it.
import json


{code}
{parsed}

def evaluate(output, vars={{}}, input=""):
    try:
        result = _assertion({given}, {{"vars": vars, "prompt": input, "config": {config}}})
    except (NameError, ImportError, MemoryError):
        raise
    except Exception as error:
        # It is about the answer, and fails it as in promptfoo.
        return {{"label": "threw", "score": 0, "explanation": f"the code raised {{type(error).__name__}}: {{error}}"}}
    if isinstance(result, bool):
        return "pass" if result else "fail"
    if isinstance(result, (int, float)):
        return {{"label": "pass" if {bound} else "fail", "score": result}}
    passed = result.get("pass", result.get("pass_", False))
    score = result.get("score", 1 if passed else 0)
    passed = bool(passed){enough}
    return {{"label": "pass" if passed else "fail", "score": score, "explanation": str(result.get("reason", ""))}}
"#,
    )
}

/// The words of a code that can be names, outside of texts and comments as far as one line says.
fn identifiers(code: &str) -> Vec<&str> {
    let is_part = |it: char| it.is_alphanumeric() || it == '_' || it == '$';
    let mut words = Vec::new();
    for line in code.lines() {
        let line = line.split("//").next().unwrap_or(line);
        for (ix, part) in line.split(['"', '\'', '`']).enumerate() {
            if ix % 2 == 0 {
                words.extend(part.split(|it| !is_part(it)).filter(|it| !it.is_empty()));
            }
        }
    }
    words
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn words_in_texts_are_no_names() {
        assert_eq!(identifiers("output.includes('fetch me') // await"), ["output", "includes"]);
        assert!(identifiers("await x").contains(&"await"));
    }

    #[test]
    fn imported_modules_are_found() {
        let code = "import json, re\nfrom urllib.parse import quote\n    import numpy as np; import os.path\n";
        assert_eq!(imported(code).collect::<Vec<_>>(), ["json", "re", "urllib", "numpy", "os"]);
    }

    #[test]
    fn an_expression_is_returned_and_a_body_stays() {
        assert_eq!(javascript_body("output.length > 3;"), "\n    return (output.length > 3);\n");
        assert_eq!(javascript_body("if (x) return 1; return 0"), "\nif (x) return 1; return 0\n");
        assert_eq!(javascript_body("const n = 1; n > 0;"), "\n    const n = 1;\n    return (n > 0);\n");
        let inner = "output.split(' ').every((it) => { return it; })";
        assert_eq!(javascript_body(inner), format!("\n    return ({inner});\n"));
    }
}
