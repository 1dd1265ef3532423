//! Columns of scores and of labels: what some cases have for a task.

use crate::packed::{Bytes, PLAIN, Packer, Unreadable, put_number, unpack};

/// Writes scores: a bit for each of `n` slots, the lowest of a byte first, then the score of each slot that has one, as an IEEE 754
/// double, the lowest byte first. Slots ascend.
pub(super) fn write_scores(scores: &[(usize, f64)], n: usize) -> Vec<u8> {
    let mut bytes = vec![0; 1 + n.div_ceil(8)];
    bytes[0] = PLAIN;
    for (slot, _) in scores {
        bytes[1 + slot / 8] |= 1 << (slot % 8);
    }
    scores.iter().for_each(|(_, score)| bytes.extend_from_slice(&score.to_le_bytes()));
    bytes
}

/// Reads the scores of `n` slots.
pub(super) fn read_scores(packed: &[u8], n: usize) -> Result<Vec<Option<f64>>, Unreadable> {
    let mut bytes = Bytes::of_plain(packed)?;
    let bits = bytes.take(n.div_ceil(8))?;
    let mut score = |slot: usize| {
        let has = bits[slot / 8] >> (slot % 8) & 1 == 1;
        has.then(|| bytes.array().map(f64::from_le_bytes)).transpose()
    };
    (0..n).map(&mut score).collect()
}

/// Writes labels: how many different ones there are, each with its length, then for each of `n` slots 0 or 1 more than the place of
/// its label in that list. Slots ascend.
pub(super) fn write_labels(labels: &[(usize, usize)], words: &[String], n: usize, packer: &mut Packer) -> Vec<u8> {
    let mut bytes = Vec::new();
    put_number(&mut bytes, words.len() as u64);
    for word in words {
        put_number(&mut bytes, word.len() as u64);
        bytes.extend_from_slice(word.as_bytes());
    }
    let mut labels = labels.iter().peekable();
    for slot in 0..n {
        let label = labels.next_if(|it| it.0 == slot);
        put_number(&mut bytes, label.map_or(0, |it| it.1 as u64 + 1));
    }
    packer.pack(&bytes)
}

/// Reads the labels of `n` slots.
pub(super) fn read_labels(packed: &[u8], n: usize) -> Result<Vec<Option<String>>, Unreadable> {
    let (words, numbers) = read_words(packed, n)?;
    Ok(numbers.into_iter().map(|it| it.map(|it| words[it].clone())).collect())
}

/// Reads the different labels of `n` slots, and for each slot the place of its label among them.
pub(super) fn read_words(packed: &[u8], n: usize) -> Result<(Vec<String>, Vec<Option<usize>>), Unreadable> {
    let unpacked = unpack(packed)?;
    let mut bytes = Bytes(&unpacked);
    let n_words = bytes.length()?;
    let mut words = Vec::with_capacity(n_words.min(unpacked.len()));
    for _ in 0..n_words {
        let length = bytes.length()?;
        words.push(std::str::from_utf8(bytes.take(length)?).map_err(|_| Unreadable::Damaged)?.to_owned());
    }
    let mut number = |_| match bytes.length()? {
        0 => Ok(None),
        word if word <= words.len() => Ok(Some(word - 1)),
        _ => Err(Unreadable::Damaged),
    };
    let numbers = (0..n).map(&mut number).collect::<Result<_, _>>()?;
    Ok((words, numbers))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn scores_come_back(scores in proptest::collection::vec(proptest::option::of(-9.0..9.0), 0..40)) {
            let present: Vec<(usize, f64)> = scores.iter().enumerate().filter_map(|(ix, it)| Some((ix, (*it)?))).collect();
            prop_assert_eq!(read_scores(&write_scores(&present, scores.len()), scores.len()), Ok(scores));
        }

        #[test]
        fn labels_come_back(
            words in proptest::collection::vec("[a-z]{0,40}", 1..9),
            chosen in proptest::collection::vec(proptest::option::of(any::<proptest::sample::Index>()), 0..40),
        ) {
            let chosen: Vec<Option<usize>> = chosen.iter().map(|it| it.map(|it| it.index(words.len()))).collect();
            let present: Vec<(usize, usize)> = chosen.iter().enumerate().filter_map(|(ix, it)| Some((ix, (*it)?))).collect();
            let packed = write_labels(&present, &words, chosen.len(), &mut Packer::new());
            let expected: Vec<Option<String>> = chosen.iter().map(|it| it.map(|it| words[it].clone())).collect();
            prop_assert_eq!(read_labels(&packed, chosen.len()), Ok(expected));
        }
    }
}
