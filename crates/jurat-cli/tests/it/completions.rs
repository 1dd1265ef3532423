//! `jurat completions`: every shell knows every verb.

use crate::command::Folder;
use crate::commands::verb;

#[test]
fn each_shell_knows_each_verb() {
    let folder = Folder::empty();
    let help = folder.jurat(&["--help"]).stdout;
    let verbs = help.lines().skip_while(|it| *it != "Commands:").skip(1).take_while(|it| !it.is_empty());
    let verbs: Vec<&str> = verbs.filter_map(verb).collect();
    assert!(verbs.contains(&"run") && verbs.contains(&"completions"), "{verbs:?}");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ended = folder.jurat(&["completions", shell]);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{shell}");
        for word in verbs.iter().copied().chain(["results-only", "budget-usd"]) {
            assert!(ended.stdout.contains(word), "{shell} does not know `{word}`");
        }
    }
    assert_eq!(folder.jurat(&["completions", "cmd"]).code, Some(2));
}
