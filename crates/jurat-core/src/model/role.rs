//! `models`: the model for each role.

use jurat_format::form::Form;
use jurat_format::reader::Reading;
use jurat_format::value::{Node, Spanned};

use super::Model;
use crate::model;
use crate::section::lost::Part;
use crate::section::named::{Named, NamedSection};
use crate::section::{Heading, Section};

/// The models that play one role; more than one form a matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct Role {
    /// `subject`, `judge`, `parser`, `embedder`, or a name of the author's.
    pub name: Spanned<String>,
    pub models: Vec<Model>,
}

const ONE_OR_MORE: Form = Form::Either(&[Form::Text, Form::Object(&model::MODEL), Form::List(&model::FORM)]);

pub(crate) const FORM: Form = Form::Map(&ONE_OR_MORE);

pub(crate) const SECTION: Section<Vec<Role>> = Heading::new("models", FORM, "the model for each role", &[Part::Role])
    .read(|reading, lost, known, at| BY_NAME.read(reading, (lost, known), ("models", at.node), read));

const BY_NAME: NamedSection =
    NamedSection { part: Part::Role, name: "a role in `models`", what: "role", needs: "an object of roles and models" };

impl Named for Role {
    fn name(&self) -> &Spanned<String> {
        &self.name
    }
}

pub(crate) fn read(reading: &mut Reading<'_>, name: Spanned<String>, node: &Node<'_>) -> Option<Role> {
    let models: Vec<Model> = match node.as_list() {
        Some([]) => {
            reading.wrong_type(&format!("`{}`", name.value), "a model, or a list of models", node);
            return None;
        }
        Some(items) => items.iter().filter_map(|item| model::read(reading, &name.value, item)).collect(),
        None => model::read(reading, &name.value, node).into_iter().collect(),
    };
    (!models.is_empty()).then_some(Role { name, models })
}
