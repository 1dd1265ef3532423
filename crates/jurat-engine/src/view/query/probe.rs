//! Letters and digits that are looked for in bytes, whatever their case.

use memchr::{memchr_iter, memchr2_iter};

/// Letters and digits that are looked for. Found by the rarest of them, so that most of a text is passed over quickly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Probe {
    /// In small letters.
    text: Vec<u8>,
    rarest: usize,
}

/// Letters, the most frequent in English first; digits and all others are rarer.
const FREQUENT: &[u8] = b"etaoinshrdlucmfwygpbvkxqjz";

impl Probe {
    pub(crate) fn of(text: &str) -> Probe {
        let text: Vec<u8> = text.bytes().map(|it| it.to_ascii_lowercase()).collect();
        let rank = |byte: &u8| FREQUENT.iter().position(|it| it == byte).unwrap_or(FREQUENT.len());
        let rarest = (0..text.len()).max_by_key(|ix| rank(&text[*ix])).unwrap_or_default();
        Probe { text, rarest }
    }

    /// Whether it stands somewhere in bytes. An empty one does everywhere.
    pub(crate) fn is_in(&self, bytes: &[u8]) -> bool {
        let Some(byte) = self.text.get(self.rarest).copied() else { return true };
        let is_here = |at: usize| {
            let found = at.checked_sub(self.rarest).and_then(|start| bytes.get(start..start + self.text.len()));
            found.is_some_and(|it| it.eq_ignore_ascii_case(&self.text))
        };
        match byte.to_ascii_uppercase() {
            upper if upper == byte => memchr_iter(byte, bytes).any(is_here),
            upper => memchr2_iter(byte, upper, bytes).any(is_here),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_found_where_it_stands(probe in "[a-cE1]{0,3}", text in "[a-cA-CeE1 ]{0,12}") {
            let expected = text.to_ascii_lowercase().contains(&probe.to_ascii_lowercase());
            prop_assert_eq!(Probe::of(&probe).is_in(text.as_bytes()), expected);
        }
    }
}
