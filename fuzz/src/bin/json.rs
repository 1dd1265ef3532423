//! Any text reads as JSON or is refused; what was read is printed and read back as the same value.

#![no_main]

use jurat_format::value::parse_json;

libfuzzer_sys::fuzz_target!(|text: &str| {
    // JSON has no NaN and no infinity, so none can come out of it, and equality is enough to compare.
    let Ok(record) = parse_json(text) else { return };
    let printed = record.value.to_string();
    match parse_json(&printed) {
        Ok(again) => assert_eq!(record.value, again.value, "printed as {printed}"),
        Err(error) => panic!("printed as {printed}, which is refused: {error}"),
    }
});
