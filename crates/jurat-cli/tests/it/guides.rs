//! The guides do what they say, and the suites that the reference pages show are suites.

use std::fs;

use crate::command::{Folder, ended, path_with_agents, root};
use crate::console::checked;

/// The guide that needs a database server: the test program `postgres` runs it.
const OF_POSTGRES: &str = "share-answers.md";

#[test]
fn every_guide_shows_what_the_commands_write() {
    let folders = ["docs/guides", "docs/concepts"];
    let guides = folders.iter().flat_map(|it| fs::read_dir(root().join(it)).expect("there are guides"));
    let mut n_guides = 0;
    for guide in guides {
        let guide = guide.expect("guides can be listed").path();
        if !guide.ends_with(OF_POSTGRES) {
            assert!(checked(&guide, &[]).len() > 5, "{} runs little", guide.display());
        }
        // Whatever a guide shows is run or used.
        let text = fs::read_to_string(&guide).expect("the guide is text");
        for (ix, part) in text.split("```").enumerate().filter(|(ix, _)| ix % 2 == 1) {
            let info = part.lines().next().unwrap_or_default();
            let is_run = info == "console" || info.contains(" file=");
            assert!(is_run, "{}: block {} is neither a file nor commands: `{info}`", guide.display(), ix / 2 + 1);
        }
        n_guides += 1;
    }
    assert!(n_guides > 1, "there is no guide");
}

/// The complete suites of a page: the blocks whose info string is `yaml` alone.
fn suites(page: &str) -> Vec<&str> {
    let opening = "```yaml\n";
    let starts = page.match_indices(opening).map(|(at, _)| &page[at + opening.len()..]);
    starts.map(|it| &it[..it.find("```").expect("a block ends")]).collect()
}

/// The scripts that a suite names.
fn scripts(suite: &str) -> impl Iterator<Item = &str> {
    suite.split("script/").skip(1).map(|it| it.split([' ', ',', ']', '}', '\n']).next().unwrap_or_default())
}

#[test]
fn every_suite_of_the_reference_is_clean() {
    let (mut n_suites, mut wrong) = (0, Vec::new());
    for name in ["suites.md", "scripts.md", "results.md", "tools.md", "outcomes.md", "agents.md", "from-promptfoo.md"] {
        let page = fs::read_to_string(root().join("docs/reference").join(name)).expect("the page is there");
        for suite in suites(&page) {
            n_suites += 1;
            let row = "{\"id\": \"r1\", \"answer\": \"Hello!\", \"question\": \"Hi?\", \"language\": \"en\"}\n";
            let folder = Folder::with("suite.yaml", suite)
                .and("records.jsonl", row)
                .and("prompts/tone.md", "Rate ${answer}")
                .and("agent.py", "")
                .and("skills/refunds/SKILL.md", "")
                .and("servers/notes/server.js", "");
            let folder = scripts(suite).fold(folder, |folder, name| folder.and(name, "{\"reply\": \"yes\"}\n"));
            let mut command = folder.command();
            let checked = ended(command.args(["check", "--strict", "suite.yaml"]).env("PATH", path_with_agents()));
            if checked.code != Some(0) {
                wrong.push(format!("{name}:\n{suite}\n{}", checked.stderr));
            }
        }
    }
    assert!(n_suites > 10, "only {n_suites} suites");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
