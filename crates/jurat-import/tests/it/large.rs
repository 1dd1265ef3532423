//! Large files are read piece by piece; what comes of them is the same.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use jurat_import::{By, Imported, Input, NoFolder, Options, import};

/// The files below a folder.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut paths: Vec<PathBuf> = entries.map(|it| it.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

/// The result of an import, as text.
fn shown(input: Result<Input, jurat_import::ImportError>, options: &Options) -> String {
    let imported = input.and_then(|it| import(&[it], None, &NoFolder, options));
    let files = |it: &Imported| {
        let text = |it: &jurat_import::NewFile| format!("--- {}\n{}", it.name, it.text().expect("rows are there"));
        it.files.iter().map(text).collect::<Vec<_>>().join("\n")
    };
    imported.map_or_else(|error| error.to_string(), |it| format!("{}: {}\n{}", it.kind.name, it.summary, files(&it)))
}

/// Configurations are small, and need their text.
const IN_MEMORY: [&str; 2] = ["promptfoo: ", "is of no kind"];

#[test]
fn what_is_read_piece_by_piece_is_the_same_as_in_memory() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/import");
    let (mut paths, mut n_compared) = (Vec::new(), 0);
    files(&root, &mut paths);
    for path in paths {
        let name = path.file_name().and_then(|it| it.to_str()).expect("a name").to_owned();
        let bytes = fs::read(&path).expect("the sample is there");
        for by in [By::Trace, By::Agent, By::Session] {
            let options = Options { by, ..Options::default() };
            let whole = shown(Input::new(&name, bytes.clone()), &options);
            if IN_MEMORY.iter().any(|it| whole.contains(it)) {
                continue;
            }
            n_compared += 1;
            assert_eq!(shown(Input::streamed(&name, Box::new(bytes.clone())), &options), whole, "{}", path.display());
            assert_eq!(shown(Input::streamed(&name, Box::new(packed(&bytes))), &options), whole, "{}", path.display());
        }
    }
    assert!(n_compared > 30, "{n_compared}");
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory can be written to");
    encoder.finish().expect("memory can be written to")
}

/// A span of a trace, whose end is a second after its start.
fn span(trace: usize, ix: usize) -> String {
    let start = 1_700_000_000_000_000_000_u64 + (trace as u64 * 100 + ix as u64) * 1_000_000_000;
    let output = r#"[{\"role\": \"assistant\", \"parts\": [{\"type\": \"text\", \"content\": \"Hello\"}]}]"#;
    format!(
        r#"{{"traceId": "{trace:032x}", "spanId": "{:016x}", "name": "chat m", "startTimeUnixNano": "{start}", "endTimeUnixNano": "{}",
           "attributes": [{{"key": "gen_ai.operation.name", "value": {{"stringValue": "chat"}}}},
                          {{"key": "gen_ai.output.messages", "value": {{"stringValue": "{output}"}}}}]}}"#,
        trace * 1000 + ix + 1,
        start + 1_000_000_000,
    )
    .replace('\n', " ")
}

fn resource(spans: &[String]) -> String {
    format!(r#"{{"resource": {{}}, "scopeSpans": [{{"spans": [{}]}}]}}"#, spans.join(", "))
}

fn request(spans: &[String]) -> String {
    format!(r#"{{"resourceSpans": [{}]}}"#, resource(spans))
}

/// Spans of a trace that lie far apart become one run, and runs are in the order of their traces.
#[test]
fn traces_that_are_mixed_become_the_same_runs() {
    let in_order: Vec<String> = (0..40).map(|trace| request(&[span(trace, 0), span(trace, 1)])).collect();
    let mut mixed: Vec<String> = (0..40).rev().map(|trace| request(&[span(trace, 1)])).collect();
    mixed.extend((0..40).map(|trace| request(&[span(trace, 0)])));
    let runs = |lines: &[String]| {
        let input = Input::streamed("traces.jsonl", Box::new(lines.join("\n").into_bytes())).expect("JSON lines");
        let imported = import(&[input], None, &NoFolder, &Options::default()).expect("traces");
        assert_eq!(imported.summary, "80 spans, 40 runs");
        imported.files[0].text().expect("rows")
    };
    assert_eq!(runs(&in_order), runs(&mixed));
}

/// A list that is longer than what is looked at first is read to its end.
#[test]
fn a_long_document_is_read_to_its_end() {
    let resources: Vec<String> = (0..3000).map(|trace| resource(&[span(trace, 0)])).collect();
    let document = format!(r#"{{"resourceSpans": [{}], "end": true}}"#, resources.join(", "));
    assert!(document.len() > 1 << 20);
    let input = Input::streamed("traces.json", Box::new(document.clone().into_bytes())).expect("a document");
    let imported = import(&[input], None, &NoFolder, &Options::default()).expect("traces");
    assert_eq!(imported.summary, "3000 spans, 3000 runs");
    let cut = document[..document.len() / 2].to_owned().into_bytes();
    let cut = Input::streamed("traces.json", Box::new(cut));
    assert!(cut.and_then(|it| import(&[it], None, &NoFolder, &Options::default())).is_err());
}

/// What is said of a document that is read piece by piece.
fn streamed(document: Vec<u8>) -> String {
    let input = Input::streamed("traces.json", Box::new(document));
    let imported = input.and_then(|it| import(&[it], None, &NoFolder, &Options::default()));
    imported.map_or_else(|error| error.to_string(), |it| it.summary)
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_large_file() {
    let marked = |text: &str| [b"\xef\xbb\xbf", text.as_bytes()].concat();
    let document = format!(r#"{{"resourceSpans": [{}]}}"#, resource(&[span(1, 0)]));
    assert_eq!(streamed(marked(&document)), "1 span, 1 run");
    assert_eq!(streamed(packed(&marked(&document))), "1 span, 1 run");
    let lines = [request(&[span(1, 0)]), request(&[span(2, 0)])].join("\n");
    assert_eq!(streamed(marked(&lines)), "2 spans, 2 runs");
}

/// Where the list that was seen is not the one that would be read, nothing is imported in silence.
#[test]
fn a_key_that_stands_twice_in_a_large_document_is_an_error() {
    let resource = resource(&[span(1, 0)]);
    let expected = "`traces.json` cannot be read: element 0 of `resourceSpans`: a key of `resourceSpans` stands in its object twice or is written with escapes";
    assert_eq!(streamed(format!(r#"{{"resourceSpans": 1, "resourceSpans": [{resource}]}}"#).into_bytes()), expected);
    let twice = format!(r#"{{"resourceSpans": [{resource}], "resourceSpans": [{resource}]}}"#);
    assert_eq!(streamed(twice.into_bytes()), expected.replace("element 0", "element 1"));
}
