//! What an evaluator puts out, as its author says it.

use jurat_format::choice::names;
use jurat_format::choices;
use jurat_format::codes;
use jurat_format::field::Field;
use jurat_format::form::{Form, Key, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape};
use jurat_format::value::{Node, Spanned};

use crate::evaluator::{Direction, LabelValue, OutputConfig, OutputKind, check_names};

const LABEL: Field<String> = Field::required("label", shape::STRING, "the label that is returned");
const SCORE: Field<f64> = Field::optional("score", FINITE, "the score of this label");

static VALUE: Object = Object { what: "a label", keys: &[LABEL.key, SCORE.key] };

const FINITE: Shape<f64> =
    Shape::new(shape::NUMBER.form, |reading, what, node| reading.number(what, (f64::MIN, f64::MAX), node));

choices! {
    #[derive(Clone, Copy, PartialEq)]
    enum Type {
        Categorical = "categorical",
        Continuous = "continuous",
        Freeform = "freeform",
    }
}

/// The names of directions, in small and in capital letters.
const DIRECTIONS: [&str; 6] = {
    let [maximize, minimize, none] = names(&Direction::NAMED);
    [maximize, minimize, none, "MAXIMIZE", "MINIMIZE", "NONE"]
};

const NAME: Field<Spanned<String>> =
    Field::required("name", shape::TEXT, "its name; with several outputs, results are called `{evaluator}.{name}`");
const TYPE: Field<Type> = Field::optional("type", shape::choice(), "what may be returned")
    .default_words("`categorical` with `values`, else `continuous`");
const DESCRIPTION: Field<String> = Field::optional("description", shape::STRING, "what it means; shown in reports");
const OPTIMIZATION_DIRECTION: Field<Direction> = Field::optional(
    "optimization_direction",
    Shape::new(Form::Choice(&DIRECTIONS), read_direction),
    "which scores are better; for reports",
)
.or(&["direction"]);
const VALUES: Field<Vec<LabelValue>> = Field::optional(
    "values",
    Shape::new(const { Form::List(&Form::Object(&VALUE)) }, read_values),
    "the labels of a categorical output",
);
const LOWER_BOUND: Field<f64> = Field::optional("lower_bound", FINITE, "the minimum score");
const UPPER_BOUND: Field<f64> = Field::optional("upper_bound", FINITE, "the maximum score");
const THRESHOLDS: Field<Vec<f64>> = Field::optional(
    "thresholds",
    Shape::new(const { Form::List(&FINITE.form) }, read_thresholds),
    "scores of a freeform output at which its meaning changes",
);

pub(crate) static OUTPUT: Object = Object {
    what: "an output",
    keys: &[
        NAME.key,
        TYPE.key,
        DESCRIPTION.key,
        OPTIMIZATION_DIRECTION.key,
        VALUES.key,
        LOWER_BOUND.key,
        UPPER_BOUND.key,
        THRESHOLDS.key,
    ],
};

pub(crate) const SHAPE: Shape<Vec<OutputConfig>> = Shape::new(const { Form::List(&Form::Object(&OUTPUT)) }, read);

fn read(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<OutputConfig>> {
    let mut outputs: Vec<OutputConfig> = Vec::new();
    for item in reading.list(what, "a list of outputs", node) {
        let Some(output) = read_output(reading, item) else { continue };
        outputs.push(output);
        if let Err(bad) = check_names(&outputs) {
            let span = item.get(NAME.key.name).map_or(item.span, |it| it.span);
            let problem = Problem::new(&codes::BAD_OUTPUT, bad.message).at(span, "again here");
            reading.problem(problem.help("give one of them another name"));
            outputs.pop();
        }
    }
    Some(outputs)
}

fn read_output(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<OutputConfig> {
    let fields = OUTPUT.fields(reading, node)?;
    let name = fields.read(reading, &NAME);
    let description = fields.read(reading, &DESCRIPTION);
    let direction = fields.read(reading, &OPTIMIZATION_DIRECTION);
    let said = fields.key_span(&TYPE).map(|_| fields.read(reading, &TYPE));
    let kind = match said {
        Some(kind) => kind?,
        None if fields.node(&VALUES).is_some() => Type::Categorical,
        None => Type::Continuous,
    };
    let foreign: &[Key] = match kind {
        Type::Categorical => &[LOWER_BOUND.key, UPPER_BOUND.key, THRESHOLDS.key],
        Type::Continuous => &[VALUES.key, THRESHOLDS.key],
        Type::Freeform => &[VALUES.key],
    };
    if let Some((key, span)) = foreign.iter().find_map(|it| Some((it, fields.key_span(it)?))) {
        let problem = Problem::new(&codes::CONFLICT, format!("a {} output has no `{}`", kind.name(), key.name));
        reading.problem(problem.at(span, "for other outputs").help("drop it, or change `type`"));
    }
    let (lower_bound, upper_bound) = (fields.read(reading, &LOWER_BOUND), fields.read(reading, &UPPER_BOUND));
    let kind = match kind {
        Type::Categorical => {
            if fields.node(&VALUES).is_none() {
                let problem = Problem::new(&codes::MISSING_KEY, "a categorical output needs `values`");
                let problem = problem.at(fields.span, "without labels");
                reading
                    .problem(problem.help("for example `values: [{label: pass, score: 1}, {label: fail, score: 0}]`"));
                return None;
            }
            let n_before = reading.n_errors();
            let values = fields.read(reading, &VALUES).unwrap_or_default();
            if reading.n_errors() > n_before {
                return None;
            }
            OutputKind::Categorical(values)
        }
        Type::Continuous => OutputKind::Continuous { lower_bound, upper_bound },
        Type::Freeform => {
            let thresholds = fields.read(reading, &THRESHOLDS).unwrap_or_default();
            OutputKind::Freeform { lower_bound, upper_bound, thresholds }
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

fn read_thresholds(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<f64>> {
    let items = reading.list(what, "a list of numbers", node);
    Some(items.iter().filter_map(|it| (FINITE.read)(reading, "a threshold", it)).collect())
}

/// A direction in small or capital letters.
fn read_direction(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Direction> {
    let capital = Direction::NAMED.iter().zip(&DIRECTIONS[3..]).find(|(_, it)| node.as_str() == Some(it));
    match capital {
        Some(((_, direction), _)) => Some(*direction),
        None => reading.choice(what, &Direction::NAMED, node),
    }
}

fn read_values(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<LabelValue>> {
    let mut values = Vec::new();
    for item in reading.list(what, "a list of labels", node) {
        let Some(fields) = VALUE.fields(reading, item) else { continue };
        let label = fields.read(reading, &LABEL);
        let score = fields.read(reading, &SCORE);
        values.extend(label.map(|label| LabelValue { label, score }));
    }
    Some(values)
}
