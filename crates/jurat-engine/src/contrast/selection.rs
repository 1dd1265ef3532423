//! A side as people name it: a run, and which of its variants.

use std::fmt;

use jurat_format::problem::listed_all;
use jurat_store::run::Variant;

/// `RUN`, `RUN@subject=NAME` or `RUN@prompt=NAME,subject=NAME`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    /// A file, the beginning of a run's name, or `latest`.
    pub run: String,
    pub prompt: Option<String>,
    pub subject: Option<String>,
    /// The repetitions that belong to it, counted from 0; all of them when absent.
    pub replicates: Option<Vec<u32>>,
}

/// Why the name of a side cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{side}` does not name a side: {reason}; write `RUN`, `RUN@subject=NAME` or `RUN@prompt=NAME,subject=NAME`")]
pub struct BadSelection {
    side: String,
    reason: String,
}

impl Selection {
    /// The whole of a run.
    pub fn whole(run: impl Into<String>) -> Selection {
        Selection { run: run.into(), ..Selection::default() }
    }

    /// Reads the name of a side. A file whose name has an `@` is a run, where what follows is no selection.
    pub fn parse(side: &str) -> Result<Selection, BadSelection> {
        let Some((run, selected)) = side.split_once('@').filter(|it| it.1.contains('=')) else {
            return Ok(Selection::whole(side));
        };
        let bad = |reason: String| BadSelection { side: side.to_owned(), reason };
        let mut selection = Selection::whole(run);
        // Names of models may have commas in them only behind the last `=`.
        for part in parts(selected) {
            let (key, value) = part.split_once('=').ok_or_else(|| bad(format!("`{part}` has no `=`")))?;
            let place = match key.trim() {
                "prompt" => &mut selection.prompt,
                "subject" => &mut selection.subject,
                other => return Err(bad(format!("`{other}` is neither `prompt` nor `subject`"))),
            };
            if place.replace(value.trim().to_owned()).is_some() {
                return Err(bad(format!("`{key}` stands there twice")));
            }
        }
        Ok(selection)
    }

    /// The same run in one variant.
    pub(super) fn with(&self, dimension: Dimension, value: &str) -> Selection {
        let mut selection = self.clone();
        *match dimension {
            Dimension::Prompt => &mut selection.prompt,
            Dimension::Subject => &mut selection.subject,
        } = Some(value.to_owned());
        selection
    }

    pub(super) fn is_meant(&self, variant: &Variant) -> bool {
        let is = |wanted: &Option<String>, has: &String| wanted.as_ref().is_none_or(|it| it == has);
        let is_repetition = self.replicates.as_ref().is_none_or(|it| it.contains(&variant.replicate));
        is(&self.prompt, &variant.prompt) && is(&self.subject, &variant.subject) && is_repetition
    }
}

/// Splits at commas behind which a key stands.
fn parts(selected: &str) -> Vec<&str> {
    match selected.find(",prompt=").or_else(|| selected.find(",subject=")) {
        Some(at) => vec![&selected[..at], &selected[at + 1..]],
        None => vec![selected],
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.run)?;
        let parts = [("prompt", &self.prompt), ("subject", &self.subject)];
        let mut mark = '@';
        for (key, value) in parts.into_iter().filter_map(|(key, value)| Some((key, value.as_ref()?))) {
            write!(f, "{mark}{key}={value}")?;
            mark = ',';
        }
        Ok(())
    }
}

/// What distinguishes the variants of a row, beside the number of the repetition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimension {
    Prompt,
    Subject,
}

impl Dimension {
    pub const ALL: [Dimension; 2] = [Dimension::Prompt, Dimension::Subject];

    pub fn name(self) -> &'static str {
        match self {
            Dimension::Prompt => "prompt",
            Dimension::Subject => "subject",
        }
    }

    pub(super) fn of(self, variant: &Variant) -> &str {
        match self {
            Dimension::Prompt => &variant.prompt,
            Dimension::Subject => &variant.subject,
        }
    }

    /// The values that some variants have, each once, in their order.
    pub(super) fn values(self, variants: &[Variant]) -> Vec<&str> {
        let mut values: Vec<&str> = Vec::new();
        for value in variants.iter().map(|it| self.of(it)) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    }
}

/// How the variants of two sides are paired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Groups {
    /// What belongs to the key.
    pub(super) key: Vec<Dimension>,
    /// The variants of each pair of units, by their numbers, BASE first.
    pub(super) groups: Vec<Group>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Group {
    pub(crate) prompt: Option<String>,
    pub(crate) subject: Option<String>,
    pub(crate) base: Vec<usize>,
    pub(crate) new: Vec<usize>,
}

/// Why the variants of two sides cannot be paired.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the {dimension}s of the two sides differ: BASE has {base}, NEW has {new}; select one of each, such as `{example}`"
)]
pub struct Unpairable {
    dimension: &'static str,
    base: String,
    new: String,
    example: String,
}

/// A variant of a side with its number.
pub(super) type Numbered<'v> = (usize, &'v Variant);

impl Groups {
    /// Pairs variants: what both sides have the same values of belongs to the key; what each has one value of is what is compared.
    pub(super) fn of(base: &[Numbered<'_>], new: &[Numbered<'_>], run: &str) -> Result<Groups, Unpairable> {
        let variants = |side: &[Numbered<'_>]| side.iter().map(|it| it.1.clone()).collect::<Vec<Variant>>();
        let (of_base, of_new) = (variants(base), variants(new));
        let mut key = Vec::new();
        for dimension in Dimension::ALL {
            let (was, now) = (dimension.values(&of_base), dimension.values(&of_new));
            let is_same = was.len() == now.len() && was.iter().all(|it| now.contains(it));
            match (is_same, was.len() == 1 && now.len() == 1) {
                (true, _) if was.iter().any(|it| !it.is_empty()) => key.push(dimension),
                (true, _) | (_, true) => {}
                _ => return Err(unpairable(dimension, &was, &now, run)),
            }
        }
        let mut groups: Vec<Group> = Vec::new();
        let of_key = |variant: &Variant, dimension: Dimension| {
            key.contains(&dimension).then(|| dimension.of(variant).to_owned())
        };
        for (is_base, (number, variant)) in base.iter().map(|it| (true, *it)).chain(new.iter().map(|it| (false, *it))) {
            let (prompt, subject) = (of_key(variant, Dimension::Prompt), of_key(variant, Dimension::Subject));
            let at = groups.iter().position(|it| it.prompt == prompt && it.subject == subject);
            let at = at.unwrap_or_else(|| {
                groups.push(Group { prompt, subject, ..Group::default() });
                groups.len() - 1
            });
            if is_base { &mut groups[at].base } else { &mut groups[at].new }.push(number);
        }
        Ok(Groups { key, groups })
    }
}

fn unpairable(dimension: Dimension, base: &[&str], new: &[&str], run: &str) -> Unpairable {
    let one = new.iter().find(|it| base.contains(it)).or(new.first()).copied().unwrap_or_default();
    Unpairable {
        dimension: dimension.name(),
        base: listed_all(base.iter().copied()),
        new: listed_all(new.iter().copied()),
        example: Selection::whole(run).with(dimension, one).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_reads_back_as_it_is_written() {
        for text in ["main", "main@subject=openai/gpt-5", "a@prompt=short,subject=x/y,z", "runs/me@home.jurat"] {
            assert_eq!(Selection::parse(text).map(|it| it.to_string()), Ok(text.to_owned()));
        }
        let refused = |text: &str| Selection::parse(text).expect_err("it is refused").to_string();
        assert!(refused("a@model=x").contains("`model` is neither `prompt` nor `subject`"), "{}", refused("a@model=x"));
        assert!(refused("a@subject=x,subject=y").contains("twice"));
    }

    #[test]
    fn what_both_sides_have_belongs_to_the_key() {
        let variant = |prompt: &str, subject: &str, replicate| Variant {
            prompt: prompt.to_owned(),
            subject: subject.to_owned(),
            replicate,
        };
        let base = [variant("", "a", 0), variant("", "a", 1), variant("", "b", 0)];
        let new = [variant("", "b", 0), variant("", "a", 0)];
        let base: Vec<Numbered<'_>> = base.iter().enumerate().collect();
        let new: Vec<Numbered<'_>> = new.iter().enumerate().collect();
        let groups = Groups::of(&base, &new, "r").expect("they are paired");
        assert_eq!(groups.key, [Dimension::Subject]);
        assert_eq!(groups.groups[0].base, [0, 1]);
        assert_eq!(groups.groups[0].new, [1]);
        let only = [variant("", "c", 0)];
        let only: Vec<Numbered<'_>> = only.iter().enumerate().collect();
        let error = Groups::of(&base, &only, "r").expect_err("they differ").to_string();
        assert!(error.contains("BASE has `a` and `b`, NEW has `c`"), "{error}");
        assert_eq!(Groups::of(&only, &new[..1], "r").map(|it| it.key), Ok(Vec::new()));
    }
}
