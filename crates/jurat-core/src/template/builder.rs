//! Fields put together in Rust.

use jurat_compare::Operator;
use jurat_format::value::{Map, Val, Value};

use super::definition::{Field, GroundTruth};

impl Field {
    /// A field that is text.
    ///
    /// ```
    /// use jurat_core::template::{Field, Template};
    ///
    /// let template = Template::new(
    ///     vec![
    ///         Field::text("drug").description("the drug that is named").must_be("venetoclax").weighing(2.0),
    ///         Field::one_of("stance", ["firm", "wavering"]).must_be("firm"),
    ///         Field::number("dose"),
    ///     ],
    ///     None,
    /// )?;
    /// assert_eq!(template.fields().iter().filter(|it| it.is_judged()).count(), 2);
    /// # Ok::<(), jurat_core::template::TemplateError>(())
    /// ```
    pub fn text(name: impl Into<String>) -> Field {
        Field::new(name, typed("string"))
    }

    /// A field that is a number.
    pub fn number(name: impl Into<String>) -> Field {
        Field::new(name, typed("number"))
    }

    /// A field that is a whole number.
    pub fn integer(name: impl Into<String>) -> Field {
        Field::new(name, typed("integer"))
    }

    /// A field that is `true` or `false`.
    pub fn boolean(name: impl Into<String>) -> Field {
        Field::new(name, typed("boolean"))
    }

    /// A field that is a list of texts.
    pub fn texts(name: impl Into<String>) -> Field {
        let members = [("type", Val::from("array")), ("items", typed("string"))];
        Field::new(name, Val::Map(members.into_iter().collect::<Map<'_>>()))
    }

    /// A field that is one of these texts.
    pub fn one_of<S: Into<String>>(name: impl Into<String>, choices: impl IntoIterator<Item = S>) -> Field {
        let choices: Value = choices.into_iter().map(|it| Val::from(it.into())).collect();
        let members = [("type", Val::from("string")), ("enum", choices)];
        Field::new(name, Val::Map(members.into_iter().collect::<Map<'_>>()))
    }

    /// What it is, in words for the model that reads answers.
    #[must_use]
    pub fn description(self, description: impl Into<String>) -> Field {
        Field { description: description.into(), ..self }
    }

    /// What it must be, compared in the way that suits the value.
    #[must_use]
    pub fn must_be(self, value: impl Into<Value>) -> Field {
        Field { ground_truth: GroundTruth::Value(value.into()), ..self }
    }

    /// How it is compared with what it must be.
    #[must_use]
    pub fn compared_by(self, operator: Operator) -> Field {
        Field { verify_with: Some(operator), ..self }
    }

    /// How much it counts for partial credit; default: 1.
    #[must_use]
    pub fn weighing(self, weight: f64) -> Field {
        Field { weight, ..self }
    }
}

fn typed(name: &'static str) -> Value {
    Val::Map([("type", Val::from(name))].into_iter().collect::<Map<'static>>())
}
