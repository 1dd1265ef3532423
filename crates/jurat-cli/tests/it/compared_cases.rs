//! Queries of the comparison page: what they find is what a filter over the results of both runs would.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use crate::command::Folder;
use crate::viewer::Viewer;

const SUITE: &str = "
suite: compared
records: { path: rows.jsonl }
group_by: [lang]
question: [asked]
models: { judge: script/judge.jsonl }
tasks:
  - { id: right, field_path: answer, operator: contains, expected_value: right }
  - { id: said_so, field_path: note, operator: equals, expected_value: so }
  - id: quality
    judge: { prompt: 'How good is this? ${answer}', output: { score: { type: number, minimum: 0, maximum: 1 }, reason: string } }
    field_path: score
    operator: greater_than
    expected_value: 0.4
";

/// Rows of one run. Those of NEW differ: in what was answered, in what was asked, and in which there are.
fn rows(is_new: bool) -> (String, String) {
    let (mut rows, mut replies) = (String::new(), String::new());
    for ix in 0..40_usize {
        if ix == if is_new { 3 } else { 38 } {
            continue;
        }
        let is_right = if is_new { ix % 3 != 0 } else { ix % 4 != 0 };
        let note = match ix % 10 {
            // A path that finds nothing cannot be judged.
            7 if is_new => String::new(),
            6 => r#", "note": "otherwise""#.to_owned(),
            _ => r#", "note": "so""#.to_owned(),
        };
        let (lang, asked) = (["de", "en"][ix % 2], if is_new && ix == 20 { "another question" } else { "which?" });
        let answer = format!("{} {ix}", if is_right { "right" } else { "wrong" });
        // Writing to memory cannot fail.
        let _ = writeln!(
            rows,
            r#"{{"id": "c-{ix:02}", "lang": "{lang}", "asked": "{asked}", "answer": "{answer}"{note}}}"#
        );
        let score = if is_new { (ix * 3) % 5 } else { (ix * 2) % 5 } as f64 / 4.0;
        let _ = writeln!(
            replies,
            r#"{{"match": {{"case": "c-{ix:02}"}}, "reply": {{"score": {score}, "reason": "so"}}, "times": "*"}}"#
        );
    }
    (rows, replies)
}

/// How a case ended, in all tasks, and the score of one.
#[derive(Debug, Clone, Default)]
struct Ended {
    verdict: String,
    tasks: BTreeMap<String, String>,
    score: Option<f64>,
    lang: String,
}

fn results(folder: &Folder, run: &str) -> BTreeMap<String, Ended> {
    let printed = folder.jurat(&["show", run, "--json", "--tasks"]).stdout;
    let report: Value = serde_json::from_str(&printed).expect("it is JSON");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let ended = |case: &Value| {
        let tasks = case["tasks"].as_array().expect("tasks are listed");
        let quality = tasks.iter().find(|it| it["task"] == "quality");
        let ix: usize = text(&case["id"])[2..].parse().expect("ids are numbered");
        Ended {
            verdict: text(&case["verdict"]),
            tasks: tasks.iter().map(|it| (text(&it["task"]), text(&it["verdict"]))).collect(),
            score: quality.and_then(|it| it["score"].as_f64()),
            lang: ["de", "en"][ix % 2].to_owned(),
        }
    };
    let cases = report["results"]["cases"].as_array().expect("cases are listed");
    cases.iter().map(|it| (text(&it["id"]), ended(it))).collect()
}

/// The word for how a verdict changed.
fn change(was: &str, now: &str) -> &'static str {
    match (was, now) {
        ("", _) => "only_new",
        (_, "") => "only_base",
        ("passed", "failed") => "regression",
        ("failed", "passed") => "fix",
        ("passed", "passed") | ("failed", "failed") => "same",
        _ => "unknown",
    }
}

/// A case of both runs.
struct Pair {
    id: String,
    base: Option<Ended>,
    new: Option<Ended>,
}

impl Pair {
    fn lang(&self) -> &str {
        self.base.as_ref().or(self.new.as_ref()).map_or("", |it| it.lang.as_str())
    }

    fn change(&self) -> &'static str {
        self.of(|it| it.verdict.clone())
    }

    fn task(&self, id: &str) -> &'static str {
        self.of(|it| it.tasks.get(id).cloned().unwrap_or_default())
    }

    fn of(&self, read: impl Fn(&Ended) -> String) -> &'static str {
        // What was asked differs in one row.
        if self.id == "c-20" {
            return "changed";
        }
        let word = |it: &Option<Ended>| it.as_ref().map(&read).unwrap_or_default();
        change(&word(&self.base), &word(&self.new))
    }

    fn delta(&self) -> Option<f64> {
        let score = |it: &Option<Ended>| it.as_ref()?.score;
        (self.id != "c-20").then_some(score(&self.new)? - score(&self.base)?)
    }

    /// How it ended in NEW; in BASE, where NEW lacks it.
    fn shown(&self) -> &Ended {
        self.new.as_ref().or(self.base.as_ref()).expect("a side has it")
    }

    fn is_changed(&self) -> bool {
        matches!(self.change(), "regression" | "fix" | "unknown")
    }
}

struct Compared {
    viewer: Viewer,
    /// What the viewer reads lives as long as it does.
    _folder: Folder,
    pairs: Vec<Pair>,
    address: String,
}

impl Compared {
    fn start() -> Compared {
        let (base_rows, base_replies) = rows(false);
        let folder = Folder::with("suite.yaml", SUITE).and("rows.jsonl", base_rows).and("judge.jsonl", base_replies);
        let run = |folder: &Folder| {
            let ended = folder.jurat(&["run", "suite.yaml", "--fresh"]);
            assert!(matches!(ended.code, Some(1 | 3)), "{ended:?}");
            let list: Value =
                serde_json::from_str(&folder.jurat(&["show", "--list", "--json"]).stdout).expect("it is JSON");
            let ids = list["runs"].as_array().expect("runs are listed").iter();
            ids.map(|it| it["run_id"].as_str().unwrap_or_default().to_owned()).collect::<Vec<String>>()
        };
        let base = run(&folder).remove(0);
        let before = results(&folder, &base);
        let (new_rows, new_replies) = rows(true);
        let folder = folder.and("rows.jsonl", new_rows).and("judge.jsonl", new_replies);
        // Both may have begun in the same second, so that either may be the first of the list.
        let new = run(&folder).into_iter().find(|it| *it != base).expect("there is another run");
        let after = results(&folder, &new);
        let ids: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let pair =
            |id: &&String| Pair { id: (*id).clone(), base: before.get(*id).cloned(), new: after.get(*id).cloned() };
        let pairs = ids.iter().map(pair).collect();
        let viewer = Viewer::start(&folder, &[]);
        Compared { viewer, _folder: folder, pairs, address: format!("/compare?base={base}&new={new}") }
    }

    /// The ids that the page lists, sorted.
    fn found(&self, query: &str) -> Vec<String> {
        let encoded: String = query.bytes().map(|it| format!("%{it:02X}")).collect();
        let page = self.viewer.page(&format!("{}&q={encoded}", self.address));
        let links = page.split("<a class=\"open\"").skip(1);
        let id = |it: &str| it.split_once("c-")?.1.get(..2).map(|it| format!("c-{it}"));
        let mut ids: Vec<String> = links.filter_map(id).collect();
        ids.sort_unstable();
        ids
    }

    #[track_caller]
    fn finds(&self, query: &str, is_meant: impl Fn(&Pair) -> bool) {
        let expected: Vec<String> = self.pairs.iter().filter(|it| is_meant(it)).map(|it| it.id.clone()).collect();
        assert_eq!(self.found(query), expected, "{query}");
        assert!(!expected.is_empty(), "{query} should find something");
    }
}

#[test]
fn queries_of_a_comparison_find_what_a_filter_over_both_runs_finds() {
    let compared = Compared::start();
    compared.finds("", Pair::is_changed);
    for word in ["regression", "fix", "unknown", "only_base", "only_new", "changed", "same"] {
        compared.finds(&format!("change:{word}"), |it| it.change() == word);
    }
    compared.finds("change:regression,fix", |it| matches!(it.change(), "regression" | "fix"));
    compared.finds("change!=same", |it| it.change() != "same");
    compared.finds("-change:same", |it| it.change() != "same");
    // A task may move while its case stays as it was.
    for word in ["regression", "fix", "same", "only_base", "changed"] {
        compared.finds(&format!("change:right={word}"), |it| it.task("right") == word);
        compared.finds(&format!("change:quality={word} id:c-*"), |it| it.task("quality") == word);
    }
    compared.finds("change:said_so=unknown", |it| it.task("said_so") == "unknown");
    compared.finds("delta:quality<-0.1", |it| it.delta().is_some_and(|it| it < -0.1));
    compared.finds("delta:quality>=0.5", |it| it.delta().is_some_and(|it| it >= 0.5));
    compared.finds("delta:quality=0", |it| it.delta() == Some(0.0));
    // A task without scores moves by its rate.
    compared.finds("delta:right<0", |it| it.task("right") == "regression");
    compared.finds("delta:right>0 -change:fix", |it| it.task("right") == "fix" && it.change() != "fix");
    compared.finds("group:lang=de change:regression", |it| it.lang() == "de" && it.change() == "regression");
    compared.finds("-group:lang=de", |it| it.lang() == "en");
    compared.finds("(change:fix OR id:*0)", |it| it.change() == "fix" || it.id.ends_with('0'));
    compared.finds("(change:fix group:lang=en OR change:only_new)", |it| {
        it.change() == "fix" && it.lang() == "en" || it.change() == "only_new"
    });
    compared.finds("-(change:same OR change:regression)", |it| !matches!(it.change(), "same" | "regression"));
    compared.finds("c-1", |it| it.id.starts_with("c-1"));
    // Terms of one run are about NEW; about BASE, where NEW lacks the case.
    for word in ["passed", "failed", "error"] {
        compared.finds(&format!("verdict:{word}"), |it| it.shown().verdict == word);
        compared.finds(&format!("verdict!={word}"), |it| it.shown().verdict != word);
    }
    compared.finds("task:right=failed", |it| it.shown().tasks["right"] == "failed");
    compared.finds("task:said_so=error change:unknown", |it| it.shown().tasks["said_so"] == "error");
    compared.finds("score:quality>=0.5", |it| it.shown().score.is_some_and(|it| it >= 0.5));
    compared.finds("score:quality!=0.5", |it| it.shown().score.is_some_and(|it| it != 0.5));
    compared.finds("(verdict:passed OR change:only_base)", |it| {
        it.shown().verdict == "passed" || it.change() == "only_base"
    });
    assert_eq!(compared.found("C-1"), Vec::<String>::new(), "a capital is meant");
}

#[test]
fn one_query_lists_the_cases_of_several_runs() {
    let compared = Compared::start();
    let base = compared.address.split_once("base=").and_then(|it| it.1.split_once('&')).expect("there is one").0;
    let page = compared.viewer.page(&format!("{}&new={base}&q=verdict:failed", compared.address));
    assert_eq!(page.matches("<form class=\"filter\"").count(), 1, "{page}");
    let of_new = compared.pairs.iter().filter(|it| it.shown().verdict == "failed").count();
    // The other NEW is BASE itself.
    let of_base = compared.pairs.iter().filter_map(|it| it.base.as_ref()).filter(|it| it.verdict == "failed").count();
    for (ix, n) in [(1, of_new), (2, of_base)] {
        let list = page.split_once(&format!("id=\"cases-{ix}\"")).expect("it is listed").1;
        let list = list.split_once("</table>").expect("there are rows").0;
        assert_eq!(list.matches("data-row").count(), n, "NEW {ix}: {list}");
    }
    assert!(page.contains("q=change:regression#cases-1"), "{page}");
}

#[test]
fn a_page_behind_the_last_one_says_how_many_cases_there_are() {
    let compared = Compared::start();
    let n_changed = compared.pairs.iter().filter(|it| it.is_changed()).count();
    let page = compared.viewer.page(&format!("{}&from=50", compared.address));
    assert!(!page.contains("No case changed."), "{page}");
    assert!(page.contains(&format!("{n_changed} of {n_changed} cases that changed")), "{page}");
    assert!(page.contains("To the first page"), "{page}");
    let page = compared.viewer.page(&format!("{}&q=id%3Anone&from=50", compared.address));
    assert!(page.contains("No case fits this query."), "{page}");
}

#[test]
fn what_is_wrong_with_a_query_of_a_comparison_is_marked() {
    let compared = Compared::start();
    let wrong = |query: &str| {
        let encoded: String = query.bytes().map(|it| format!("%{it:02X}")).collect();
        let response = compared.viewer.get(&format!("{}&q={encoded}", compared.address));
        assert_eq!(response.status, 400, "{query}: {}", response.body);
        response.body
    };
    let page = wrong("change:regresion");
    assert!(page.contains("<mark>") && page.contains("Is this meant?") && page.contains("change:regression"), "{page}");
    assert!(wrong("change:rigth=fix").contains("change:right=fix"));
    assert!(wrong("verdct:failed").contains("verdict:failed"));
    assert!(wrong("verdict:faild").contains("verdict:failed"));
    assert!(wrong("task:rigth=failed").contains("task:right=failed"));
    assert!(wrong("human:pass").contains("a comparison has no key"));
    assert!(wrong("row.note=so").contains("a comparison has no key"));
    assert!(wrong("group:land=de").contains("group:lang=de"));
    assert!(wrong("subject:x").contains("not paired by subject"));
    assert!(wrong("delta:right<low").contains("is not a number"));
    assert!(wrong("(change:fix").contains("without its"));
}
