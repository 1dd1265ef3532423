//! Input that is damaged or made to do harm is an error with its place, and never a panic.

use jurat_import::Options;
use proptest::prelude::*;

use crate::{imported, sample};

const SAMPLES: [&str; 5] = [
    "otlp/openinference_llm_span.pb",
    "otlp/genai_chat_span.pb",
    "inspect/demo_v2_zstd.eval",
    "promptfoo/results_first_three.jsonl",
    "phoenix/spans_otlpv1_one.json",
];

#[test]
fn a_cut_file_is_an_error_with_its_place() {
    for (file, keep, place) in [
        ("otlp/genai_chat_span.pb", 500, "byte "),
        ("inspect/demo_v2_zstd.eval", 5000, "byte "),
        ("promptfoo/results_first_three.jsonl", 9000, "line 3, column "),
    ] {
        let error = imported(&[("cut", sample(file)[..keep].to_vec())], &Options::default()).expect_err(file);
        assert!(error.to_string().contains(place), "{file}: {error}");
    }
}

#[test]
fn deep_nesting_is_refused() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    for text in
        [deep.clone(), format!("{{\"resourceSpans\": {deep}}}"), format!("prompts: {deep}\nproviders: [echo]\n")]
    {
        assert!(imported(&[("deep", text.into_bytes())], &Options::default()).is_err());
    }
    // Values of attributes inside each other: lists of lists.
    let mut value = field(1, b"x");
    for _ in 0..200 {
        value = field(5, &field(1, &value));
    }
    let attribute = field(9, &[field(1, b"key"), field(2, &value)].concat());
    let request = field(1, &field(2, &field(2, &attribute)));
    let error = imported(&[("deep", request)], &Options::default()).expect_err("it is nested too deep");
    assert!(error.to_string().ends_with(": nested more than 32 deep"), "{error}");
}

/// A field of a message with its length before it.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![number << 3 | 2];
    let mut length = content.len();
    while length > 0x7f {
        bytes.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
    bytes.extend(content);
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever a few changed bytes make of a file, it is imported or refused.
    #[test]
    fn damaged_files_never_panic(file in 0..SAMPLES.len(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8), cut in any::<prop::sample::Index>()) {
        let mut bytes = sample(SAMPLES[file]);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = imported(&[("damaged", bytes.clone())], &Options::default());
        bytes.truncate(cut.index(bytes.len()) + 1);
        let _ = imported(&[("cut", bytes)], &Options::default());
    }

    /// Any text is imported or refused.
    #[test]
    fn any_text_is_imported_or_refused(text in "\\PC{0,200}") {
        let _ = imported(&[("text", text.clone().into_bytes())], &Options::default());
        let config = format!("prompts: [{text:?}]\nproviders: [{text:?}]\ntests: [{{vars: {{x: {text:?}}}, assert: [{{type: regex, value: {text:?}}}, {{type: contains-any, value: {text:?}}}]}}]\n");
        let _ = imported(&[("config", config.into_bytes())], &Options::default());
    }
}
