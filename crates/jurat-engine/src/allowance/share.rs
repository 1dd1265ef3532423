//! A fixed part of budget and limits: the simplest way for processes that cannot talk to each other.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

/// The part of one process: which one, counted from 0, of how many. What cannot be divided goes to the first ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    ix: u64,
    n: u64,
}

/// Why a share cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadShare {
    #[error("write which process of how many, counted from 0, for example `17/500`")]
    Syntax,
    #[error("process {ix} of {n} is none: they are counted from 0")]
    NoSuch { ix: u64, n: u64 },
    #[error("{what} of {whole} leaves nothing for process {ix} of {n}; it is enough for {whole} processes")]
    Nothing { what: &'static str, whole: u64, ix: u64, n: u64 },
}

impl Share {
    /// A part of a number of things; an error where that is nothing.
    pub fn of(&self, what: &'static str, whole: u64) -> Result<u64, BadShare> {
        let Share { ix, n } = *self;
        match self.part(whole) {
            0 => Err(BadShare::Nothing { what, whole, ix, n }),
            part => Ok(part),
        }
    }

    /// A part of an amount in dollars. The parts of all processes are never more than the whole.
    pub fn of_dollars(&self, usd: f64) -> f64 {
        self.part((usd * 1e9).floor() as u64) as f64 / 1e9
    }

    pub fn of_concurrency(&self, whole: NonZeroUsize) -> Result<NonZeroUsize, BadShare> {
        let part = self.of("`-j`", whole.get() as u64)?;
        Ok(NonZeroUsize::new(part as usize).unwrap_or(NonZeroUsize::MIN))
    }

    fn part(&self, whole: u64) -> u64 {
        whole / self.n + u64::from(self.ix < whole % self.n)
    }
}

impl FromStr for Share {
    type Err = BadShare;

    fn from_str(text: &str) -> Result<Share, BadShare> {
        let numbers = text.split_once('/').and_then(|(ix, n)| Some((ix.parse().ok()?, n.parse().ok()?)));
        match numbers {
            Some((ix, n)) if ix < n => Ok(Share { ix, n }),
            Some((ix, n)) => Err(BadShare::NoSuch { ix, n }),
            None => Err(BadShare::Syntax),
        }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.ix, self.n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_all_processes_are_the_whole() {
        for (whole, n) in [(0_u64, 1_u64), (1, 1), (7, 3), (3, 7), (500, 500), (1_000_003, 64)] {
            let parts: Vec<u64> = (0..n).map(|ix| Share { ix, n }.part(whole)).collect();
            assert_eq!(parts.iter().sum::<u64>(), whole);
            assert!(parts.is_sorted_by(|one, next| one >= next), "what is left goes to the first: {parts:?}");
        }
        let dollars: f64 = (0..3).map(|ix| Share { ix, n: 3 }.of_dollars(1.0)).sum();
        assert!(dollars <= 1.0 && dollars > 0.999_999_99, "{dollars}");
    }

    #[test]
    fn a_share_is_read_from_text() {
        let read = |text: &str| text.parse::<Share>().map_err(|it| it.to_string());
        assert_eq!(read("17/500").map(|it| it.to_string()), Ok("17/500".to_owned()));
        assert_eq!(read("3/3"), Err("process 3 of 3 is none: they are counted from 0".to_owned()));
        for wrong in ["", "3", "a/b", "1/", "-1/2"] {
            assert!(read(wrong).is_err_and(|it| it.contains("for example `17/500`")), "{wrong}");
        }
        let few = Share { ix: 5, n: 9 }.of("`--budget-calls`", 4).expect_err("there are more processes than calls");
        assert_eq!(
            few.to_string(),
            "`--budget-calls` of 4 leaves nothing for process 5 of 9; it is enough for 4 processes"
        );
    }
}
