//! Calls, and what comes of them.

use std::time::Duration;

use jurat_sandbox::{Arguments, CodeRunner as _, Isolation, Language};

use crate::pools::{POOL, call, pool, results, shown, source};

/// Calls a function once in a process of its own kind and once in a copy; both must say the same.
#[track_caller]
fn returns(language: Language, text: &str, arguments: &str, expected: &str) {
    for isolation in [Isolation::Process, Isolation::Fork] {
        let results = results(&POOL, source(language, isolation, text), &[arguments]);
        assert_eq!(shown(&results[0]), expected, "{isolation:?}");
    }
}

#[track_caller]
fn python(body: &str, expected: &str) {
    returns(Language::Python, &format!("def evaluate(output=None):\n    {body}\n"), "{}", expected);
}

#[track_caller]
fn typescript(body: &str, expected: &str) {
    returns(
        Language::TypeScript,
        &format!("function evaluate({{ output }}: any): unknown {{\n    {body}\n}}\n"),
        "{}",
        expected,
    );
}

#[track_caller]
fn refused(language: Language, text: &str, expected: &str) {
    let refused = POOL.prepare(source(language, Isolation::Process, text)).wait().expect_err("it is refused");
    assert_eq!(refused.to_string(), expected);
}

#[test]
fn arguments_arrive_by_name() {
    let (both, said) =
        (r#"{"reference": "é", "output": [1, 2.5, null, {"a": true}]}"#, r#"[[1,2.5,null,{"a":true}],"\u00e9"]"#);
    let plain = said.replace("\\u00e9", "é");
    returns(Language::Python, "def evaluate(output, *, reference='x'):\n    return [output, reference]\n", both, said);
    returns(
        Language::TypeScript,
        "const evaluate = ({ output, reference }: any) => [output, reference];",
        both,
        &plain,
    );
    returns(
        Language::TypeScript,
        "export function evaluate(output: any, reference?: string) { return [output, reference] }",
        both,
        &plain,
    );
    returns(
        Language::JavaScript,
        "export default async function evaluate(output, reference) { return [output, await reference] }",
        both,
        &plain,
    );
}

#[test]
fn what_json_loses_is_tagged() {
    python(
        "return float('nan'), float('inf'), -float('inf'), 1, 1.0, 1e16, True",
        r#"{"$py":"tuple","items":[{"$py":"nan"},{"$py":"inf"},{"$py":"-inf"},1,1.0,1e+16,true]}"#,
    );
    python(
        "return [2**63 - 1, -2**63, 2**63, 10**5000 % 7]",
        r#"[9223372036854775807,-9223372036854775808,{"$py":"int","value":"9223372036854775808"},2]"#,
    );
    python(
        "return {3}, b'\\xff\\x00', 1+2j",
        r#"{"$py":"tuple","items":[{"$py":"set","items":[3]},{"$py":"bytes","latin1":"\u00ff\u0000"},{"$py":"complex","re":1.0,"im":2.0}]}"#,
    );
    python(
        "return {1: 'a', '$py': 2}, {'$js': 1}",
        r#"{"$py":"tuple","items":[{"$py":"dict","items":[[1,"a"],["$py",2]]},{"$py":"dict","items":[["$js",1]]}]}"#,
    );
    python(
        "from decimal import Decimal; return Decimal('1.50')",
        r#"{"$py":"object","type":"Decimal","repr":"Decimal('1.50')"}"#,
    );
    python("from enum import IntEnum; return IntEnum('E', 'A B').B", "2");
    python(
        "from collections import OrderedDict, namedtuple; return OrderedDict(a=namedtuple('P', 'x')(1))",
        r#"{"a":{"$py":"tuple","items":[1]}}"#,
    );
    typescript(
        "return [undefined, null, NaN, Infinity, -Infinity, -0, 0, 2.0, 2.5, 1e21, 1e20, () => 1, Symbol('x')]",
        r#"[{"$js":"undefined"},null,{"$js":"nan"},{"$js":"inf"},{"$js":"-inf"},{"$js":"-0"},0,2,2.5,1e21,100000000000000000000,{"$js":"function"},{"$js":"symbol"}]"#,
    );
    typescript(
        "return [12345678901234567890n, new Date(0), new Map([[1, 2]]), { $js: 1 }, { a: undefined }]",
        r#"[{"$js":"bigint","value":"12345678901234567890"},"1970-01-01T00:00:00.000Z",{},{"$py":"dict","items":[["$js",1]]},{"a":{"$js":"undefined"}}]"#,
    );
    typescript("", r#"{"$js":"undefined"}"#);
    python("return ['a\\ud800']", r#"[{"$py":"object","type":"str","repr":"'a\\ud800'"}]"#);
    python("return {'\\ud800': 1}", r#"{"$py":"dict","items":[[{"$py":"object","type":"str","repr":"'\\ud800'"},1]]}"#);
    typescript("return '😀'.slice(0, 1) + 'a'", "\"\u{fffd}a\"");
}

#[test]
fn a_value_that_cannot_be_stored_is_an_error() {
    python(
        "x = []; x.append(x); return x",
        "error: the returned value cannot be stored: it is nested deeper than 64 levels",
    );
    typescript(
        "const x: any = {}; x.x = x; return x",
        "error: the returned value cannot be stored: it is nested deeper than 64 levels",
    );
    typescript(
        "const x = { toJSON() { return x } }; return x",
        "error: the returned value cannot be stored: it is nested deeper than 64 levels",
    );
    python(
        "return 'x' * (1 << 20)",
        "error: the returned value cannot be stored: it has 1048578 bytes, more than 1048576",
    );
    typescript(
        "return 'x'.repeat(1 << 20)",
        "error: the returned value cannot be stored: it has more than 1048576 bytes",
    );
}

#[test]
fn printed_text_is_separate_from_the_result() {
    python("import sys; print('é', 1); print('b', file=sys.stderr); return 1", r#"1 stdout "é 1\n" stderr "b\n""#);
    typescript(
        "console.log('a', 1, { b: [2n] }, undefined); console.error('b'); return 1",
        r#"1 stdout "a 1 {\"b\":[\"2n\"]} undefined\n" stderr "b\n""#,
    );
    python("import os; os.write(1, b'below'); return 1", r#"1 stderr "below""#);
}

#[test]
fn errors_name_the_line_of_the_author() {
    python("\n    raise ValueError('no')", "error: ValueError: no (line 3)");
    python(
        "\n    import json\n    json.loads('{')",
        "error: JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1) (line 4)",
    );
    python("raise SystemExit(3)", "error: SystemExit: 3 (line 2)");
    python("return nothing", "error: NameError: name 'nothing' is not defined (line 2)");
    typescript("\n    throw new RangeError('no')", "error: RangeError: no (line 3)");
    typescript(
        "\n    const x: any = null;\n    return x.y",
        "error: TypeError: cannot read property 'y' of null (line 4)",
    );
    typescript("throw 'words'", "error: thrown: words");
    typescript("throw { toString() { throw 1 } }", "error: thrown");
    returns(Language::Python, "def other(): pass\n", "{}", "error: NameError: there is no function `evaluate`");
    returns(
        Language::TypeScript,
        "const evaluate: any = 3",
        "{}",
        "error: ReferenceError: there is no function `evaluate`",
    );
}

#[test]
fn asynchronous_functions_are_awaited() {
    returns(
        Language::Python,
        "import asyncio\nasync def evaluate():\n    await asyncio.sleep(0)\n    return 7\n",
        "{}",
        "7",
    );
    typescript("return Promise.resolve().then(() => 7)", "7");
    typescript("return new Promise((_, reject) => reject(new Error('no')))", "error: Error: no (line 2)");
    typescript(
        "return new Promise(() => {})",
        "error: Error: the promise is never settled: no pending task could settle it",
    );
}

#[test]
fn a_source_that_is_wrong_is_refused_with_its_place() {
    refused(
        Language::Python,
        "def evaluate(a):\n    return (\n",
        "SyntaxError: '(' was never closed (line 2, column 12)",
    );
    refused(
        Language::TypeScript,
        "function evaluate() {\n  return )\n}",
        "SyntaxError: Unexpected token (line 2, column 10)",
    );
    refused(Language::TypeScript, "function other() {}", "there is no function `evaluate` on the top level");
}

#[test]
fn a_call_that_ends_its_process_is_an_error_of_its_own() {
    let text = "import os\ndef evaluate(n):\n    if n == 1: os._exit(3)\n    if n == 3: os.abort()\n    return n\n";
    for isolation in [Isolation::Process, Isolation::Fork] {
        let calls: Vec<String> = (0..5).map(|it| format!(r#"{{"n": {it}}}"#)).collect();
        let calls: Vec<&str> = calls.iter().map(String::as_str).collect();
        let results: Vec<String> =
            results(&POOL, source(Language::Python, isolation, text), &calls).iter().map(shown).collect();
        assert_eq!([&*results[0], &*results[2], &*results[4]], ["0", "2", "4"], "{isolation:?}");
        assert!(results[1].contains("status 3"), "{}", results[1]);
        assert!(results[3].starts_with("error: its process ended"), "{}", results[3]);
    }
}

#[test]
fn a_call_that_takes_too_long_is_stopped_and_the_others_are_made() {
    let python = "def evaluate(n):\n    while n: pass\n    return 'done'\n";
    let typescript = "function evaluate({ n }: any) { while (n); return 'done' }";
    for (language, text) in [(Language::Python, python), (Language::TypeScript, typescript)] {
        for isolation in [Isolation::Process, Isolation::Fork] {
            let mut source = source(language, isolation, text);
            source.limits.deadline = Duration::from_secs(4);
            let results: Vec<String> =
                results(&POOL, source, &[r#"{"n": 0}"#, r#"{"n": 1}"#, r#"{"n": 0}"#]).iter().map(shown).collect();
            assert_eq!(results, [r#""done""#, "error: took longer than 4 s and was stopped", r#""done""#]);
        }
    }
}

#[test]
fn memory_can_be_limited_to_little() {
    let mut source =
        source(Language::Python, Isolation::Process, "def evaluate(n):\n    return len(bytearray(n << 20))\n");
    source.limits.memory = 64 << 20;
    let results: Vec<String> = results(&POOL, source, &[r#"{"n": 1}"#, r#"{"n": 64}"#]).iter().map(shown).collect();
    assert_eq!(results, ["1048576", "error: MemoryError (line 2)"]);
}

#[test]
fn a_call_whose_caller_is_gone_is_aborted() {
    // Not the pool that other tests use.
    let pool = pool(&[]);
    let mut endless = source(Language::Python, Isolation::Process, "def evaluate():\n    while True: pass\n");
    endless.limits.deadline = Duration::from_secs(600);
    let prepared = pool.prepare(endless).wait().unwrap();
    // Were these not given up, both workers of the pool would be busy for ten minutes and more.
    for _ in 0..4 {
        drop(pool.call(&prepared, vec![Arguments::from_json("{}").unwrap()]));
    }
    let begun = std::time::Instant::now();
    let other = source(Language::Python, Isolation::Process, "def evaluate():\n    return 1\n");
    assert_eq!(shown(&results(&pool, other, &["{}"])[0]), "1");
    assert!(begun.elapsed() < Duration::from_secs(300));
}

/// Calls that many ask for at once share messages, which cannot be noticed: each has its own results, also when one of them ends the process.
#[test]
fn each_caller_gets_its_own_results() {
    let text = "def evaluate(n):\n    if n == 37:\n        import os\n        os._exit(3)\n    return n\n";
    let prepared = POOL.prepare(source(Language::Python, Isolation::Process, text)).wait().expect("it is fine");
    let asked = |n: u32| {
        let arguments = Arguments::from_json(format!(r#"{{"n": {n}}}"#)).expect("an object");
        POOL.call(&prepared, vec![arguments; (n % 3) as usize])
    };
    let pending: Vec<_> = (0..200).map(asked).collect();
    for (n, pending) in (0..200).zip(pending) {
        let shown: Vec<String> = pending.wait().iter().map(shown).collect();
        let expected = if n == 37 {
            "error: its process ended before it returned: it exited with status 3".to_owned()
        } else {
            n.to_string()
        };
        assert_eq!(shown, vec![expected; n % 3]);
    }
}

/// A program that finds the channel of its process, and says something there by itself.
const TAMPERING: &str = r#"
import os
import sys


def replies():
    frame = sys._getframe()
    while "replies" not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals["replies"]


def answer(call, text):
    body = b"V" + call.to_bytes(8, "little") + bytes(32) + text
    return len(body).to_bytes(4, "little") + body


def evaluate(what):
    if what == "too many":
        os.write(replies(), answer(1, b'"forged"'))
    if what == "endless":
        os.write(replies(), b"\xff\xff\xff\x7fV")
    return "honest"
"#;

/// An answer to a call that was not made yet is discarded, and a message of a length that none has ends the process.
#[test]
fn a_process_that_sends_unrequested_answers_is_stopped() {
    let prepared = POOL.prepare(source(Language::Python, Isolation::Process, TAMPERING)).wait().expect("it is sound");
    let stopped =
        "error: its process answered something else than was asked (an answer to another call), and was stopped";
    assert_eq!(shown(&call(&POOL, &prepared, &[r#"{"what": "too many"}"#])[0]), stopped);
    assert_eq!(shown(&call(&POOL, &prepared, &[r#"{"what": "nothing"}"#])[0]), r#""honest""#);
    let results: Vec<String> =
        call(&POOL, &prepared, &[r#"{"what": "endless"}"#, r#"{"what": "nothing"}"#]).iter().map(shown).collect();
    let stopped =
        "error: its process answered something else than was asked (a message of 2147483647 bytes), and was stopped";
    assert_eq!(results, [stopped, r#""honest""#]);
}

#[test]
fn what_an_error_says_is_cut_to_what_people_read() {
    for (language, text) in [
        (Language::Python, "def evaluate():\n    raise ValueError('x' * (64 << 20))\n"),
        (Language::TypeScript, "export function evaluate() { throw new Error('x'.repeat(64 << 20)) }"),
    ] {
        let shown = shown(&results(&POOL, source(language, Isolation::Process, text), &["{}"])[0]);
        assert!(shown.starts_with("error: ") && shown.len() < 9000, "{} bytes", shown.len());
    }
}

/// Fails in a call that starts with this text, and the sandbox says what it has to do with it.
#[track_caller]
fn explained(language: Language, body: &str, expected: &str) {
    let text = match language {
        Language::Python => format!("def evaluate():\n    {body}\n"),
        _ => format!("function evaluate() {{ {body} }}"),
    };
    returns(language, &text, "{}", expected);
}

#[test]
fn what_the_sandbox_refuses_says_so_and_what_to_do() {
    use Language::{JavaScript, Python};
    explained(
        Python,
        "return open('words.txt').read()",
        "error: FileNotFoundError: [Errno 2] No such file or directory: 'words.txt'; the sandbox shows evaluators no files; pass the content as an \
         argument (`with: {words: {value: [...]}}`, or a column of the records), or put it into the source (line 2)",
    );
    explained(
        Python,
        "open('/etc/passwd')",
        "error: PermissionError: [Errno 13] Permission denied: '/etc/passwd'; the sandbox shows evaluators no files; pass the content as an argument \
         (`with: {words: {value: [...]}}`, or a column of the records), or put it into the source (line 2)",
    );
    explained(
        Python,
        "open('/tmp/x', 'w')",
        "error: PermissionError: [Errno 1] Operation not permitted: '/tmp/x'; the sandbox writes no files; return or print what is to be kept (line 2)",
    );
    explained(
        Python,
        "import no_such_module",
        "error: ModuleNotFoundError: No module named 'no_such_module'; the interpreter of this evaluator has no such module; name an environment that \
         has it (`python: path/to/venv`), and put code of your own into the source: files beside it cannot be imported (line 2)",
    );
    let no_network = "the sandbox has no network; let a `judge` or a model ask, or put what is needed into the records";
    explained(
        Python,
        "import socket; socket.create_connection(('127.0.0.1', 1))",
        &format!("error: PermissionError: [Errno 1] Operation not permitted; {no_network} (line 2)"),
    );
    explained(
        Python,
        "import urllib.request; urllib.request.urlopen('http://127.0.0.1:1/')",
        &format!("error: URLError: <urlopen error [Errno 1] Operation not permitted>; {no_network} (line 2)"),
    );
    explained(
        Python,
        "import subprocess; subprocess.run(['/bin/true'])",
        "error: PermissionError: [Errno 1] Operation not permitted; the sandbox starts no programs; use a library in Python, or an agent (line 2)",
    );
    explained(
        JavaScript,
        "return fetch('http://127.0.0.1/')",
        &format!("error: ReferenceError: fetch is not defined; {no_network} (line 1)"),
    );
    explained(
        JavaScript,
        "return require('fs')",
        "error: ReferenceError: require is not defined; the sandbox has no modules; put the code into the source, or write the evaluator in Python \
         with `python: path/to/venv` (line 1)",
    );
    explained(
        JavaScript,
        "return process.env",
        "error: ReferenceError: process is not defined; the sandbox has no files, no variables and no programs; pass what is needed as an argument \
         (`with`) (line 1)",
    );
    explained(
        JavaScript,
        "globalThis.zz = 1; return 1",
        "error: TypeError: object is not extensible; the sandbox freezes built-in objects and `globalThis`; declare a variable in the source: \
         `let name = …` (line 1)",
    );
    // What is the code's own fault is left as it is.
    explained(Python, "raise FileNotFoundError('mine')", "error: FileNotFoundError: mine (line 2)");
    explained(JavaScript, "return nonsense", "error: ReferenceError: nonsense is not defined (line 1)");
}

#[test]
fn names_of_classes_are_cut() {
    let long = format!("{}…", "N".repeat(200));
    explained(
        Language::Python,
        "raise type('N' * 900_000, (Exception,), {})('x')",
        &format!("error: {long}: x (line 2)"),
    );
    explained(
        Language::JavaScript,
        "throw Object.assign(new Error('x'), { name: 'N'.repeat(900_000) })",
        &format!("error: {long}: x (line 1)"),
    );
}

#[test]
fn lists_are_as_long_as_a_value_may_be() {
    explained(
        Language::JavaScript,
        "return new Array(2 ** 32 - 1)",
        "error: the returned value cannot be stored: it is a list of 4294967295 items, which are more than 1048576 bytes",
    );
}

/// Everything that calls share is unchangeable: what names lead to, and what expressions of the language lead to.
#[test]
fn everything_that_is_built_in_is_frozen() {
    let text = include_str!("../data/built-in.js");
    let results = results(&POOL, source(Language::JavaScript, Isolation::Process, text), &["{}"]);
    assert_eq!(shown(&results[0]), "[]");
}
