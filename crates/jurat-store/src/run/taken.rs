//! What the answers of cases took: tokens, cost and time, for each case.
//!
//! The same could be added up from the recorded outcomes, but to sort a run by cost would then mean to read every outcome of it.

use crate::packed::{Bytes, Packer, Unreadable, put_number, unpack};

/// What the answers of a case took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CaseTaken {
    pub answers: u64,
    /// Of them, those that were there before.
    pub reused: u64,
    pub requests: u64,
    pub failed_requests: u64,
    /// Input tokens.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// In billionths of a dollar.
    pub nano_usd: u64,
    /// Answers without a known cost.
    pub unpriced: u64,
    /// How long the responses took, in microseconds.
    pub latency_us: u64,
}

impl CaseTaken {
    fn numbers(&self) -> [u64; 9] {
        let CaseTaken { answers, reused, requests, failed_requests, input, output, nano_usd, unpriced, latency_us } =
            *self;
        [answers, reused, requests, failed_requests, input, output, nano_usd, unpriced, latency_us]
    }

    fn of(
        [answers, reused, requests, failed_requests, input, output, nano_usd, unpriced, latency_us]: [u64; 9],
    ) -> CaseTaken {
        CaseTaken { answers, reused, requests, failed_requests, input, output, nano_usd, unpriced, latency_us }
    }
}

/// Writes what the cases of a block took, nine numbers for each slot.
pub(super) fn write<'t>(taken: impl Iterator<Item = &'t CaseTaken>, packer: &mut Packer) -> Vec<u8> {
    let mut bytes = Vec::new();
    taken.flat_map(CaseTaken::numbers).for_each(|it| put_number(&mut bytes, it));
    packer.pack(&bytes)
}

/// Reads what the cases of `n` slots took.
pub(super) fn read(packed: &[u8], n: usize) -> Result<Vec<CaseTaken>, Unreadable> {
    let unpacked = unpack(packed)?;
    let mut bytes = Bytes(&unpacked);
    let mut taken = |_| {
        let mut numbers = [0; 9];
        numbers.iter_mut().try_for_each(|it| bytes.number().map(|number| *it = number))?;
        Ok(CaseTaken::of(numbers))
    };
    (0..n).map(&mut taken).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_cases_took_comes_back(numbers in proptest::collection::vec(any::<[u64; 9]>(), 0..40)) {
            let taken: Vec<CaseTaken> = numbers.into_iter().map(CaseTaken::of).collect();
            let packed = write(taken.iter(), &mut Packer::new());
            prop_assert_eq!(read(&packed, taken.len()), Ok(taken));
        }
    }
}
