//! Evaluators that are code, as a user meets them.

use jurat_format::value::{Val, parse_json};

use crate::command::Folder;
use crate::stored::said;

const CHATTY: &str = "\
suite: chatty
records:
  - { id: a, output: Hello, reference: Hello }
  - { id: b, output: '', reference: Hello }
evaluators:
  python:
    source: |
      import sys
      def evaluate(output, reference):
          print('looks at \\x1b[31m' + output)
          print('careful', file=sys.stderr)
          if not output:
              raise ValueError('there is nothing to look at')
          return {'label': 'same', 'explanation': 'letter by letter'}
  script:
    language: typescript
    source: |
      export function evaluate({ output }: { output: string }): string {
        console.log('looks at', output.length, 'letters');
        console.error('careful');
        return 'fine';
      }
";

#[test]
fn output_of_code_is_shown_and_cannot_pose_as_ours() {
    let folder = Folder::with("suite.yaml", CHATTY);
    let ended = folder.jurat(&["run", "suite.yaml"]);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    let text = said(&folder, &["explain", "a", "python"]);
    assert!(text.contains("in the words of the evaluator\n│ letter by letter\n"), "{text}");
    let called = "\
what python was called with
output: `Hello`
reference: `Hello`

what came of it
called in this run, T
returned {\"label\": \"same\", \"explanation\": \"letter by letter\"}

what it printed
│ looks at ␛[31mHello

what it printed to standard error
│ careful
";
    assert!(text.contains(called), "{text}");
    let text = said(&folder, &["explain", "b", "python"]);
    assert!(text.contains("problem ValueError: there is nothing to look at (line 6)\n"), "{text}");
    assert!(text.contains("what it printed\n│ looks at ␛[31m\n"), "{text}");
    let text = said(&folder, &["explain", "a", "script"]);
    assert!(text.contains("what it printed\n│ looks at 5 letters\n"), "{text}");
    assert!(text.contains("what it printed to standard error\n│ careful\n"), "{text}");
    // A replay calls nothing and prints the same.
    folder.jurat(&["run", "suite.yaml", "--replay", "latest"]);
    let ended = folder.jurat(&["explain", "a", "python", "--json"]);
    let json = parse_json(&ended.stdout).expect("it is JSON").value.into_owned();
    let called = json.get("called").expect("it was called");
    let printed = |stream: &str| called.get(stream).and_then(|it| it.get("text")).and_then(Val::as_str);
    assert_eq!(printed("stdout"), Some("looks at \u{1b}[31mHello\n"));
    assert_eq!(printed("stderr"), Some("careful\n"));
    assert_eq!(called.get("origin").and_then(Val::as_str), Some("log"));
}
