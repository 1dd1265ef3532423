//! Verdicts as numbers of four bits, a column for each task.
//!
//! Most verdicts of most runs are `passed`, so a column where all passed is not stored at all, and a column where all are alike is
//! one byte.

use jurat_core::contrast::Ending;
use jurat_core::plan::TaskIx;
use jurat_core::verdict::{CaseVerdict, SkipReason, StopReason, Verdict};
use serde::{Deserialize, Serialize};

use super::Detail;
use crate::packed::{Unreadable, opened};

/// What verdicts are about: the case as a whole, or one of the plan's tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Column(pub u32);

impl Column {
    /// The case as a whole.
    pub const CASE: Column = Column(0);

    /// The number as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The task, unless it is the case as a whole.
    pub fn task(self) -> Option<TaskIx> {
        self.0.checked_sub(1).map(TaskIx)
    }
}

impl From<TaskIx> for Column {
    fn from(task: TaskIx) -> Column {
        Column(task.0.saturating_add(1))
    }
}

/// How a task or a case ended, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Code {
    /// Judged, and right.
    Passed = 0,
    /// Judged, and wrong.
    Failed = 1,
    /// An answer that no assertion asks to pass.
    Measured = 2,
    /// A gate said no; the detail says which.
    SkippedByGate = 3,
    /// What it needs could not be judged; the detail says which.
    SkippedByError = 4,
    /// Could not be judged.
    Error = 5,
    /// Something came before it could run.
    NotRun = 6,
    /// The task is not for this case.
    Absent = 7,
    /// Of a case: gates led past everything.
    NotJudged = 8,
}

impl Code {
    /// How many there are.
    pub const COUNT: usize = Code::ALL.len();

    /// All of them, each at the place of its number.
    pub const ALL: [Code; 9] = [
        Code::Passed,
        Code::Failed,
        Code::Measured,
        Code::SkippedByGate,
        Code::SkippedByError,
        Code::Error,
        Code::NotRun,
        Code::Absent,
        Code::NotJudged,
    ];

    /// The code that a number stands for.
    pub fn numbered(number: u8) -> Option<Code> {
        Code::ALL.get(usize::from(number)).copied()
    }

    /// One word for it, as reports and files have it.
    pub fn name(self) -> &'static str {
        match self {
            Code::NotJudged => "not_judged",
            code => code.ending().name(),
        }
    }

    /// How it ended, as far as comparing goes: why something was skipped makes no difference there.
    #[inline]
    pub fn ending(self) -> Ending {
        match self {
            Code::Passed => Ending::Passed,
            Code::Failed => Ending::Failed,
            Code::Measured => Ending::Measured,
            Code::SkippedByGate | Code::SkippedByError | Code::NotJudged => Ending::Skipped,
            Code::Error => Ending::Error,
            Code::NotRun => Ending::NotRun,
            Code::Absent => Ending::Absent,
        }
    }

    /// The verdict of a task that this code and its detail stand for; `None` when there is none.
    pub fn verdict(self, detail: Option<&Detail<'_>>) -> Option<Verdict> {
        let empty = Detail::default();
        let detail = detail.unwrap_or(&empty);
        let text = |it: &Option<std::borrow::Cow<'_, str>>| it.as_deref().unwrap_or_default().to_owned();
        let cause = detail.because.and_then(Column::task).unwrap_or(TaskIx(u32::MAX));
        Some(match self {
            Code::Passed => Verdict::Passed,
            Code::Failed => {
                let mismatch = jurat_compare::Mismatch { expected: text(&detail.expected), found: text(&detail.found) };
                Verdict::Failed(Box::new(mismatch))
            }
            Code::Measured => Verdict::Measured,
            Code::SkippedByGate => Verdict::Skipped(SkipReason::GateFailed(cause)),
            Code::SkippedByError => Verdict::Skipped(SkipReason::Errored(cause)),
            Code::Error => Verdict::error(text(&detail.message)),
            Code::NotRun => {
                let reason = detail.message.as_deref().and_then(StopReason::named);
                Verdict::NotRun(reason.unwrap_or(StopReason::Interrupted))
            }
            Code::Absent | Code::NotJudged => return None,
        })
    }
}

impl From<&Verdict> for Code {
    fn from(verdict: &Verdict) -> Code {
        match verdict {
            Verdict::Passed => Code::Passed,
            Verdict::Failed(_) => Code::Failed,
            Verdict::Measured => Code::Measured,
            Verdict::Skipped(SkipReason::GateFailed(_)) => Code::SkippedByGate,
            Verdict::Skipped(SkipReason::Errored(_)) => Code::SkippedByError,
            Verdict::Error(_) => Code::Error,
            Verdict::NotRun(_) => Code::NotRun,
        }
    }
}

impl From<CaseVerdict> for Code {
    fn from(verdict: CaseVerdict) -> Code {
        match verdict {
            CaseVerdict::Passed => Code::Passed,
            CaseVerdict::Failed => Code::Failed,
            CaseVerdict::Error => Code::Error,
            CaseVerdict::NotRun => Code::NotRun,
            CaseVerdict::Measured => Code::Measured,
            CaseVerdict::NotJudged => Code::NotJudged,
        }
    }
}

/// Two codes to a byte.
const NIBBLES: u8 = 1;

/// Packs a column; `None` when all passed. A column of one byte is the code that all have; a longer one is an encoding and the codes,
/// two to a byte, the first in the lower half.
pub(super) fn pack_codes(codes: &[u8]) -> Option<Vec<u8>> {
    let first = *codes.first()?;
    if codes.iter().all(|it| *it == first) {
        return (first != Code::Passed as u8).then(|| vec![first]);
    }
    let mut packed = Vec::with_capacity(codes.len() / 2 + 2);
    packed.push(NIBBLES);
    packed.extend(codes.chunks(2).map(|pair| pair[0] | pair.get(1).map_or(0, |it| it << 4)));
    Some(packed)
}

/// The codes of a column, of which most readers look at few.
#[derive(Debug)]
pub(super) enum PackedCodes {
    All(Code),
    /// Two to a byte, each of them the number of a code.
    Pairs(Vec<u8>),
}

impl PackedCodes {
    /// Reads `n` codes.
    pub(super) fn read(packed: &[u8], n: usize) -> Result<PackedCodes, Unreadable> {
        let code = |number: u8| Code::numbered(number).ok_or(Unreadable::Encoding(number));
        match opened(packed)? {
            [all] => Ok(PackedCodes::All(code(*all)?)),
            [NIBBLES, pairs @ ..] if pairs.len() == n.div_ceil(2) => {
                let unknown =
                    pairs.iter().flat_map(|it| [it & 0xf, it >> 4]).find(|it| usize::from(*it) >= Code::COUNT);
                unknown.map_or_else(|| Ok(PackedCodes::Pairs(pairs.to_vec())), |it| Err(Unreadable::Encoding(it)))
            }
            [NIBBLES, ..] | [] => Err(Unreadable::Damaged),
            [other, ..] => Err(Unreadable::Encoding(*other)),
        }
    }

    pub(super) fn get(&self, slot: usize) -> Code {
        match self {
            PackedCodes::All(code) => *code,
            PackedCodes::Pairs(pairs) => {
                let number = pairs.get(slot / 2).map_or(0, |it| (it >> (4 * (slot % 2))) & 0xf);
                Code::numbered(number).unwrap_or(Code::Absent)
            }
        }
    }
}

/// The `n` codes of a column.
pub(super) fn unpack_codes(packed: Option<&[u8]>, n: usize) -> Result<Vec<Code>, Unreadable> {
    let code = |number: u8| Code::numbered(number).ok_or(Unreadable::Encoding(number));
    match packed.map(opened).transpose()? {
        None => Ok(vec![Code::Passed; n]),
        Some([all]) => Ok(vec![code(*all)?; n]),
        Some([NIBBLES, pairs @ ..]) if pairs.len() == n.div_ceil(2) => {
            (0..n).map(|ix| code((pairs[ix / 2] >> (4 * (ix % 2))) & 0xf)).collect()
        }
        Some([NIBBLES, ..] | []) => Err(Unreadable::Damaged),
        Some([other, ..]) => Err(Unreadable::Encoding(*other)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn codes_come_back(codes in proptest::collection::vec(0_u8..9, 1..70)) {
            let packed = pack_codes(&codes);
            let back = unpack_codes(packed.as_deref(), codes.len()).expect("what was packed");
            prop_assert_eq!(back.iter().map(|it| *it as u8).collect::<Vec<_>>(), &codes[..]);
            if let Some(packed) = packed {
                let packed = PackedCodes::read(&packed, codes.len()).expect("what was packed");
                prop_assert_eq!((0..codes.len()).map(|it| packed.get(it)).collect::<Vec<_>>(), back);
            }
        }

        #[test]
        fn equal_codes_take_one_byte(code in 0_u8..9, n in 1_usize..5000) {
            let packed = pack_codes(&vec![code; n]);
            prop_assert_eq!(&packed, &(code != 0).then(|| vec![code]));
            prop_assert!(unpack_codes(packed.as_deref(), n).is_ok_and(|it| it.len() == n));
        }
    }

    #[test]
    fn what_is_not_a_column_is_refused() {
        assert_eq!(unpack_codes(Some(&[9]), 3), Err(Unreadable::Encoding(9)));
        assert_eq!(unpack_codes(Some(&[7, 0, 0]), 3), Err(Unreadable::Encoding(7)));
        assert_eq!(unpack_codes(Some(&[1, 0xa0, 0]), 3), Err(Unreadable::Encoding(10)));
        assert_eq!(unpack_codes(Some(&[1, 0]), 3), Err(Unreadable::Damaged));
        assert_eq!(unpack_codes(Some(&[]), 3), Err(Unreadable::Damaged));
    }
}
