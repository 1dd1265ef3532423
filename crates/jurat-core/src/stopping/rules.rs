//! What ends a run, as `--stop-when` says it.

use std::fmt;

/// What ends a run before its last row.
///
/// ```
/// use jurat_core::stopping::StopWhen;
///
/// let rules: StopWhen = "decided,no-hopeless".parse()?;
/// assert!(rules.pass && rules.fail && !rules.hopeless);
/// assert_eq!("hopeless,width=0.05".parse::<StopWhen>()?.to_string(), "hopeless,width=0.05");
/// assert_eq!("pass,fail,hopeless".parse::<StopWhen>()?.to_string(), "decided");
/// # Ok::<(), jurat_core::stopping::UnknownRule>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StopWhen {
    /// When every condition passes.
    pub pass: bool,
    /// When every condition is decided, and one fails.
    pub fail: bool,
    /// When a condition will hardly pass.
    pub hopeless: bool,
    /// When the pass rate is known to within this on either side.
    pub width: Option<f64>,
}

/// A rule that there is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownRule {
    pub rule: String,
}

impl fmt::Display for UnknownRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is no rule; write `decided`, `pass`, `fail`, `hopeless`, `no-hopeless`, or a width such as `width=0.05`; separate several by commas",
            self.rule
        )
    }
}

impl std::error::Error for UnknownRule {}

impl StopWhen {
    /// Whether conditions are decided, beside a width.
    pub fn has_decisions(&self) -> bool {
        self.pass || self.fail || self.hopeless
    }
}

impl std::str::FromStr for StopWhen {
    type Err = UnknownRule;

    fn from_str(text: &str) -> Result<StopWhen, UnknownRule> {
        let mut found = StopWhen::default();
        let mut without_hopeless = false;
        for rule in text.split(',').map(str::trim) {
            match rule {
                "decided" => (found.pass, found.fail, found.hopeless) = (true, true, true),
                "pass" => found.pass = true,
                "fail" => found.fail = true,
                "hopeless" => found.hopeless = true,
                "no-hopeless" => without_hopeless = true,
                _ => found.width = Some(width(rule).ok_or_else(|| UnknownRule { rule: rule.to_owned() })?),
            }
        }
        found.hopeless &= !without_hopeless;
        match found == StopWhen::default() {
            true => Err(UnknownRule { rule: text.to_owned() }),
            false => Ok(found),
        }
    }
}

/// `width=0.05`: a share, of which both sides fit between 0 and 1.
fn width(rule: &str) -> Option<f64> {
    let width: f64 = rule.strip_prefix("width=")?.parse().ok()?;
    (width > 0.0 && width < 0.5).then_some(width)
}

impl fmt::Display for StopWhen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rules: Vec<String> = match (self.pass, self.fail, self.hopeless) {
            (true, true, true) => vec!["decided".to_owned()],
            (true, true, false) => vec!["decided".to_owned(), "no-hopeless".to_owned()],
            (pass, fail, hopeless) => {
                let named = [(pass, "pass"), (fail, "fail"), (hopeless, "hopeless")];
                named.into_iter().filter(|it| it.0).map(|it| it.1.to_owned()).collect()
            }
        };
        rules.extend(self.width.map(|it| format!("width={it}")));
        f.write_str(&rules.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_read_back_as_they_are_written() {
        for text in [
            "decided",
            "decided,no-hopeless",
            "pass",
            "fail,hopeless",
            "pass,hopeless",
            "width=0.1",
            "decided,width=0.02",
        ] {
            assert_eq!(text.parse::<StopWhen>().map(|it| it.to_string()).as_deref(), Ok(text));
        }
        assert_eq!("no-hopeless,decided".parse(), "decided,no-hopeless".parse::<StopWhen>());
    }

    #[test]
    fn what_is_no_rule_is_refused() {
        for text in [
            "",
            "sure",
            "width",
            "width=0",
            "width=0.5",
            "width=nan",
            "no-hopeless",
            "hopeless,no-hopeless",
            "decided,,pass",
        ] {
            assert!(text.parse::<StopWhen>().is_err(), "{text}");
        }
    }
}
