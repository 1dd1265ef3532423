//! What a template is: fields that are read from an answer, what they must be, and how many of them must be right.

use std::sync::Arc;

use jurat_compare::{Inapplicable, Operand, Operator};
use jurat_format::problem::listed_all;
use jurat_format::value::{Context, FieldPath, Missing, SourceId, Val, Value, json_node};

use super::parser::Form;
use super::verification::Check;
use crate::effect::Schema;
use crate::judge::ReplyForm;

/// What is read from an answer, and what it must be.
///
/// ```
/// use jurat_core::template::{Field, GroundTruth, Template};
/// use jurat_format::value::{Val, parse_json};
///
/// let text = parse_json(r#"{"type": "string"}"#)?.value;
/// let capital = Field { ground_truth: GroundTruth::Value(Val::from("Paris")), ..Field::new("capital", text) };
/// let template = Template::new(vec![capital], None).expect("one field is enough");
///
/// let values = parse_json(r#"{"capital": " paris"}"#)?.value;
/// let verified = template.verify(&values, Some("It is paris."), &Val::Null);
/// assert_eq!(verified.verify, Ok(Some(true)));
/// # Ok::<(), jurat_format::value::JsonError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Template {
    fields: Vec<Field>,
    strategy: Option<Strategy>,
    pub(super) checks: Arc<[Check]>,
    form: Arc<Form>,
}

/// Two templates are equal when they ask for the same and hold it to the same.
impl PartialEq for Template {
    fn eq(&self, other: &Template) -> bool {
        self.fields == other.fields && self.strategy == other.strategy
    }
}

/// One thing that is read from an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Its name, which is an id.
    pub name: String,
    /// The JSON Schema of its values; `true` for any value.
    pub schema: Value,
    /// What it is, in words for the model that reads answers.
    pub description: String,
    pub ground_truth: GroundTruth,
    /// How it is compared with that; follows from the ground truth when absent.
    pub verify_with: Option<Operator>,
    /// How much it counts for partial credit.
    pub weight: f64,
    /// More words for the model that reads answers, on how to write the value.
    pub extraction_hint: Option<String>,
}

/// What a field must be.
#[derive(Debug, Clone, PartialEq)]
pub enum GroundTruth {
    /// The template does not say: the field is read, and not judged unless its comparison says enough by itself.
    None,
    Value(Value),
    /// What each case has at this path.
    Found(FieldPath),
    /// What an earlier turn of the conversation decides.
    Conditional {
        /// A path that starts with `node_results`.
        source: String,
        /// What holds for each value found there, by its text.
        cases: Vec<(String, GroundTruthCase)>,
        /// What holds for any other value, and when there is none.
        default: GroundTruthCase,
    },
}

/// What a field must be in one case.
#[derive(Debug, Clone, PartialEq)]
pub struct GroundTruthCase {
    pub value: Value,
    /// How it is compared, where it is not as in the other cases.
    pub verify_with: Option<Operator>,
}

/// How many fields must be right.
#[derive(Debug, Clone, PartialEq)]
pub enum Strategy {
    Field(String),
    /// All of these.
    AllOf(Vec<Strategy>),
    /// One of these.
    AnyOf(Vec<Strategy>),
    /// At least this number of these.
    AtLeastN(u32, Vec<Strategy>),
}

/// Why fields and a strategy make no template.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TemplateError {
    /// There is nothing to read.
    #[error("a template without fields reads nothing")]
    NoFields,
    /// A field has no name that could be used.
    #[error("`{0}` is not the name of a field: letters, digits, `_` and `-`, no digit or `-` first")]
    Name(String),
    /// Two fields have one name.
    #[error("the field `{0}` stands twice in one template")]
    Repeated(String),
    /// A weight is no finite number.
    #[error("the weight of `{0}` must be a finite number")]
    Weight(String),
    /// The type of a field is no JSON Schema.
    #[error("the type of `{field}` is not a JSON Schema: {reason}")]
    Schema { field: String, reason: String },
    /// The strategy asks for a field that is not there.
    #[error("the strategy names `{name}`, which is no field; there are {known}")]
    UnknownField {
        name: String,
        /// The fields that there are, in words.
        known: String,
    },
    /// The strategy asks for a field that is never judged.
    #[error("the strategy names `{0}`, which is never judged: it has no `ground_truth`")]
    NotJudged(String),
}

impl Field {
    /// A field of this type that is read and not judged.
    pub fn new(name: impl Into<String>, schema: Val<'_>) -> Field {
        Field {
            name: name.into(),
            schema: schema.into_owned(),
            description: String::new(),
            ground_truth: GroundTruth::None,
            verify_with: None,
            weight: 1.0,
            extraction_hint: None,
        }
    }

    /// Whether it reads the raw answer itself, rather than what a model reads from it.
    pub fn is_trace(&self) -> bool {
        self.verify_with.as_ref().is_some_and(is_trace)
    }

    /// Whether there is something to hold it to.
    pub fn is_judged(&self) -> bool {
        let is_enough = |it: &Operator| !it.entry().operand.is_required();
        self.ground_truth != GroundTruth::None || self.verify_with.as_ref().is_some_and(is_enough)
    }
}

impl Strategy {
    /// The fields it names, in order, each as often as it is named.
    pub fn field_names(&self) -> Vec<&str> {
        match self {
            Strategy::Field(name) => vec![name],
            Strategy::AllOf(parts) | Strategy::AnyOf(parts) | Strategy::AtLeastN(_, parts) => {
                parts.iter().flat_map(Strategy::field_names).collect()
            }
        }
    }
}

impl Template {
    /// Makes a template. Without a strategy all judged fields must be right.
    pub fn new(fields: Vec<Field>, strategy: Option<Strategy>) -> Result<Template, TemplateError> {
        if fields.is_empty() {
            return Err(TemplateError::NoFields);
        }
        for (ix, field) in fields.iter().enumerate() {
            if !jurat_format::id::is_id(&field.name) {
                return Err(TemplateError::Name(field.name.clone()));
            }
            if fields[..ix].iter().any(|it| it.name == field.name) {
                return Err(TemplateError::Repeated(field.name.clone()));
            }
            if !field.weight.is_finite() {
                return Err(TemplateError::Weight(field.name.clone()));
            }
        }
        for name in strategy.iter().flat_map(Strategy::field_names) {
            match fields.iter().find(|it| it.name == name) {
                None => {
                    let known = listed_all(fields.iter().map(|it| it.name.as_str()));
                    return Err(TemplateError::UnknownField { name: name.to_owned(), known });
                }
                Some(field) if !field.is_judged() => return Err(TemplateError::NotJudged(name.to_owned())),
                Some(_) => {}
            }
        }
        let checks = fields.iter().map(Check::prepare).collect::<Result<_, _>>()?;
        let form =
            Form::new(&fields).map_err(|reason| TemplateError::Schema { field: listed_names(&fields), reason })?;
        Ok(Template { fields, strategy, checks, form: Arc::new(form) })
    }

    /// Whether cases supply what some of its fields must be.
    pub(crate) fn is_filled(&self) -> bool {
        self.found().next().is_some()
    }

    /// Where what its fields must be is found.
    pub(crate) fn found(&self) -> impl Iterator<Item = &FieldPath> {
        self.fields
            .iter()
            .filter_map(|it| if let GroundTruth::Found(path) = &it.ground_truth { Some(path) } else { None })
    }

    /// The template for one case, or in words what the case does not have.
    pub(crate) fn filled(&self, context: Context<'_>) -> Result<Template, String> {
        let mut template = self.clone();
        for field in &mut template.fields {
            let GroundTruth::Found(path) = &field.ground_truth else { continue };
            let missing =
                |it: Missing| format!("`ground_truth` of `{}` needs `{path}`: {}", field.name, it.explain(path));
            let value = context.find(path).map_err(missing)?.into_owned().into_owned();
            field.ground_truth = GroundTruth::Value(value);
        }
        let checks = template.fields.iter().map(Check::prepare).collect::<Result<_, _>>();
        template.checks = checks.map_err(|it: TemplateError| it.to_string())?;
        Ok(template)
    }

    /// The fields, in the order in which they are read.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// How many must be right; all that are judged when absent.
    pub fn strategy(&self) -> Option<&Strategy> {
        self.strategy.as_ref()
    }

    /// Whether a model must read answers: fields of the raw answer alone need none.
    pub fn needs_parser(&self) -> bool {
        self.fields.iter().any(|it| !it.is_trace())
    }

    /// The JSON Schema of what the model that reads answers must reply. It holds nothing of what would be right.
    pub fn schema(&self) -> &Schema {
        &self.form.schema
    }

    /// What counts as a reply of the model that reads answers.
    pub fn form(&self) -> &ReplyForm {
        &self.form.reply
    }

    /// What the model that reads answers is instructed to do.
    pub fn instructions(&self) -> &str {
        &self.form.instructions
    }
}

fn listed_names(fields: &[Field]) -> String {
    fields.iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join("`, `")
}

/// How a value is compared by default: as edges of scenarios do, except that null and objects are compared as they are
/// rather than by their text.
pub fn usual_operator(ground_truth: &Val<'_>) -> Operator {
    primitive(match ground_truth {
        Val::Bool(_) => "BooleanMatch",
        Val::Str(_) => "ExactMatch",
        Val::I(_) | Val::U(_) | Val::F(_) | Val::Big(_) => "NumericExact",
        Val::List(_) => "SetContainment",
        Val::Null | Val::Map(_) => "LiteralMatch",
    })
}

pub(super) fn primitive(name: &'static str) -> Operator {
    let stored = format!("{{\"type\": \"{name}\"}}");
    let (node, _) = json_node(&stored, SourceId::default()).expect("a name in quotes is JSON");
    Operator::from_stored(&node).expect("the primitive needs no parameters")
}

/// Whether a comparison is about the raw answer.
pub(crate) fn is_trace(operator: &Operator) -> bool {
    matches!(operator.entry().name, "TraceRegex" | "TraceContains" | "TraceLength")
}

/// Whether a ground truth can be compared with at all, and why not.
pub(crate) fn unusable(operator: &Operator, value: &Val<'_>) -> Option<Inapplicable> {
    if operator.entry().operand == Operand::Ignored { None } else { operator.bind(value.borrowed()).err() }
}
