//! Members of an input as the types that functions take.

use jurat_core::statistics::{Clusters, Confidence, Pairs, Side, Tally};
use jurat_format::value::Val;

use crate::{part, text_part};

#[derive(Clone, Copy)]
pub(super) struct Input<'c, 'v>(pub(super) &'c Val<'v>);

impl<'c, 'v> Input<'c, 'v> {
    pub(super) fn number(self, key: &str) -> Result<f64, String> {
        number(part(self.0, key)?)
    }

    /// A number that may be absent or null.
    pub(super) fn maybe(self, key: &str) -> Result<Option<f64>, String> {
        self.0.get(key).filter(|it| !matches!(it, Val::Null)).map(number).transpose()
    }

    pub(super) fn whole(self, key: &str) -> Result<u64, String> {
        Ok(self.number(key)? as u64)
    }

    pub(super) fn text(self, key: &str) -> Result<&'c str, String> {
        text_part(self.0, key)
    }

    pub(super) fn list(self, key: &str) -> Result<&'c [Val<'v>], String> {
        part(self.0, key)?.as_list().ok_or_else(|| format!("`{key}` is not a list"))
    }

    pub(super) fn numbers(self, key: &str) -> Result<Vec<f64>, String> {
        self.list(key)?.iter().map(number).collect()
    }

    pub(super) fn texts(self, key: &str) -> Result<Vec<&'c str>, String> {
        self.list(key)?
            .iter()
            .map(|it| it.as_str().ok_or_else(|| format!("`{key}` has a member that is not text")))
            .collect()
    }

    pub(super) fn confidence(self) -> Result<Confidence, String> {
        level(self.number("confidence")?)
    }

    pub(super) fn side(self) -> Result<Side, String> {
        match self.0.get("side").and_then(Val::as_str) {
            None | Some("both") => Ok(Side::Both),
            Some("lower") => Ok(Side::Lower),
            Some("upper") => Ok(Side::Upper),
            Some(other) => Err(format!("there is no side `{other}`")),
        }
    }

    pub(super) fn clusters(self) -> Result<Clusters, String> {
        Ok(Clusters::by_key(self.list("clusters")?.iter().map(Val::to_string)))
    }

    pub(super) fn tallies(self, passed: &str, judged: &str) -> Result<Vec<Tally>, String> {
        let (passed, judged) = (self.numbers(passed)?, self.numbers(judged)?);
        Ok(passed.iter().zip(&judged).map(|(passed, judged)| tally(*passed, *judged)).collect())
    }

    pub(super) fn tally(self, passed: &str, judged: &str) -> Result<Tally, String> {
        Ok(tally(self.number(passed)?, self.number(judged)?))
    }

    /// Pairs of which only their number and the flips are given.
    pub(super) fn flips(self) -> Result<Pairs, String> {
        let (n, only_base, only_new) = (self.whole("n")?, self.whole("only_base")?, self.whole("only_new")?);
        Ok(Pairs { both: n.saturating_sub(only_base + only_new), only_base, only_new, neither: 0 })
    }
}

pub(super) fn level(level: f64) -> Result<Confidence, String> {
    Confidence::new(level).ok_or_else(|| format!("{level} is no confidence"))
}

pub(super) fn number(value: &Val<'_>) -> Result<f64, String> {
    value.as_f64().ok_or_else(|| format!("{value} is not a number"))
}

fn tally(passed: f64, judged: f64) -> Tally {
    Tally { passed: passed as u64, judged: judged as u64 }
}
