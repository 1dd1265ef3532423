//! Files that are written to do harm, or by a program that went wrong: each ends in a clear problem or in a result, with
//! bounded work and memory.
//!
//! The bounds are processor time and address space, not the clock, and generous: the worst of these takes a tenth of them
//! in a debug build. What they catch is work that grows faster than the file.

use std::fmt::Write;
use std::process::Command;

use crate::command::{Ended, Folder, ended};

const MOST_SECONDS_OF_WORK: u32 = 120;
const MOST_KIB_OF_MEMORY: u32 = 2_000_000;

/// The start of suites that are about their tasks.
const HEAD: &str = "suite: support\nrecords: [{ answer: Paid. }]\ntasks:\n";

/// Checks a suite under limits.
fn checked(folder: &Folder, suite: &str) -> Ended {
    worked(folder, &["check", suite], MOST_SECONDS_OF_WORK)
}

/// Gives the command some work under limits.
fn worked(folder: &Folder, words: &[&str], most_seconds: u32) -> Ended {
    let jurat = folder.command();
    let mut limited = if cfg!(target_os = "linux") {
        let limits = format!("ulimit -t {most_seconds}; ulimit -v {MOST_KIB_OF_MEMORY}; exec \"$0\" \"$@\"");
        let mut shell = Command::new("sh");
        shell.current_dir(folder.path()).args(["-c", &limits]).arg(jurat.get_program());
        shell
    } else {
        jurat
    };
    ended(limited.args(words))
}

/// Checks that a suite is refused, and how.
#[track_caller]
fn refused(content: impl AsRef<[u8]>, name: &str, message: &str) {
    let Ended { code, stderr, .. } = checked(&Folder::with(name, content), name);
    assert!(code == Some(2) && stderr.contains(message), "{code:?}, not `{message}`:\n{}", start(&stderr));
}

/// Checks that nothing is wrong with a suite.
#[track_caller]
fn accepted(content: &str) {
    let Ended { code, stdout, stderr } = checked(&Folder::with("suite.yaml", content), "suite.yaml");
    assert!(code == Some(0) && stdout.contains("ready to run"), "{code:?}:\n{}", start(&stderr));
}

fn start(text: &str) -> &str {
    &text[..text.floor_char_boundary(2000)]
}

/// A text of many parts.
fn repeated(n: usize, part: impl Fn(usize) -> String) -> String {
    (0..n).fold(String::new(), |mut text, ix| {
        text.write_str(&part(ix)).expect("text has room");
        text
    })
}

#[test]
fn aliases_of_aliases() {
    let first = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    let others = repeated(40, |n| format!("a{}: &a{} [{}]\n", n + 1, n + 1, vec![format!("*a{n}"); 10].join(", ")));
    refused(first + &others, "suite.yaml", "more than 1000000 values, including those that aliases repeat");
}

#[test]
fn anchors_inside_anchors() {
    let text = repeated(120, |n| format!("&a{n} [")) + &"x, ".repeat(300_000) + &"]".repeat(120);
    refused(text, "suite.yaml", "more than 1000000 values, including those that aliases repeat");
}

#[test]
fn questions_without_end() {
    let roles = repeated(20_000, |n| format!("  r{n}: openai/m{n}\n"));
    let prompts = repeated(20_000, |n| format!("    p{n}: \"${{question}} {n}\"\n"));
    let suite = |model: fn(usize) -> String| {
        let models = repeated(20_000, |n| format!("{}, ", model(n)));
        format!(
            "suite: support\nmodels:\n{roles}records: [{{ question: Why? }}]\nask:\n  model: [{models}]\n  prompts:\n{prompts}\
             tasks: [{{ id: said, field_path: output, operator: is_string }}]\n"
        )
    };
    accepted(&suite(|n| format!("r{n}")));
    refused(suite(|n| format!("s{n}")), "suite.yaml", "there is no model role `s0`");
    refused(suite(|_| "r7".to_owned()), "suite.yaml", "`openai/m7` is asked twice");
}

#[test]
fn selections_without_end() {
    let ids = repeated(20_000, |n| format!("i{n}, "));
    let first = format!("  - {{ id: first, on: [{ids}], field_path: answer, operator: is_string }}\n");
    let others = |on: &str| {
        repeated(5_000, |n| {
            format!("  - {{ id: t{n}, {on}depends_on: [first], field_path: answer, operator: is_string }}\n")
        })
    };
    accepted(&format!("{HEAD}{first}{}", others("on: [i1, i2], ")));
    refused(format!("{HEAD}{first}{}", others("")), "suite.yaml", "which need not apply to all of its cases");
}

#[test]
fn deep_nesting() {
    refused("[".repeat(100_000), "suite.yaml", "nested more than 128 deep");
    refused("{a: ".repeat(100_000), "suite.yaml", "nested more than 128 deep");
    refused(repeated(3000, |n| format!("{}a:\n", " ".repeat(n))), "suite.yaml", "nested more than 128 deep");
    refused("[".repeat(100_000) + &"]".repeat(100_000), "suite.json", "nested more than 128 deep");
    refused("{\"a\": ".repeat(100_000) + "1" + &"}".repeat(100_000), "suite.json", "nested more than 128 deep");
}

#[test]
fn json_that_is_deep_and_wide() {
    let text = "{\"a\":".repeat(120) + "[" + &"1,".repeat(3_000_000) + "1]" + &"}".repeat(120);
    refused(text, "suite.json", "more than 1000000 values");
}

#[test]
fn one_huge_scalar() {
    let text = "x".repeat(6 << 20);
    accepted(&format!("{HEAD}- {{ id: same, field_path: answer, operator: equals, expected_value: '{text}' }}\n"));
    refused(format!("suite: support\n{text}: 1\n"), "suite.yaml", "a key stands on one line");
}

#[test]
fn files_that_include_each_other() {
    let folder = Folder::with("suite.yaml", "include: [a.yaml]\n")
        .and("a.yaml", "include: [./b.yaml]\n")
        .and("b.yaml", "include: [x/../suite.yaml]\n");
    let Ended { code, stderr, .. } = checked(&folder, "suite.yaml");
    let circle = "files include each other: `suite.yaml` → `a.yaml` → `b.yaml` → `suite.yaml`";
    assert!(code == Some(2) && stderr.contains(circle), "{stderr}");
}

#[test]
fn many_files() {
    let names: Vec<String> = (0..400).map(|n| format!("f{n}.yaml")).collect();
    let folder = Folder::with("suite.yaml", format!("include: [{}]\n", names.join(", ")));
    let folder = names.iter().fold(folder, |folder, name| folder.and(name, "suite: part\n"));
    let Ended { code, stderr, .. } = checked(&folder, "suite.yaml");
    assert!(code == Some(2) && stderr.contains("a definition of more than 256 files"), "{}", start(&stderr));
}

#[test]
fn bytes_that_are_no_text() {
    refused(b"suite: support\ndescription: caf\xe9\n", "suite.yaml", "is not UTF-8 text: line 2");
    refused([0xff, 0xfe, b's', 0, b'u', 0], "suite.yaml", "is not UTF-8 text: line 1");
    refused([0; 100], "suite.yaml", "cannot be read");
}

#[test]
fn a_file_of_a_hundred_megabytes() {
    let folder = Folder::empty().and_sparse("suite.yaml", 100_000_000);
    let Ended { code, stderr, .. } = checked(&folder, "suite.yaml");
    assert!(code == Some(2) && stderr.contains("`suite.yaml` has 100000000 bytes"), "{stderr}");
}

#[test]
fn seven_mebibytes_of_small_tasks() {
    let text = repeated(130_000, |n| format!("- {{ id: t{n}, field_path: answer, operator: is_string }}\n"));
    assert!(text.len() > 7 << 20);
    accepted(&format!("{HEAD}{text}"));
}

/// What each task costs does not depend on how many there are. Were all of them looked through for each, this would take twice the time.
#[test]
fn a_run_of_many_tasks() {
    let text = repeated(60_000, |n| format!("- {{ id: t{n}, field_path: answer, operator: is_string }}\n"));
    let folder = Folder::with("suite.yaml", format!("{HEAD}{text}"));
    let Ended { code, stdout, stderr } = worked(&folder, &["run", "suite.yaml", "--json"], 30);
    assert!(code == Some(0), "{code:?}: {}{}", start(&stdout), start(&stderr));
}

#[test]
fn many_nodes() {
    let nodes = repeated(60_000, |n| format!("      n{n}: {{ question: Why? }}\n"));
    let edges = repeated(59_999, |n| format!("      - n{n} -> n{}\n", n + 1));
    accepted(&format!(
        "suite: quiz\nmodels: {{ subject: openai/gpt-5-mini }}\nscenarios:\n  s:\n    entry: n0\n    nodes:\n{nodes}    edges:\n{edges}    \
         outcomes: {{ held: {{ status_is: completed }} }}\n"
    ));
}

#[test]
fn ten_thousand_gates_in_a_row() {
    let text = repeated(10_000, |n| {
        let before = n.checked_sub(1).map_or(String::new(), |it| format!("t{it}"));
        format!(
            "- {{ id: t{n}, depends_on: [{before}], field_path: answer, operator: is_not_empty, required: true }}\n"
        )
    });
    accepted(&format!("{HEAD}{text}"));
}

#[test]
fn ten_thousand_tasks_in_a_circle() {
    let text = repeated(10_000, |n| {
        let next = (n + 1) % 10_000;
        format!("- {{ id: t{n}, depends_on: [t{next}, t0], field_path: answer, operator: is_not_empty }}\n")
    });
    refused(format!("{HEAD}{text}"), "suite.yaml", "→ 9980 more → `t0`");
}

#[test]
fn many_gates_before_many_tasks() {
    let gates = repeated(2000, |n| {
        format!("- {{ id: g{n}, field_path: answer, operator: not_equal, expected_value: v{n}, condition: true }}\n")
    });
    let all = repeated(2000, |n| format!("g{n}, "));
    let tasks =
        repeated(20, |n| format!("- {{ id: t{n}, depends_on: [{all}], field_path: answer, operator: is_string }}\n"));
    accepted(&format!("{HEAD}{gates}{tasks}"));
}

#[test]
fn objects_of_many_keys() {
    let members = repeated(200_000, |n| format!("k{n}: x, "));
    let task = "tasks: [{ id: first, field_path: k1, operator: is_string }]";
    accepted(&format!("suite: support\nrecords:\n- {{ {members} }}\n{task}\n"));
    let keys = repeated(200_000, |n| format!("k{n}: 1\n"));
    refused(format!("suite: support\n{keys}"), "suite.yaml", "a suite has no key `k0`");
}

#[test]
fn nothing_but_slips() {
    let text = repeated(40_000, |n| {
        format!("- {{ id: t{n}, depends_on: [u{n}], field_path: anwser{n}, operater: is_empty, dimensions: [d{n}] }}\n")
    });
    refused(format!("{HEAD}{text}"), "suite.yaml", "a task has no key `operater`");
    let text = repeated(40_000, |n| {
        format!("- {{ id: t{n}, depends_on: [u{n}], field_path: anwser{n}, operator: is_empty, dimensions: [d{n}] }}\n")
    });
    refused(format!("{HEAD}{text}"), "suite.yaml", "there is no task `u0`");
}

#[test]
fn prompts_of_many_placeholders() {
    let judged = |prompt: &str| {
        let models = "models: { judge: openai/gpt-5-mini }\n";
        format!(
            "{models}{HEAD}- {{ id: polite, judge: {{ prompt: {prompt} }}, operator: equals, expected_value: yes }}\n"
        )
    };
    accepted(&judged(&format!("'{}'", "${answer}".repeat(400_000))));
    accepted(&judged(&format!("\"{}\"", "\\x24{answer}".repeat(200_000))));
    accepted(&judged(&format!("'${{answer}}{}'", "${ x }".repeat(400_000))));
    accepted(&judged(&format!("'${{answer}}{}}}'", "${ ".repeat(1_000_000))));
}

#[test]
fn a_schema_that_refers_to_itself() {
    let fields = repeated(20, |n| format!("f{n}: {{ $ref: '#' }}, "));
    let judge = "- id: tree\n  judge:\n    model: openai/gpt-5-mini\n    prompt: '${answer}'\n";
    let schema = format!("    output: {{ type: object, properties: {{ {fields} }} }}\n");
    let compared = "  field_path: f1.f2.f3\n  operator: exists\n";
    accepted(&format!("{HEAD}{judge}{schema}{compared}"));
}

/// A scenario of two nodes with these edges and what the first node does.
fn scenario(edges: &str, ask: &str) -> String {
    format!(
        "suite: quiz\nmodels: {{ subject: openai/gpt-5-mini, parser: openai/gpt-5-mini }}\nscenarios:\n  s:\n    entry: ask\n    nodes:\n      \
         ask: {{ question: Why?, raw_answer: So{ask} }}\n      doubt: {{ question: Sure?, raw_answer: So }}\n    edges:\n{edges}      \
         - ask -> __end__\n      - doubt -> __end__\n    outcomes: {{ held: {{ all_turns: {{ verify_result: true }} }} }}\n"
    )
}

#[test]
fn edges_without_end() {
    let edges =
        repeated(60_000, |n| format!("      - {{ from: ask, to: doubt, when: {{ accumulated.k{n}: {n} }} }}\n"));
    let Ended { code, stderr, .. } = checked(&Folder::with("suite.yaml", scenario(&edges, "")), "suite.yaml");
    assert_eq!(code, Some(0), "{}", start(&stderr));
    assert!(stderr.matches("no node sets").count() <= 100, "{}", start(&stderr));
    let checks = repeated(20_000, |n| format!("{{ turn: {{ gt: {n} }} }}, "));
    accepted(&scenario(&format!("      - {{ from: ask, to: doubt, when: [{checks}] }}\n"), ""));
    let all = repeated(300, |n| format!("{{ any: [{{ turn: {n} }}, {{ turn: {{ lt: {n} }} }}] }}, "));
    accepted(&scenario(&format!("      - {{ from: ask, to: doubt, when: [{all}] }}\n"), ""));
}

#[test]
fn expressions_without_end() {
    let edge = "      - { from: ask, to: doubt, when: { turn: 1 } }\n";
    let update = |cel: &str| scenario(edge, &format!(", state_update: {{ cel: \"{cel}\" }}"));
    for cel in [
        format!("{{'x': {} > 0}}", vec!["1"; 50_000].join("+")),
        format!("{{'x': state{}}}", ".b".repeat(30_000)),
        format!("{{'x': state{}}}", "[0]".repeat(30_000)),
        format!("{{'x': {}1{}}}", "(".repeat(30_000), ")".repeat(30_000)),
        vec!["1"; 5_000].join("+"),
        "(".repeat(9_000),
    ] {
        refused(update(&cel), "suite.yaml", "suite::bad_expression");
    }
    // Short, and it would run for days: it is stopped when it is evaluated.
    accepted(&update(&format!("{{'x': {}1{}}}", "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(x, ".repeat(8), ")".repeat(8))));
    let edges = repeated(2_000, |n| format!("      - {{ from: ask, to: doubt, when: {{ cel: 'turn == {n}' }} }}\n"));
    accepted(&scenario(&edges, ""));
}

#[test]
fn names_without_end() {
    let name = "n".repeat(1 << 20);
    for (suite, message) in [
        (
            format!("{HEAD}- {{ id: t, depends_on: [{name}], field_path: answer, operator: is_string }}\n"),
            "there is no task",
        ),
        (format!("{HEAD}- {{ id: t, field_path: answer, operator: {name} }}\n"), "there is no operator"),
        (format!("{HEAD}- {{ id: t, evaluate: {name} }}\n"), "there is no evaluator"),
        (
            format!("models: {{ judge: {name} }}\n{HEAD}- {{ id: t, field_path: answer, operator: is_string }}\n"),
            "must be `provider/model`",
        ),
        (format!("{HEAD}- {{ id: t, field_path: answer, operator: is_string, when: {name} }}\n"), "has no key"),
    ] {
        let Ended { code, stderr, .. } = checked(&Folder::with("suite.yaml", suite), "suite.yaml");
        assert!(code == Some(2) && stderr.contains(message), "{code:?}:\n{}", start(&stderr));
        assert!(stderr.len() < 20_000, "{} bytes about {message}", stderr.len());
    }
}

#[test]
fn patterns_without_end() {
    let task = |pattern: &str| {
        format!("{HEAD}- {{ id: t, field_path: answer, operator: matches, expected_value: '{pattern}' }}\n")
    };
    refused(task("((a{1000}){1000}){1000}"), "suite.yaml", "suite::bad_pattern");
    refused(task(&"(".repeat(100_000)), "suite.yaml", "suite::bad_pattern");
    let nested = "(".repeat(20_000) + "a" + &")".repeat(20_000);
    refused(task(&nested), "suite.yaml", "suite::bad_pattern");
    refused(task(&format!("{}a", "a?".repeat(200_000))), "suite.yaml", "suite::bad_pattern");
}

#[test]
fn a_line_without_end() {
    let line = "x ".repeat(2_000_000);
    refused(
        format!("suite: support\nrecords: [{{ answer: '{line}' }}]\ntasks: [{{ id: t, operater: is_string }}]\n"),
        "suite.yaml",
        "operater",
    );
    let Ended { stderr, .. } = checked(
        &Folder::with(
            "suite.yaml",
            format!("suite: support\nrecords: [{{ a: '{line}' }}, {{ a: }} ]\ntasks: [{{ id: t, fild: '{line}' }}]"),
        ),
        "suite.yaml",
    );
    assert!(stderr.len() < 20_000, "{} bytes", stderr.len());
}
