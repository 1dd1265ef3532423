//! Where rows came from.
//!
//! Rows of one file follow each other, so a place is written as its difference from the one before: two bytes for a row of a
//! file of JSON lines.

use crate::packed::{Bytes, PLAIN, Unreadable, put_number, unzigzag, zigzag};

/// Where a row came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowPlace {
    /// Which source of the run, counted from 0.
    pub source: u32,
    /// Which row of its source, counted from 1.
    pub number: u64,
    /// Its bytes in the file, when they are its JSON as it is.
    pub bytes: Option<ByteRange>,
}

/// Some bytes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteRange {
    pub offset: u64,
    pub length: u32,
}

impl ByteRange {
    pub(super) fn end(self) -> u64 {
        self.offset.saturating_add(u64::from(self.length))
    }
}

/// How a place is written, in the lowest three bits of a number; what the other bits say stands beside each.
mod form {
    /// The next row of the same source, one byte after the end of the last: its length.
    pub(super) const NEXT: u64 = 0;
    /// The same row as the last: nothing.
    pub(super) const SAME: u64 = 1;
    /// The next row of the same source, some bytes after the end of the last: its length; then the bytes between.
    pub(super) const NEXT_AFTER: u64 = 2;
    /// Somewhere: its length; then source, number and offset.
    pub(super) const ELSEWHERE: u64 = 3;
    /// Not as it is in a file: its source; then how far its number is from the next, zigzag.
    pub(super) const WITHOUT_BYTES: u64 = 4;
}

/// Writes places one after the other.
pub(super) fn write(places: impl Iterator<Item = RowPlace>) -> Vec<u8> {
    let mut bytes = vec![PLAIN];
    let mut last: Option<RowPlace> = None;
    for place in places {
        write_one(&mut bytes, last, place);
        last = Some(place);
    }
    bytes
}

fn write_one(bytes: &mut Vec<u8>, last: Option<RowPlace>, place: RowPlace) {
    if last == Some(place) {
        return put_number(bytes, form::SAME);
    }
    let next_number = last.map_or(1, |it| it.number.wrapping_add(1));
    let Some(range) = place.bytes else {
        put_number(bytes, u64::from(place.source) << 3 | form::WITHOUT_BYTES);
        return put_number(bytes, zigzag(place.number.wrapping_sub(next_number) as i64));
    };
    let length = u64::from(range.length) << 3;
    let follows = last.filter(|it| it.source == place.source && next_number == place.number);
    match follows.and_then(|it| range.offset.checked_sub(it.bytes?.end())) {
        Some(1) => put_number(bytes, length | form::NEXT),
        Some(between) => {
            put_number(bytes, length | form::NEXT_AFTER);
            put_number(bytes, between);
        }
        None => {
            put_number(bytes, length | form::ELSEWHERE);
            put_number(bytes, u64::from(place.source));
            put_number(bytes, place.number);
            put_number(bytes, range.offset);
        }
    }
}

/// Reads `n` places.
pub(super) fn read(packed: &[u8], n: usize) -> Result<Vec<RowPlace>, Unreadable> {
    let mut bytes = Bytes::of_plain(packed)?;
    let mut places: Vec<RowPlace> = Vec::with_capacity(n.min(packed.len()));
    for _ in 0..n {
        let place = read_one(&mut bytes, places.last())?;
        places.push(place);
    }
    Ok(places)
}

fn read_one(bytes: &mut Bytes<'_>, last: Option<&RowPlace>) -> Result<RowPlace, Unreadable> {
    let head = bytes.number()?;
    let (form, rest) = (head & 7, head >> 3);
    let narrow = |it: u64| u32::try_from(it).map_err(|_| Unreadable::Damaged);
    let next_number = last.map_or(1, |it| it.number.wrapping_add(1));
    Ok(match form {
        form::SAME => *last.ok_or(Unreadable::Damaged)?,
        form::NEXT | form::NEXT_AFTER => {
            let between = if form == form::NEXT { 1 } else { bytes.number()? };
            let last = last.ok_or(Unreadable::Damaged)?;
            let end = last.bytes.ok_or(Unreadable::Damaged)?.end();
            let range =
                ByteRange { offset: end.checked_add(between).ok_or(Unreadable::Damaged)?, length: narrow(rest)? };
            RowPlace { source: last.source, number: next_number, bytes: Some(range) }
        }
        form::ELSEWHERE => RowPlace {
            source: narrow(bytes.number()?)?,
            number: bytes.number()?,
            bytes: Some(ByteRange { offset: bytes.number()?, length: narrow(rest)? }),
        },
        form::WITHOUT_BYTES => RowPlace {
            source: narrow(rest)?,
            number: next_number.wrapping_add(unzigzag(bytes.number()?) as u64),
            bytes: None,
        },
        other => return Err(Unreadable::Encoding(other as u8)),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn places() -> impl Strategy<Value = Vec<RowPlace>> {
        let near = (0_u32..3, 1_u64..6, proptest::option::of((0_u64..9, 0_u32..4)));
        let far = (any::<u32>(), any::<u64>(), proptest::option::of((any::<u64>(), any::<u32>())));
        let place = prop_oneof![4 => near, 1 => far].prop_map(|(source, number, bytes)| RowPlace {
            source,
            number,
            bytes: bytes.map(|(offset, length)| ByteRange { offset, length }),
        });
        proptest::collection::vec(place, 0..60)
    }

    proptest! {
        #[test]
        fn places_come_back(places in places()) {
            prop_assert_eq!(read(&write(places.iter().copied()), places.len()), Ok(places));
        }
    }

    #[test]
    fn rows_of_json_lines_take_two_bytes() {
        let row = |ix: u64| RowPlace {
            source: 0,
            number: ix + 1,
            bytes: Some(ByteRange { offset: ix * 1101, length: 1100 }),
        };
        assert_eq!(write((0..101).map(row)).len(), 1 + 5 + 100 * 2);
    }

    #[test]
    fn what_says_nothing_is_refused() {
        assert_eq!(read(&[1, 1], 1), Err(Unreadable::Damaged), "the same as nothing");
        assert_eq!(read(&[1, 7], 1), Err(Unreadable::Encoding(7)));
        assert_eq!(read(&[2], 0), Err(Unreadable::Encoding(2)));
        assert_eq!(read(&[1], 1), Err(Unreadable::Damaged));
    }
}
