//! What is left of TypeScript, and what is refused.

use jurat_sandbox::{Isolation, Language, Refused};

use crate::pools::{POOL, results, shown, source};

/// A file of TypeScript whose function returns `true` when everything in it meant what it should.
#[test]
fn types_leave_no_trace() {
    let text = include_str!("../data/types.ts");
    let results = results(&POOL, source(Language::TypeScript, Isolation::Process, text), &[r#"{"output": "x"}"#]);
    assert_eq!(shown(&results[0]), r#"["ok",92]"#);
}

#[track_caller]
fn refused(text: &str, expected: &str) {
    let refused =
        jurat_sandbox::typescript::signature(text, "evaluate", Language::TypeScript).expect_err("it is refused");
    assert_eq!(refused.to_string(), expected);
}

#[test]
fn what_is_more_than_a_type_is_refused_by_line() {
    refused(
        "\nenum A { B }",
        "`enum` is more than a type and is not translated; use an object or a union of texts (line 2, column 1)",
    );
    refused(
        "\n\nexport namespace A { export const b = 1 }",
        "`namespace` is more than a type and is not translated; use an object (line 3, column 8)",
    );
    refused(
        "@x class A {}",
        "decorators are more than types and are not translated; call the function instead (line 1, column 1)",
    );
    refused(
        "class A {\n  constructor(private b: string) {}\n}",
        "parameter properties are more than types and are not translated; assign to `this` in the constructor (line 2, column 15)",
    );
    refused(
        "const a = <any>1;",
        "a type in front of a value is not supported; write `value as Type` (line 1, column 11)",
    );
    refused(
        "import { a } from 'b'",
        "modules cannot be imported: an evaluator is one file, and has only what the language has built in (line 1, column 1)",
    );
    refused(
        "await 1",
        "`await` stands outside of a function; make the entry function `async` and await there (line 1, column 1)",
    );
    refused(
        "export default () => 1",
        "what is exported by default has no name; give the function the name of the entry (line 1, column 1)",
    );
}

#[test]
fn a_source_without_the_function_says_what_it_has() {
    let text = "export function judge() {}\nconst rate = () => 1, limit = 3;\nclass A {}";
    let refused = jurat_sandbox::typescript::signature(text, "evaluate", Language::TypeScript).unwrap_err();
    assert_eq!(refused.to_string(), "there is no function `evaluate` on the top level");
    let Refused::NoFunction { functions, .. } = refused else { panic!("{refused:?}") };
    assert_eq!(functions, ["judge", "rate"]);
}

#[test]
fn a_source_as_deep_as_it_is_long_is_only_a_source() {
    let deep = [
        "!".repeat(120_000) + "1",
        "[".repeat(60_000) + &"]".repeat(60_000),
        "(".repeat(60_000) + "1" + &")".repeat(60_000),
        "a=>".repeat(40_000) + "1",
        "if(1)".repeat(20_000) + ";",
        "{".repeat(60_000) + &"}".repeat(60_000),
        "x=".repeat(60_000) + "1",
    ];
    for text in deep {
        let source = format!("function evaluate() {{}}\n{text}");
        jurat_sandbox::typescript::signature(&source, "evaluate", Language::TypeScript).unwrap();
    }
}

#[track_caller]
fn takes(text: &str, expected: &str) {
    let signature = jurat_sandbox::typescript::signature(text, "evaluate", Language::TypeScript).expect("it is read");
    let shown = signature.map(|it| {
        let parameter = |it: &jurat_sandbox::Parameter| {
            format!("{}{}@{}:{}", it.name, if it.is_required { "!" } else { "" }, it.line, it.column)
        };
        let parameters: Vec<String> = it.parameters.iter().map(parameter).collect();
        format!("{:?} {}{} line {}", it.passing, parameters.join(" "), if it.is_open { " .." } else { "" }, it.line)
    });
    assert_eq!(shown.as_deref().unwrap_or("unknown"), expected);
}

#[test]
fn what_a_function_takes_is_read_from_its_source() {
    takes(
        "function evaluate({ output, reference = 'x', ...rest }: { output: string }) {}",
        "Object output!@1:21 reference@1:29 .. line 1",
    );
    takes(
        "\nexport const evaluate = async ({ 'output': o }: { output: (a: string) => { b: ')' } }) => 1;",
        "Object output!@2:34 line 2",
    );
    takes(
        "const evaluate = (function (output: string, reference?: string, é = 1) {}) as any",
        "Positions output!@1:29 reference@1:45 é@1:65 line 1",
    );
    takes("function evaluate(): string;\nfunction evaluate(a?: number) { return '' }", "Positions a@2:19 line 2");
    takes(
        "interface A { a: string; b?: string; c: string | undefined; d: string | null }\nfunction evaluate({ a, b, c, d, e }: A) {}",
        "Object a!@2:21 b@2:24 c@2:27 d!@2:30 e!@2:33 line 2",
    );
    takes("type A = { b?: string };\nexport const evaluate = ({ b }: A) => 1", "Object b@2:28 line 2");
    takes("const evaluate = make(1)", "unknown");
    takes("const { evaluate } = { evaluate() {} }", "unknown");
}
