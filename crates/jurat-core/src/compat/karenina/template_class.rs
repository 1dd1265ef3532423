//! Templates that Karenina stores as the text of a Python class, as far as they can be read without running anything.
//!
//! ```python
//! class Answer(BaseAnswer):
//!     """The gene that a drug acts on."""
//!
//!     gene: str = VerifiedField(description="the gene", ground_truth="BCL2", verify_with=ExactMatch())
//! ```
//!
//! A class is read when it holds nothing but such fields and a strategy, written out: literals, comparisons, conditional ground truths.
//! Methods, computed values and fields of another make mean whatever they do when they run, so such a class is left alone, and the reason
//! says which line it is. Reading is all that happens to the text.

mod syntax;
mod words;

use jurat_compare::Operator;
use jurat_format::value::{Map, SourceId, Val, Value, json_node};
use syntax::{Class, Expr, Fault, Made, Statement};

use crate::template::{Field, GroundTruth, GroundTruthCase, Strategy, Template};

impl Template {
    /// Reads a template from the source of a Python class, or says why only running it would tell.
    ///
    /// ```
    /// use jurat_core::template::Template;
    ///
    /// let class = "
    /// class Answer(BaseAnswer):
    ///     gene: str = VerifiedField(description='the gene', ground_truth='BCL2', verify_with=ExactMatch())
    /// ";
    /// let template = Template::from_python_source(class)?;
    /// assert_eq!(template.fields()[0].name, "gene");
    /// # Ok::<(), String>(())
    /// ```
    pub fn from_python_source(source: &str) -> Result<Template, String> {
        let class = syntax::parse(source).and_then(|classes| match <[Class; 1]>::try_from(classes) {
            Ok([only]) => Ok(only),
            Err(classes) => {
                let line = classes.get(1).map_or(1, |it| it.line);
                Err(Fault::new(line, format!("there are {} classes, and one is a template", classes.len())))
            }
        });
        let template = class.and_then(|class| template_of(&class));
        template.map_err(|fault| format!("line {}: {}", fault.line, fault.reason))
    }
}

fn template_of(class: &Class) -> Result<Template, Fault> {
    let (mut fields, mut strategy) = (Vec::new(), None);
    for statement in &class.body {
        match statement {
            Statement::Field { line, name, kind, value } => fields.push(field_of(*line, name, kind, value)?),
            Statement::Class(inner) if inner.name == "VerificationStrategy" => strategy = strategy_of(inner)?,
            Statement::Class(inner) => {
                return Err(Fault::new(
                    inner.line,
                    format!("the class `{}` says nothing that can be read", inner.name),
                ));
            }
            Statement::Assignment { line, name, .. } => {
                return Err(Fault::new(
                    *line,
                    format!("`{name}` is set to a value that is known only by running the code"),
                ));
            }
        }
    }
    Template::new(fields, strategy).map_err(|error| Fault::new(class.line, error.to_string()))
}

fn strategy_of(class: &Class) -> Result<Option<Strategy>, Fault> {
    let mut strategy = None;
    for statement in &class.body {
        match statement {
            Statement::Assignment { name, value, .. } | Statement::Field { name, value, .. }
                if name == "verify_strategy" =>
            {
                strategy = match value {
                    Expr { made: Made::Literal(Val::Null), .. } => None,
                    value => Some(strategy_node(value)?),
                };
            }
            Statement::Class(Class { line, .. })
            | Statement::Field { line, .. }
            | Statement::Assignment { line, .. } => {
                return Err(Fault::new(*line, "a strategy has `verify_strategy` and nothing else"));
            }
        }
    }
    Ok(strategy)
}

fn strategy_node(value: &Expr) -> Result<Strategy, Fault> {
    let call = value.call("a strategy")?;
    let parts = || match &call.required("conditions")?.made {
        Made::List(items) => items.iter().map(strategy_node).collect::<Result<Vec<_>, Fault>>(),
        _ => Err(Fault::new(value.line, "`conditions` is no list")),
    };
    Ok(match call.name {
        "FieldCheck" => {
            call.only(&["field"])?;
            Strategy::Field(call.required("field")?.text("`field`")?)
        }
        "AllOf" | "AnyOf" => {
            call.only(&["conditions"])?;
            if call.name == "AllOf" { Strategy::AllOf(parts()?) } else { Strategy::AnyOf(parts()?) }
        }
        "AtLeastN" => {
            call.only(&["n", "conditions"])?;
            let n = call.required("n")?;
            match n.value()? {
                Val::I(count) if u32::try_from(count).is_ok() => {
                    Strategy::AtLeastN(u32::try_from(count).unwrap_or_default(), parts()?)
                }
                _ => return Err(Fault::new(n.line, "`n` is no count")),
            }
        }
        other => return Err(Fault::new(value.line, format!("`{other}` is no strategy"))),
    })
}

/// The arguments of a field in the order in which they may stand without names.
const ARGUMENTS: [&str; 5] = ["description", "ground_truth", "verify_with", "weight", "extraction_hint"];

fn field_of(line: usize, name: &str, kind: &Expr, value: &Expr) -> Result<Field, Fault> {
    let call = value.call("a field")?;
    if call.name != "VerifiedField" {
        return Err(Fault::new(
            line,
            format!("`{name}` is made by `{}`, and only `VerifiedField` says how it is judged", call.name),
        ));
    }
    call.only(&ARGUMENTS)?;
    let verify_with = operator_of(call.required("verify_with")?)?;
    let weight = match call.argument("weight") {
        None => 1.0,
        Some(it) => it.value()?.as_f64().ok_or_else(|| Fault::new(it.line, "`weight` is no number"))?,
    };
    let hint = call.argument("extraction_hint").filter(|it| !matches!(it.made, Made::Literal(Val::Null)));
    let mut field = Field {
        description: call.required("description")?.text("`description`")?,
        ground_truth: ground_truth_of(call.required("ground_truth")?)?,
        verify_with: Some(verify_with),
        weight,
        extraction_hint: hint.map(|it| it.text("`extraction_hint`")).transpose()?,
        ..Field::new(name, Val::Bool(true))
    };
    if !field.is_trace() {
        field.schema = type_of(kind)?;
    }
    Ok(field)
}

fn ground_truth_of(value: &Expr) -> Result<GroundTruth, Fault> {
    let Made::Call { name, .. } = &value.made else { return Ok(GroundTruth::Value(value.value()?)) };
    if name != "ConditionalGroundTruth" {
        return Err(Fault::new(
            value.line,
            format!("`{name}` makes a ground truth that is known only by running the code"),
        ));
    }
    let call = value.call("a ground truth")?;
    call.only(&["source", "cases", "default"])?;
    let Made::Dict(cases) = &call.required("cases")?.made else {
        return Err(Fault::new(value.line, "`cases` is no object"));
    };
    let cases =
        cases.iter().map(|(key, case)| Ok((key.text("a case")?, case_of(case)?))).collect::<Result<_, Fault>>()?;
    let default = case_of(call.required("default")?)?;
    Ok(GroundTruth::Conditional { source: call.required("source")?.text("`source`")?, cases, default })
}

fn case_of(value: &Expr) -> Result<GroundTruthCase, Fault> {
    let call = value.call("a case of a ground truth")?;
    if call.name != "GroundTruthCase" {
        return Err(Fault::new(value.line, format!("`{}` is no case of a ground truth", call.name)));
    }
    call.only(&["value", "verify_with"])?;
    let verify_with = call.argument("verify_with").filter(|it| !matches!(it.made, Made::Literal(Val::Null)));
    let verify_with = verify_with.map(operator_of).transpose()?;
    Ok(GroundTruthCase { value: call.required("value")?.value()?, verify_with })
}

fn operator_of(value: &Expr) -> Result<Operator, Fault> {
    let call = value.call("a comparison")?;
    call.named_only()?;
    let parameters = call.named().map(|(name, it)| Ok((name.to_owned(), parameter_of(it)?)));
    let parameters = parameters.chain([Ok(("type".to_owned(), Val::from(call.name.to_owned())))]);
    let stored = Val::Map(parameters.collect::<Result<Map<'static>, Fault>>()?).to_json();
    let read = json_node(&stored, SourceId::default()).map_err(|error| error.to_string());
    let read = read.and_then(|(node, _)| Operator::from_stored(&node).map_err(|error| error.to_string()));
    read.map_err(|reason| Fault::new(value.line, format!("`{}`: {reason}", call.name)))
}

/// A parameter of a comparison; synonyms are an object of their own there.
fn parameter_of(value: &Expr) -> Result<Value, Fault> {
    match &value.made {
        Made::List(items) => items.iter().map(parameter_of).collect(),
        Made::Call { name, .. } if name == "SynonymMap" => {
            let call = value.call("a synonym map")?;
            call.only(&["mapping"])?;
            Ok(Val::Map([("mapping", call.required("mapping")?.value()?)].into_iter().collect()))
        }
        _ => value.value(),
    }
}

/// The JSON Schema of an annotation.
fn type_of(kind: &Expr) -> Result<Value, Fault> {
    let named = |name: &'static str| Val::Map([("type", Val::from(name))].into_iter().collect());
    let formatted = |format: &'static str| {
        Val::Map([("type", Val::from("string")), ("format", Val::from(format))].into_iter().collect())
    };
    let either = |kinds: Vec<Value>| Val::Map([("anyOf", Val::List(kinds))].into_iter().collect());
    let unknown = |what: &str| Err(Fault::new(kind.line, format!("`{what}` is a type that is not known here")));
    match &kind.made {
        Made::Literal(Val::Null) => Ok(named("null")),
        Made::Name(name) => Ok(match name.as_str() {
            "str" => named("string"),
            "int" => named("integer"),
            "float" => named("number"),
            "bool" => named("boolean"),
            "list" | "List" | "set" | "Set" | "tuple" => named("array"),
            "dict" | "Dict" => named("object"),
            "date" => formatted("date"),
            "datetime" => formatted("date-time"),
            "Any" => Val::Bool(true),
            other => return unknown(other),
        }),
        Made::Either(left, right) => Ok(either(vec![type_of(left)?, type_of(right)?])),
        Made::Subscript { name, of } => match (name.as_str(), of.as_slice()) {
            ("list" | "List" | "set" | "Set", [item]) => {
                Ok(Val::Map([("type", Val::from("array")), ("items", type_of(item)?)].into_iter().collect()))
            }
            ("Optional", [inner]) => Ok(either(vec![type_of(inner)?, named("null")])),
            ("Union", [_, ..]) => Ok(either(of.iter().map(type_of).collect::<Result<_, _>>()?)),
            ("dict" | "Dict", [_, _]) => Ok(named("object")),
            ("Literal", [_, ..]) => {
                let values = of.iter().map(Expr::value).collect::<Result<_, _>>()?;
                Ok(Val::Map([("enum", values)].into_iter().collect()))
            }
            (other, _) => unknown(other),
        },
        _ => unknown("this"),
    }
}
