//! The ids of rows in a block, and the hashes they are found by.
//!
//! An id is found by 128 bits of XXH3. For a row that is known by its content those are the id itself; an id that looks like one,
//! 32 hexadecimal digits, is taken for that number, so that equal ids have equal hashes however they came about. 128 bits are taken
//! as proof that two ids are equal, as everywhere in jurat.

use std::borrow::Cow;

use xxhash_rust::xxh3::xxh3_128;

use crate::packed::{Bytes, PLAIN, Unreadable, put_number};
use crate::records::RowId;

/// The hash that an id is found by.
pub(super) fn id_hash(id: &RowId<'_>) -> u128 {
    match id {
        RowId::Content(hash) => *hash,
        RowId::Given(text) => text_hash(text),
    }
}

/// The hash of an id as people see it.
pub(super) fn text_hash(text: &str) -> u128 {
    content_id(text).unwrap_or_else(|| xxh3_128(text.as_bytes()))
}

/// The content hash that a text writes: 32 digits, lower case.
fn content_id(text: &str) -> Option<u128> {
    let is_digit = |it: &u8| matches!(it, b'0'..=b'9' | b'a'..=b'f');
    (text.len() == 32 && text.as_bytes().iter().all(is_digit)).then(|| u128::from_str_radix(text, 16).ok())?
}

/// The content hash and the number of an id like `…-2`, which distinguishes rows of equal content.
pub(super) fn numbered_content_id(text: &str) -> Option<(u128, u64)> {
    let (hash, number) = text.split_at_checked(32)?;
    let digits = number.strip_prefix('-')?;
    let number: u64 = digits.parse().ok()?;
    (number >= 2 && number.to_string() == digits).then_some((content_id(hash)?, number))
}

/// An id as people see it; rows of equal content carry a number from 2 on.
pub(super) fn shown_id(id: &RowId<'_>, number: Option<u64>) -> String {
    match (id, number) {
        (RowId::Given(text), _) => text.clone().into_owned(),
        (RowId::Content(hash), None) => format!("{hash:032x}"),
        (RowId::Content(hash), Some(number)) => format!("{hash:032x}-{number}"),
    }
}

/// An id is written as a number: 0 the same as the last, 1 a content hash (16 bytes, the highest first), else a text that begins like the
/// last text. Then the number is 2 more than how many bytes are new, and is followed by how many are not, and by the new ones: ids
/// are mostly numbered.
mod form {
    pub(super) const SAME: u64 = 0;
    pub(super) const CONTENT: u64 = 1;
    pub(super) const TEXT: u64 = 2;
}

/// Writes ids one after the other.
pub(super) fn write<'i>(ids: impl Iterator<Item = RowId<'i>>) -> Vec<u8> {
    let mut bytes = vec![PLAIN];
    let mut last = None;
    let mut last_text = Cow::Borrowed("");
    for id in ids {
        if last.as_ref() == Some(&id) {
            put_number(&mut bytes, form::SAME);
            continue;
        }
        match &id {
            RowId::Content(hash) => {
                put_number(&mut bytes, form::CONTENT);
                bytes.extend_from_slice(&hash.to_be_bytes());
            }
            RowId::Given(text) => {
                let n_shared = text.bytes().zip(last_text.bytes()).take_while(|(a, b)| a == b).count();
                put_number(&mut bytes, form::TEXT + (text.len() - n_shared) as u64);
                put_number(&mut bytes, n_shared as u64);
                bytes.extend_from_slice(&text.as_bytes()[n_shared..]);
                last_text = text.clone();
            }
        }
        last = Some(id);
    }
    bytes
}

/// The ids of a block. Their texts are one text, because most readers look at few of them.
#[derive(Debug, PartialEq)]
pub(super) struct Ids {
    texts: String,
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Entry {
    /// Where its text is.
    Text(u32, u32),
    Content(u128),
}

impl Ids {
    pub(super) fn get(&self, slot: usize) -> RowId<'_> {
        match self.entries[slot] {
            Entry::Text(start, end) => RowId::Given(self.texts[start as usize..end as usize].into()),
            Entry::Content(hash) => RowId::Content(hash),
        }
    }
}

/// Reads `n` ids.
pub(super) fn read(packed: &[u8], n: usize) -> Result<Ids, Unreadable> {
    let mut bytes = Bytes::of_plain(packed)?;
    let mut entries: Vec<Entry> = Vec::with_capacity(n.min(packed.len()));
    let mut texts: Vec<u8> = Vec::with_capacity(packed.len());
    let mut last = 0..0;
    for _ in 0..n {
        entries.push(match bytes.number()? {
            form::SAME => *entries.last().ok_or(Unreadable::Damaged)?,
            form::CONTENT => Entry::Content(u128::from_be_bytes(bytes.array()?)),
            number => {
                let n_new = usize::try_from(number - form::TEXT).map_err(|_| Unreadable::Damaged)?;
                let n_shared = bytes.length()?;
                let start = texts.len();
                if n_shared > last.len() {
                    return Err(Unreadable::Damaged);
                }
                texts.extend_from_within(last.start..last.start + n_shared);
                texts.extend_from_slice(bytes.take(n_new)?);
                last = start..texts.len();
                let place = |it: usize| u32::try_from(it).map_err(|_| Unreadable::Damaged);
                // A part of a text is not looked at before the whole is known to be text.
                std::str::from_utf8(&texts[last.clone()]).map_err(|_| Unreadable::Damaged)?;
                Entry::Text(place(last.start)?, place(last.end)?)
            }
        });
    }
    Ok(Ids { texts: String::from_utf8(texts).map_err(|_| Unreadable::Damaged)?, entries })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ids_come_back(ids in proptest::collection::vec(
            prop_oneof!["[a-cäö]{0,3}".prop_map(|it| RowId::Given(it.into())), any::<u128>().prop_map(RowId::Content)], 0..50,
        )) {
            let written = write(ids.iter().cloned());
            let back = read(&written, ids.len()).expect("what was written");
            prop_assert_eq!((0..ids.len()).map(|slot| back.get(slot)).collect::<Vec<_>>(), ids);
        }

        #[test]
        fn an_id_is_found_by_what_people_see(hash in any::<u128>(), number in 2_u64..) {
            let id = RowId::Content(hash);
            prop_assert_eq!(text_hash(&shown_id(&id, None)), id_hash(&id));
            prop_assert_eq!(numbered_content_id(&shown_id(&id, Some(number))), Some((hash, number)));
        }
    }

    #[test]
    fn only_what_jurat_numbers_is_a_numbered_id() {
        let hash = "0123456789abcdef0123456789abcdef";
        for text in ["", "x-2", "-2", hash, &format!("{hash}-1"), &format!("{hash}-02"), &format!("{hash}x2")] {
            assert_eq!(numbered_content_id(text), None, "{text}");
        }
    }
}
