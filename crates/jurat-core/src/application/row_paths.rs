//! What applications are sent of a row beside the messages.

use jurat_format::value::{FieldPath, Val, Value};

use crate::effect::Role;

/// The paths that the requests of applications read of a row, by role.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RowPaths(pub Vec<(String, Vec<FieldPath>)>);

impl RowPaths {
    /// What the application that has a role is sent of a row: the fields that its request reads; null for a model.
    pub fn of(&self, role: &Role, row: &Val<'_>) -> Value {
        let Some((_, paths)) = self.0.iter().find(|(it, _)| it == role.name()) else { return Value::Null };
        let Some(fields) = row.as_map().filter(|_| paths.iter().all(|it| it.root().is_some())) else {
            return row.clone().into_owned();
        };
        let read = fields.iter().filter(|(name, _)| paths.iter().any(|it| it.root() == Some(*name)));
        Val::Map(read.map(|(name, value)| (name.to_owned(), value.clone().into_owned())).collect())
    }
}
