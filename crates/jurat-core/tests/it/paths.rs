//! Paths are printed and read back; what is no path is refused at a place.

use jurat_format::value::{FieldPath, PathErrorKind, Step};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::arbitrary;

/// The pieces that paths are made of, and some that they are not.
const PIECES: &[&str] = &[
    "a",
    "b-c",
    "été",
    "_",
    ".",
    "..",
    "[",
    "]",
    "[0]",
    "[-1]",
    "[-0]",
    "[*]",
    "[\"",
    "\"]",
    "['",
    "']",
    "\\",
    "\"",
    "@json",
    "@",
    "$",
    "-",
    "0",
    "99999999999999999999",
    " ",
    "\n",
    "😀",
    "\u{301}",
];

proptest! {
    #![proptest_config(crate::laws())]

    #[test]
    fn a_printed_path_reads_back_the_same(path in arbitrary::path()) {
        let printed = path.to_string();
        prop_assert_eq!(FieldPath::parse(&printed), Ok(path), "{}", printed);
    }

    #[test]
    fn what_is_refused_has_a_place_in_the_text(
        text in prop_oneof![arbitrary::text(), vec(select(PIECES), 0..8).prop_map(|it| it.concat())]
    ) {
        match FieldPath::parse(&text) {
            Ok(path) => {
                let printed = path.to_string();
                prop_assert!(printed.len() <= text.len(), "{} is printed as the longer {}", text, printed);
                prop_assert_eq!(FieldPath::parse(&printed), Ok(path));
            }
            Err(error) => {
                prop_assert!(text.get(error.at.clone()).is_some(), "{:?} of {:?}", error.at, text);
                prop_assert!(error.kind == PathErrorKind::Empty || !error.at.is_empty(), "{:?} of {:?}", error.at, text);
                prop_assert!(!error.message.is_empty());
            }
        }
    }
}

#[test]
fn a_path_as_long_as_can_be_is_printed_no_longer() {
    let quotes = format!("['{}']", "\"".repeat(FieldPath::MAX_BYTES - 4));
    assert!(FieldPath::parse(&quotes).unwrap().to_string() == quotes);
    let index = FieldPath::of([Step::Index(i64::MIN)]);
    assert_eq!(FieldPath::parse(&index.to_string()), Ok(index));
}
