//! A disk that becomes full in the middle of a run: what was paid for and written is not asked for again.

use jurat_format::value::{Val, parse_json};
use jurat_testkit::{Endpoint, Reply, Script};

use crate::command::{Ended, Folder, ended};

const N_ROWS: u64 = 96;

/// A suite of which each row asks for a response that takes some room.
fn suite(url: &str) -> Folder {
    let suite = format!(
        "suite: room\nrecords: rows.jsonl\n\
         models: {{ judge: {{ model: openai/small, base_url: '{url}', api_key_env: JUDGE_KEY }} }}\n\
         tasks:\n  - {{ id: tone, judge: {{ prompt: 'Rate ${{n}}' }}, operator: contains, expected_value: fine }}\n"
    );
    let rows: String = (0..N_ROWS).map(|n| format!("{{\"id\": \"r{n}\", \"n\": {n}}}\n")).collect();
    Folder::with("suite.yaml", suite).and("rows.jsonl", rows)
}

/// Text that cannot be compressed much.
fn noise() -> String {
    let mut state = 88_172_645_463_325_252_u64;
    let mut letter = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b'0' + (state % 75) as u8)
    };
    (0..16_000).map(|_| letter()).collect()
}

/// Runs the suite where no file may become larger than this.
fn run_within(folder: &Folder, kib: u64) -> Ended {
    let jurat = folder.command();
    let mut shell = std::process::Command::new("bash");
    // Where the signal is ignored, writing fails as it does on a full disk.
    shell.args(["-c", &format!("trap '' XFSZ; ulimit -f {kib}; exec \"$0\" \"$@\"")]).arg(jurat.get_program());
    shell.args(["run", "suite.yaml", "-q", "-j", "16"]).env("JUDGE_KEY", "k").current_dir(folder.path());
    ended(&mut shell)
}

#[test]
fn what_was_written_before_the_disk_was_full_is_not_asked_for_again() {
    let text = noise();
    let endpoint =
        Endpoint::start(Script::answering(move |request| Reply::text(format!("fine {} {text}", request.digest()))));
    let folder = suite(&endpoint.url());
    let failed = run_within(&folder, 700);
    assert_eq!(failed.code, Some(2), "{failed:?}");
    assert!(failed.stderr.contains("disk I/O error"), "it says why: {failed:?}");
    let (n_asked, n_written) = (endpoint.stats().requests, n_written(&folder));
    assert!(n_written > 0 && n_written < N_ROWS, "{n_written} responses were written");

    let resumed = ended(folder.command().args(["run", "suite.yaml", "-q", "--json"]).env("JUDGE_KEY", "k"));
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    assert!(resumed.stdout.contains("\"resumed\":true"), "{}", resumed.stdout);
    let n_more = endpoint.stats().requests - n_asked;
    assert!(n_more <= N_ROWS - n_written, "{n_asked} requests, {n_written} responses written, {n_more} more requests");
}

/// How many responses were stored before writing failed.
fn n_written(folder: &Folder) -> u64 {
    let journal = folder.jurat(&["journal", "--json"]).stdout;
    let answers = parse_json(&journal).expect("it is JSON").value.get("answers").and_then(Val::as_f64);
    answers.expect("it counts answers") as u64
}
