//! What a task may read: the evidence of its case, and the outputs of the tasks it depends on.

use std::borrow::Cow;

use super::{FieldPath, Missing, MissingKind, Val};

/// The base context of a case, overlaid with the outputs of direct dependencies under their ids.
#[derive(Debug, Clone, Copy)]
pub struct Context<'c> {
    pub base: &'c Val<'c>,
    /// The outputs, by task id; they hide members of the base with the same name.
    pub outputs: &'c [(&'c str, &'c Val<'c>)],
}

impl<'c> Context<'c> {
    #[inline]
    pub fn of(base: &'c Val<'c>) -> Context<'c> {
        Context { base, outputs: &[] }
    }

    #[inline]
    pub fn find(&self, path: &FieldPath) -> Result<Cow<'c, Val<'c>>, Missing> {
        if let Some(output) = self.output(path, |id, root| id == root) {
            return path.find_after(1, output);
        }
        path.find(self.base).or_else(|missing| match (missing.step, self.output(path, str::eq_ignore_ascii_case)) {
            // Nothing in the data is called so; an id is found without regard to case.
            (0, Some(output)) => path.find_after(1, output),
            _ => Err(self.with_outputs(missing)),
        })
    }

    /// What a path finds without making anything. `None` says nothing yet: ask [`find`](Self::find).
    #[inline]
    pub fn reach(&self, path: &FieldPath) -> Option<&'c Val<'c>> {
        match self.output(path, |id, root| id == root) {
            Some(output) => path.reach_after(1, output),
            None => path.reach(self.base),
        }
    }

    /// The output that a path leads into, if it leads into one.
    fn output(&self, path: &FieldPath, same: fn(&str, &str) -> bool) -> Option<&'c Val<'c>> {
        if self.outputs.is_empty() {
            return None;
        }
        let root = path.root()?;
        self.outputs.iter().find(|(id, _)| same(id, root)).map(|(_, output)| *output)
    }

    /// The whole context as one value: what a task without a path reads.
    pub fn whole(&self) -> Cow<'c, Val<'c>> {
        if self.outputs.is_empty() {
            return Cow::Borrowed(self.base);
        }
        let mut whole = match self.base {
            Val::Map(map) => map.clone(),
            // A base that is not an object has one name, as a record that is not an object has.
            other => [("value", other.clone())].into_iter().collect(),
        };
        for (id, output) in self.outputs {
            whole.insert(Cow::Borrowed(id), (*output).clone());
        }
        Cow::Owned(Val::Map(whole))
    }

    /// The reader of a message wants to know about the outputs too.
    fn with_outputs(&self, mut missing: Missing) -> Missing {
        if let (0, MissingKind::NoKey(keys)) = (missing.step, &mut missing.kind) {
            keys.extend(self.outputs.iter().map(|(id, _)| (*id).to_owned()));
        }
        missing
    }
}
