//! Plans in, text and drawings out.

use jurat_core::report::plan::{CostBound, PlanAsking, PlanReport, PlanTask};
use jurat_core::suite::Gate;
use jurat_format::value::{Val, parse_json};
use jurat_report::plan::{write_dot, write_json, write_mermaid, write_svg, write_text};
use jurat_report::{Style, visible_line};
use proptest::collection::vec;
use proptest::prelude::*;
use quick_xml::Reader;
use quick_xml::events::Event;

use crate::laws::{laws, text};
use crate::sample::HOSTILE;

pub(crate) fn rendered(format: &str, plan: &PlanReport) -> String {
    let mut out = Vec::new();
    match format {
        "text" => write_text(&mut out, plan, Style::Plain, None),
        "narrow" => write_text(&mut out, plan, Style::Plain, Some(100)),
        "mermaid" => write_mermaid(&mut out, plan),
        "dot" => write_dot(&mut out, plan),
        "svg" => write_svg(&mut out, plan),
        "json" => write_json(&mut out, plan),
        other => panic!("`{other}` is no format"),
    }
    .expect("memory can be written");
    String::from_utf8(out).expect("drawings are UTF-8")
}

const FORMATS: [&str; 6] = ["text", "narrow", "mermaid", "dot", "svg", "json"];

fn task(id: &str, kind: &str, gate: Gate, depends_on: &[&str]) -> PlanTask {
    let is_judge = kind == "judge";
    PlanTask {
        id: id.to_owned(),
        kind: kind.to_owned(),
        gate,
        depends_on: depends_on.iter().map(|&it| it.to_owned()).collect(),
        models: if is_judge { vec!["judge".to_owned()] } else { Vec::new() },
        max_calls: if is_judge { 4 } else { 0 },
        ..PlanTask::default()
    }
}

/// Three ways behind one judge, and a task that looks at the first and at the last stage.
pub(crate) fn appliances() -> PlanReport {
    let mut stages = vec![vec![task("category", "judge", Gate::None, &[])], Vec::new(), Vec::new(), Vec::new()];
    stages[0][0].description = Some("Which appliance the question is about".to_owned());
    stages[0][0].compares = Some("category is_not_empty".to_owned());
    for way in ["kitchen", "bath", "outdoor"] {
        let (gate, expert, score) = (format!("is_{way}"), format!("{way}_expert"), format!("{way}_score"));
        stages[1].push(task(&gate, "assert", Gate::Condition, &["category"]));
        stages[2].push(task(&expert, "judge", Gate::None, &[&gate]));
        stages[3].push(task(&score, "assert", Gate::None, &[&expert]));
    }
    stages[3].push(task("agrees", "assert", Gate::Required, &["category", "kitchen_expert"]));
    PlanReport {
        suite: "appliance-support".to_owned(),
        description: Some("Answers of the support desk".to_owned()),
        sources: vec!["records.jsonl".to_owned()],
        cases: Some(6),
        asking: None,
        stages,
        scenarios: Vec::new(),
        calls: Some(96),
        in_journal: Some(12),
        calls_left: Some(84),
        cost: CostBound::AtMost(0.0123),
    }
}

/// A matrix of prompts and subjects, read from standard input, without prices.
pub(crate) fn probes() -> PlanReport {
    let mut short = task("short", "assert", Gate::None, &[]);
    short.on = Some("tag: short".to_owned());
    PlanReport {
        suite: "matrix".to_owned(),
        description: None,
        sources: vec!["-".to_owned()],
        cases: None,
        asking: Some(PlanAsking {
            prompts: vec!["short".to_owned(), "long".to_owned()],
            subjects: vec!["openai/small".to_owned(), "openai/large".to_owned()],
            tools: vec!["clock".to_owned(), "notes".to_owned()],
            max_calls: 4,
        }),
        stages: vec![vec![short, task("polite", "judge", Gate::None, &[])]],
        scenarios: Vec::new(),
        calls: None,
        in_journal: None,
        calls_left: None,
        cost: CostBound::Unknown(vec!["`judge` has no price".to_owned(), "`subject` has no `max_tokens`".to_owned()]),
    }
}

#[test]
fn each_format_draws_the_plan() {
    for format in FORMATS {
        insta::assert_snapshot!(format!("appliances_as_{format}"), rendered(format, &appliances()));
        insta::assert_snapshot!(format!("probes_as_{format}"), rendered(format, &probes()));
    }
}

#[test]
fn a_plan_without_tasks_is_rendered() {
    let plan = PlanReport { stages: Vec::new(), calls: Some(0), cases: Some(0), ..appliances() };
    for format in FORMATS {
        assert!(!rendered(format, &plan).is_empty(), "{format}");
    }
    assert!(rendered("text", &plan).contains("appliance-support: 0 tasks in 0 stages"));
}

#[test]
fn hostile_names_stay_in_their_place() {
    let mut plan = appliances();
    plan.suite = HOSTILE.to_owned();
    plan.stages[0][0].description = Some(HOSTILE.to_owned());
    plan.stages[3].push(task(HOSTILE, HOSTILE, Gate::None, &["category"]));
    for format in ["text", "mermaid", "dot", "svg"] {
        insta::assert_snapshot!(format!("hostile_plan_as_{format}"), rendered(format, &plan));
    }
}

#[test]
fn a_large_plan_is_rendered_whole() {
    let names: Vec<String> = (0..3_000).map(|ix| format!("t{ix}")).collect();
    let mut stages: Vec<Vec<PlanTask>> = Vec::new();
    for (ix, name) in names.iter().enumerate() {
        let stage = ix / 300;
        if stages.len() <= stage {
            stages.push(Vec::new());
        }
        let above: Vec<&str> = (1..=3).filter_map(|it| names.get(ix.checked_sub(it * 300)?)).map(|it| &**it).collect();
        stages[stage].push(task(name, "assert", Gate::None, &above));
    }
    let plan = PlanReport { stages, ..appliances() };
    for format in FORMATS {
        assert!(rendered(format, &plan).contains("t2999"), "{format}");
    }
}

/// Plans with any names, where each task waits for some of those before it.
fn plans() -> impl Strategy<Value = PlanReport> {
    let tasks = vec((text(), text(), vec(any::<proptest::sample::Index>(), 0..3), 0..3_u64), 1..14);
    (tasks, text(), proptest::option::of(text()), any::<bool>()).prop_map(|(tasks, suite, description, is_asked)| {
        let mut stages: Vec<Vec<PlanTask>> = Vec::new();
        let mut before: Vec<(String, usize)> = Vec::new();
        for (ix, (id, kind, above, max_calls)) in tasks.into_iter().enumerate() {
            let id = format!("{id}{ix}");
            let above: Vec<&(String, usize)> =
                above.iter().filter(|_| !before.is_empty()).map(|it| it.get(&before)).collect();
            let stage = above.iter().map(|(_, stage)| stage + 1).max().unwrap_or(0);
            let gate = [Gate::None, Gate::Condition, Gate::Required][ix % 3];
            let depends_on = above.iter().map(|(id, _)| id.clone()).collect();
            stages.resize_with(stages.len().max(stage + 1), Vec::new);
            stages[stage].push(PlanTask { id: id.clone(), kind, gate, depends_on, max_calls, ..PlanTask::default() });
            before.push((id, stage));
        }
        let asking = probes().asking.filter(|_| is_asked);
        PlanReport { suite, description, stages, asking, ..probes() }
    })
}

proptest! {
    #![proptest_config(laws())]

    #[test]
    fn drawings_are_well_formed(plan in plans()) {
        let n_tasks = plan.tasks().count();
        let svg = rendered("svg", &plan);
        let boxes = boxes(&svg).map_err(|error| TestCaseError::fail(format!("{error}: {svg}")))?;
        prop_assert_eq!(boxes.len(), n_tasks + usize::from(plan.asking.is_some()), "each task and the question");
        for (ix, (x, y, width)) in boxes.iter().enumerate() {
            let apart = |(x2, y2, width2): &(f64, f64, f64)| y != y2 || x + width <= *x2 || x2 + width2 <= *x;
            prop_assert!(boxes[ix + 1..].iter().all(apart), "boxes overlap: {svg}");
        }
        let json = rendered("json", &plan);
        let read = parse_json(&json).map_err(|error| TestCaseError::fail(format!("{error}: {json}")))?;
        let stages = read.value.get("stages").and_then(Val::as_list).expect("there are stages");
        prop_assert_eq!(stages.iter().filter_map(Val::as_list).map(<[_]>::len).sum::<usize>(), n_tasks);
        let mermaid = rendered("mermaid", &plan);
        for line in mermaid.lines().skip(1) {
            prop_assert!(line.starts_with("  n"), "{mermaid}");
            prop_assert!(matches!(line.matches('"').count(), 0 | 2), "{mermaid}");
        }
        let dot = rendered("dot", &plan);
        for line in dot.lines() {
            let quotes = line.replace("\\\"", "").matches('"').count();
            prop_assert!(quotes.is_multiple_of(2), "{dot}");
        }
        let n_arrows = svg.matches("class=\"arrow").count();
        prop_assert_eq!(mermaid.matches("-->").count() + mermaid.matches(" .->").count(), n_arrows);
        prop_assert_eq!(dot.matches(" -> n").count(), n_arrows);
    }

    #[test]
    fn texts_show_every_task_once_in_the_tree_and_obey_nothing(plan in plans()) {
        for format in FORMATS {
            let drawing = rendered(format, &plan);
            let line = drawing.replace('\n', "");
            let line = if format == "svg" { line.replace('\t', "") } else { line };
            prop_assert_eq!(&*visible_line(&line), &*line, "{}", format);
        }
        let text = rendered("text", &plan);
        let n_tasks = plan.tasks().count();
        let n_tree = if plan.stages.len() > 1 { n_tasks + 1 } else { 0 };
        let n_head = if plan.description.is_some() { 4 } else { 3 };
        let n_bounds = if plan.calls_per_case() > 0 { 4 } else { 3 } + usize::from(plan.asking.is_some());
        prop_assert_eq!(text.lines().count(), n_head + n_tasks + n_tree + n_bounds, "{}", text);
    }
}

type Failure = Box<dyn std::error::Error>;

/// Reads SVG to its end and returns where its boxes stand: left, top and width of each.
pub(crate) fn boxes(svg: &str) -> Result<Vec<(f64, f64, f64)>, Failure> {
    let mut reader = Reader::from_str(svg);
    reader.config_mut().check_end_names = true;
    let mut boxes = Vec::new();
    loop {
        match reader.read_event()? {
            Event::Empty(tag) if tag.name().as_ref() == "rect" => {
                let number = |name: &str| -> Result<f64, Failure> {
                    Ok(tag.try_get_attribute(name)?.ok_or("an attribute is missing")?.value.parse()?)
                };
                boxes.push((number("x")?, number("y")?, number("width")?));
            }
            Event::Eof => return Ok(boxes),
            _ => {}
        }
    }
}
