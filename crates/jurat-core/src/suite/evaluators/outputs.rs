//! What an evaluator puts out, as its author says it.

use jurat_format::codes;
use jurat_format::form::{Form, Key, Keys};
use jurat_format::problem::Problem;
use jurat_format::reader::{Fields, Reading};
use jurat_format::value::{Node, Val, Value};

use crate::evaluator::{Direction, LabelValue, OutputConfig, OutputKind, check_names};
use crate::suite::write::Members;

static VALUE: Keys = Keys {
    what: "a label",
    keys: &[
        Key::required("label", Form::Text, "the label that is returned"),
        Key::optional("score", Form::Number(f64::NEG_INFINITY, f64::INFINITY), "the score of this label"),
    ],
};

const NUMBER: Form = Form::Number(f64::NEG_INFINITY, f64::INFINITY);

pub(super) static OUTPUT: Keys = Keys {
    what: "an output",
    keys: &[
        Key::required("name", Form::Text, "its name; with several outputs, results are called `{evaluator}.{name}`"),
        Key::optional("type", Form::Choice(&["categorical", "continuous", "freeform"]), "what may be returned")
            .default("`categorical` with `values`, else `continuous`"),
        Key::optional("description", Form::Text, "what it means; shown in reports"),
        Key::optional(
            "optimization_direction",
            Form::Choice(&["maximize", "minimize", "none", "MAXIMIZE", "MINIMIZE", "NONE"]),
            "which scores are better; for reports",
        )
        .or(&["direction"]),
        Key::optional("values", Form::List(&Form::Object(&VALUE)), "the labels of a categorical output"),
        Key::optional("lower_bound", NUMBER, "the minimum score"),
        Key::optional("upper_bound", NUMBER, "the maximum score"),
        Key::optional("thresholds", Form::List(&NUMBER), "scores of a freeform output at which its meaning changes"),
    ],
};

pub(super) fn read(reading: &mut Reading<'_>, node: &Node<'_>) -> Vec<OutputConfig> {
    let mut outputs: Vec<OutputConfig> = Vec::new();
    for item in reading.list("`outputs`", "a list of outputs", node) {
        let Some(output) = read_output(reading, item) else { continue };
        outputs.push(output);
        if let Err(bad) = check_names(&outputs) {
            let span = item.get("name").map_or(item.span, |it| it.span);
            let problem = Problem::new(&codes::BAD_OUTPUT, bad.message).at(span, "again here");
            reading.problem(problem.help("give one of them another name"));
            outputs.pop();
        }
    }
    outputs
}

const ANY_NUMBER: (f64, f64) = (f64::MIN, f64::MAX);

fn read_output(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<OutputConfig> {
    const TYPES: [(&str, Type); 3] =
        [("categorical", Type::Categorical), ("continuous", Type::Continuous), ("freeform", Type::Freeform)];
    let fields = Fields::read(reading, &OUTPUT, node)?;
    let name = fields.get("name").and_then(|it| reading.text("`name`", it));
    let description = fields.get("description").and_then(|it| reading.text("`description`", it)).map(|it| it.value);
    let direction = fields.get("optimization_direction").and_then(|it| read_direction(reading, it));
    let said = fields.get("type").map(|it| reading.choice("`type`", &TYPES, it));
    let kind = match said {
        Some(kind) => kind?,
        None if fields.get("values").is_some() => Type::Categorical,
        None => Type::Continuous,
    };
    let foreign: &[&str] = match kind {
        Type::Categorical => &["lower_bound", "upper_bound", "thresholds"],
        Type::Continuous => &["values", "thresholds"],
        Type::Freeform => &["values"],
    };
    if let Some((key, span)) = foreign.iter().find_map(|it| Some((*it, fields.key_span(it)?))) {
        let kind = TYPES.iter().find(|(_, it)| *it == kind).map_or("", |(name, _)| *name);
        let problem = Problem::new(&codes::CONFLICT, format!("a {kind} output has no `{key}`"));
        reading.problem(problem.at(span, "for other outputs").help("drop it, or change `type`"));
    }
    let mut bound = |key: &str| fields.get(key).and_then(|it| reading.number(&format!("`{key}`"), ANY_NUMBER, it));
    let (lower_bound, upper_bound) = (bound("lower_bound"), bound("upper_bound"));
    let kind = match kind {
        Type::Categorical => {
            let Some(values) = fields.get("values") else {
                let problem = Problem::new(&codes::MISSING_KEY, "a categorical output needs `values`");
                let problem = problem.at(fields.span, "without labels");
                reading
                    .problem(problem.help("for example `values: [{label: pass, score: 1}, {label: fail, score: 0}]`"));
                return None;
            };
            let n_before = reading.n_errors();
            let values = read_values(reading, values);
            if reading.n_errors() > n_before {
                return None;
            }
            OutputKind::Categorical(values)
        }
        Type::Continuous => OutputKind::Continuous { lower_bound, upper_bound },
        Type::Freeform => {
            let thresholds = fields.get("thresholds").map(|it| {
                let items = reading.list("`thresholds`", "a list of numbers", it);
                items.iter().filter_map(|it| reading.number("a threshold", ANY_NUMBER, it)).collect()
            });
            OutputKind::Freeform { lower_bound, upper_bound, thresholds: thresholds.unwrap_or_default() }
        }
    };
    let output = OutputConfig { name: name?.value, description, direction, kind };
    match output.check() {
        Ok(()) => Some(output),
        Err(bad) => {
            reading.problem(Problem::new(&codes::BAD_OUTPUT, bad.message).at(node.span, "this output"));
            None
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Type {
    Categorical,
    Continuous,
    Freeform,
}

/// A direction in small or capital letters.
fn read_direction(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Direction> {
    let [a, b, c] = Direction::NAMED;
    let capital = [("MAXIMIZE", a.1), ("MINIMIZE", b.1), ("NONE", c.1)];
    let is_capital = node.as_str().is_some_and(|it| capital.iter().any(|(name, _)| *name == it));
    reading.choice("`optimization_direction`", if is_capital { &capital } else { &Direction::NAMED }, node)
}

fn read_values(reading: &mut Reading<'_>, node: &Node<'_>) -> Vec<LabelValue> {
    let mut values = Vec::new();
    for item in reading.list("`values`", "a list of labels", node) {
        let Some(fields) = Fields::read(reading, &VALUE, item) else { continue };
        let label = fields.get("label").and_then(|it| reading.text("`label`", it));
        let score = fields.get("score").and_then(|it| reading.number("`score`", ANY_NUMBER, it));
        values.extend(label.map(|label| LabelValue { label: label.value, score }));
    }
    values
}

/// An output, as it is read.
pub(super) fn written(output: &OutputConfig) -> Value {
    let mut map = Members::default();
    map.text("name", Some(&output.name));
    map.text("description", output.description.as_ref());
    if let Some(direction) = output.direction {
        map.put("optimization_direction", Val::from(direction.name()));
    }
    let bounds = |map: &mut Members, lower: Option<f64>, upper: Option<f64>| {
        for (key, bound) in [("lower_bound", lower), ("upper_bound", upper)] {
            if let Some(bound) = bound {
                map.put(key, Val::F(bound));
            }
        }
    };
    match &output.kind {
        OutputKind::Categorical(values) => {
            map.put("type", Val::from("categorical"));
            map.list(
                "values",
                values.iter().map(|it| {
                    let score = it.score.map(|it| ("score", Val::F(it)));
                    Val::Map([("label", Val::from(it.label.clone()))].into_iter().chain(score).collect())
                }),
            );
        }
        OutputKind::Continuous { lower_bound, upper_bound } => {
            map.put("type", Val::from("continuous"));
            bounds(&mut map, *lower_bound, *upper_bound);
        }
        OutputKind::Freeform { lower_bound, upper_bound, thresholds } => {
            map.put("type", Val::from("freeform"));
            bounds(&mut map, *lower_bound, *upper_bound);
            map.list("thresholds", thresholds.iter().map(|it| Val::F(*it)));
        }
    }
    Val::Map(map.0)
}
