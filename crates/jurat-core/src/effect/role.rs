//! The role that a request is for.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU32;

/// The role of a model: a name under `models`, or `provider/model`. Where a role has several models, each of them has a number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Role {
    name: Cow<'static, str>,
    number: Option<NonZeroU32>,
}

impl Role {
    /// The role of what is evaluated.
    pub const SUBJECT: Role = Role { name: Cow::Borrowed("subject"), number: None };

    /// One of several models of a role, by its index.
    pub fn nth(name: impl Into<String>, ix: usize) -> Role {
        let number = u32::try_from(ix + 1).ok().and_then(NonZeroU32::new);
        Role { name: Cow::Owned(name.into()), number }
    }

    /// The name in the definition.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Which of several models it is, from 1.
    pub fn number(&self) -> Option<NonZeroU32> {
        self.number
    }

    /// The role that a stored text names: `subject`, or `subject#2`.
    pub fn parse(text: &str) -> Role {
        let numbered = text.rsplit_once('#').and_then(|(name, number)| Some((name, number.parse().ok()?)));
        match numbered {
            // `+2` and `02` are numbers to the parser, and would not be written again as they were.
            Some((name, number)) if text.len() == name.len() + 1 + n_digits(number) => {
                Role { name: Cow::Owned(name.to_owned()), number: Some(number) }
            }
            _ => Role::from(text),
        }
    }
}

fn n_digits(number: NonZeroU32) -> usize {
    number.ilog10() as usize + 1
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.number.map_or(Ok(()), |it| write!(f, "#{it}"))
    }
}

impl From<&str> for Role {
    fn from(name: &str) -> Role {
        Role::from(name.to_owned())
    }
}

impl From<String> for Role {
    fn from(name: String) -> Role {
        Role { name: Cow::Owned(name), number: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_role_is_written_as_it_was() {
        for text in
            ["subject", "subject#2", "openai/a#b", "openai/a#02", "a#+2", "a#0", "#", "", "a#4294967296", "a#2#3"]
        {
            assert_eq!(Role::parse(text).to_string(), text);
        }
        assert_eq!(Role::parse("subject#12"), Role::nth("subject", 11));
        assert_eq!(Role::parse("subject#12").name(), "subject");
        assert_eq!(Role::parse("subject"), Role::SUBJECT);
    }
}
