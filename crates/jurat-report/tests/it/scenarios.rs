//! Scenarios in, drawings, totals and transcripts out.

use jurat_core::report::RunReport;
use jurat_core::report::explanation::{Conversation, Purpose};
use jurat_core::report::plan::PlanReport;
use jurat_core::report::scenario::{
    GraphEdge, GraphNode, OutcomeTotal, ScenarioGraph, ScenarioTotal, StatusCounts, TurnCounts,
};
use jurat_core::report::transcript::{EdgeStep, FieldStep, OutcomeStep, TestedStep, ToolStep, Transcript, Turn};
use jurat_core::scenario::{END, FailureCategory, TurnFailure};
use jurat_core::verdict::CaseVerdict;
use jurat_format::value::{Val, Value, parse_json};
use jurat_report::explanation::{write_transcript, write_transcript_json};
use jurat_report::scenario::{
    write_graphs, write_graphs_dot, write_graphs_json, write_graphs_mermaid, write_graphs_svg,
};
use jurat_report::{Scope, Style, visible_line};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::documents::document;
use crate::explanations;
use crate::laws::{laws, text};
use crate::plans::{self, boxes};
use crate::sample::{self, HOSTILE};

const FORMATS: [&str; 5] = ["text", "mermaid", "dot", "svg", "json"];

fn rendered(format: &str, graphs: &[ScenarioGraph]) -> String {
    let mut out = Vec::new();
    match format {
        "text" => write_graphs(&mut out, graphs, Style::Plain),
        "mermaid" => write_graphs_mermaid(&mut out, graphs),
        "dot" => write_graphs_dot(&mut out, "tutoring", graphs),
        "svg" => write_graphs_svg(&mut out, "tutoring", graphs),
        "json" => write_graphs_json(&mut out, "tutoring", graphs),
        other => panic!("`{other}` is no format"),
    }
    .expect("memory can be written");
    String::from_utf8(out).expect("drawings are UTF-8")
}

fn node(id: &str, question: &str) -> GraphNode {
    GraphNode {
        id: id.to_owned(),
        question: question.to_owned(),
        subjects: vec!["openai/small".to_owned()],
        ..GraphNode::default()
    }
}

fn edge(from: usize, to: Option<usize>, when: Option<&str>) -> GraphEdge {
    GraphEdge { from, to, when: when.map(str::to_owned), ..GraphEdge::default() }
}

/// A tutor: a question, a hint that may be given again, and a way back from the explanation to the question.
pub(crate) fn tutor() -> ScenarioGraph {
    let mut nodes = vec![
        node("ask", "What is the derivative of the natural logarithm of x squared, and how do you find it?"),
        node("hint", "Think of the chain rule."),
        node("explain", "Explain it to a child."),
        node("lost", "Nobody comes here."),
    ];
    nodes[0].parser = Some("openai/parser".to_owned());
    nodes[1].description = Some("Given until it helps".to_owned());
    nodes[2].tools = vec!["files".to_owned()];
    nodes[2].tools_removed = vec!["files/write".to_owned()];
    let mut edges = vec![
        edge(0, Some(2), Some("verify_result is true")),
        edge(0, Some(1), None),
        edge(1, Some(1), Some("node_visits.hint < 3 and verify_result is false")),
        edge(1, Some(2), None),
        edge(2, Some(0), Some("turn < 4")),
        edge(2, None, None),
        edge(2, None, None),
    ];
    edges[1].handover = Some("transcript_prepend".to_owned());
    ScenarioGraph {
        name: "tutor".to_owned(),
        description: Some("Does the model explain what it knows?".to_owned()),
        turn_limit: 6,
        max_calls: 48,
        nodes,
        entry: 0,
        edges,
    }
}

/// The same after a run.
pub(crate) fn total() -> ScenarioTotal {
    let mut graph = tutor();
    for (node, n) in graph.nodes.iter_mut().zip([1_200, 7, 900, 0]) {
        node.visits = Some(n);
    }
    for (edge, n) in graph.edges.iter_mut().zip([893, 5, 2, 5, 0, 898, 0]) {
        edge.taken = Some(n);
    }
    let outcome = |name: &str, held, failed, measured, error| OutcomeTotal {
        name: name.to_owned(),
        held,
        failed,
        measured,
        error,
    };
    ScenarioTotal {
        graph,
        is_concluded: true,
        statuses: StatusCounts { completed: 897, limit_reached: 1, timeout: 1, error: 300, not_run: 1 },
        turns: TurnCounts { conversations: 1_199, total: 2_107, least: 1, most: 6, judged: 1_200, verified: 893 },
        outcomes: vec![
            outcome("solved", 893, 306, 0, 0),
            outcome("always", 1_199, 0, 0, 0),
            outcome("never", 0, 1_199, 0, 0),
            outcome("broken", 0, 0, 0, 1_199),
            outcome("n_hints", 0, 0, 1_199, 0),
        ],
    }
}

#[test]
fn each_format_draws_the_graphs() {
    for format in FORMATS {
        insta::assert_snapshot!(format!("graph_as_{format}"), rendered(format, &[tutor()]));
    }
    let linear = ScenarioGraph {
        name: "linear".to_owned(),
        turn_limit: 20,
        nodes: vec![node("first", "One?"), node("second", "Two?")],
        edges: vec![edge(0, Some(1), None), edge(1, None, None)],
        ..ScenarioGraph::default()
    };
    for format in FORMATS {
        insta::assert_snapshot!(
            format!("graphs_of_run_as_{format}"),
            rendered(format, &[total().graph, linear.clone()])
        );
    }
}

#[test]
fn plans_draw_scenarios_beside_their_tasks() {
    for (name, stages) in [("with_tasks", plans::probes().stages), ("alone", Vec::new())] {
        let plan = PlanReport { scenarios: vec![tutor()], stages, asking: None, calls: Some(48), ..plans::probes() };
        for format in ["text", "mermaid", "dot", "svg", "json"] {
            insta::assert_snapshot!(format!("scenarios_{name}_as_{format}"), plans::rendered(format, &plan));
        }
    }
}

pub(crate) fn run() -> RunReport {
    let mut unconcluded = ScenarioTotal { is_concluded: false, outcomes: Vec::new(), ..total() };
    unconcluded.graph.name = HOSTILE.to_owned();
    RunReport { scenarios: vec![total(), unconcluded], ..sample::run() }
}

#[test]
fn reports_show_conversations_and_outcomes_without_a_result() {
    for format in ["terminal", "json", "markdown"] {
        let text = document(format, &run(), &sample::cases(), Scope::ResultsOnly);
        insta::assert_snapshot!(format!("run_of_scenarios_as_{format}"), text);
    }
}

#[test]
fn many_scenarios_are_cut_and_counted() {
    let scenarios = (0..150).map(|ix| {
        let mut total = total();
        total.graph.name = format!("s{ix}");
        total
    });
    let run = RunReport { scenarios: scenarios.collect(), ..sample::run() };
    let text = document("terminal", &run, &[], Scope::ResultsOnly);
    assert!(text.contains("… and 50 more scenarios\n"), "{text}");
    // Of each, a line about nodes, two edges, and three about outcomes.
    assert!(text.contains("… and 800 more lines\n"), "{text}");
    let graphs: Vec<ScenarioGraph> = run.scenarios.iter().map(|it| it.graph.clone()).collect();
    assert!(rendered("text", &graphs).ends_with("\n… and 130 more scenarios\n"));
    assert!(rendered("svg", &graphs).contains("s149"), "drawings are whole");
}

fn value(json: &str) -> Value {
    parse_json(json).expect("it is JSON").value.into_owned()
}

/// A conversation with one of everything.
pub(crate) fn transcript() -> Transcript {
    let step = |edge, when: Option<&str>, to: &str| EdgeStep { edge, when: when.map(str::to_owned), to: to.to_owned() };
    let failure = TurnFailure {
        category: FailureCategory::Timeout,
        stage: "generate_answer".to_owned(),
        reason: "the turn took longer than 5 s".to_owned(),
    };
    let conversation = |purpose| {
        let panel = explanations::panel();
        Conversation { purpose, ..panel.conversations.into_iter().next().expect("a model was asked") }
    };
    let first = Turn {
        node: "ask".to_owned(),
        question: "Who wrote it?".to_owned(),
        sent: Some("A transcript.\n\nWho wrote it?".to_owned()),
        reply: Some("Ada did.\nI looked it up.".to_owned()),
        tool_calls: vec![
            ToolStep {
                server: Some("library".to_owned()),
                tool: "find".to_owned(),
                arguments: value(r#"{"title": "Notes"}"#),
                output: Some("Notes, by Ada".to_owned()),
                is_error: false,
            },
            ToolStep {
                server: None,
                tool: "delete".to_owned(),
                arguments: value("{}"),
                output: Some("there is no tool `delete` here".to_owned()),
                is_error: true,
            },
        ],
        parsed: value(r#"{"author": "Ada", "year": null}"#),
        verify_result: Some(true),
        judged_by: Some("template".to_owned()),
        score: Some(0.75),
        fields: vec![
            FieldStep {
                name: "author".to_owned(),
                result: Some(true),
                expected: Some("`Ada`".to_owned()),
                found: "`Ada`".to_owned(),
                problem: None,
            },
            FieldStep {
                name: "year".to_owned(),
                result: None,
                expected: Some("1843".to_owned()),
                found: "nothing".to_owned(),
                problem: Some("a number is needed".to_owned()),
            },
        ],
        rubric: vec![("polite".to_owned(), Val::Bool(true))],
        rubric_errors: vec![("brief".to_owned(), "no valid reply".to_owned())],
        failure: None,
        update_error: Some("it gives 3, and must give an object".to_owned()),
        tested: vec![
            TestedStep {
                edge: step(0, Some("turn > 3"), "more"),
                held: Ok(false),
                saw: vec![("turn".to_owned(), Val::I(1))],
            },
            TestedStep {
                edge: step(1, Some("parsed.year is 1843"), "more"),
                held: Err("a number is needed".to_owned()),
                saw: vec![("parsed.year".to_owned(), Val::Null), ("turn".to_owned(), Val::I(1))],
            },
        ],
        taken: Some(step(2, None, "more")),
        state: Some(value(r#"{"turn": 1, "accumulated": {"seen": ["Ada"]}}"#)),
        conversations: [
            Purpose::Tools,
            Purpose::Subject,
            Purpose::Tool,
            Purpose::Parser,
            Purpose::Rubric,
            Purpose::Code,
        ]
        .map(conversation)
        .into(),
    };
    let second = Turn {
        node: "more".to_owned(),
        question: "Anything else?".to_owned(),
        sent: None,
        reply: None,
        tool_calls: Vec::new(),
        parsed: value("{}"),
        verify_result: None,
        judged_by: None,
        score: None,
        fields: Vec::new(),
        rubric: Vec::new(),
        rubric_errors: Vec::new(),
        failure: Some(failure.clone()),
        update_error: None,
        tested: Vec::new(),
        taken: None,
        state: None,
        conversations: Vec::new(),
    };
    Transcript {
        suite: "library".to_owned(),
        run_id: "r-7".to_owned(),
        case: "authors".to_owned(),
        subject: Some("openai/small".to_owned()),
        replicate: Some(2),
        description: Some("Does it look things up?".to_owned()),
        verdict: CaseVerdict::Failed,
        status: Some("timeout".to_owned()),
        turn_limit: 6,
        turns: vec![first, second],
        failure: Some(("more".to_owned(), failure)),
        final_state: Some(value(r#"{"turn": 2, "accumulated": {"seen": ["Ada"]}}"#)),
        outcomes: vec![
            OutcomeStep {
                name: "found".to_owned(),
                description: Some("It found the author".to_owned()),
                result: Some(Ok(Val::Bool(true))),
                decided: Some(decided()),
            },
            OutcomeStep {
                name: "by_code".to_owned(),
                description: None,
                result: Some(Err("the code failed".to_owned())),
                decided: None,
            },
            OutcomeStep { name: "undecided".to_owned(), description: None, result: None, decided: None },
        ],
    }
}

/// All of a yes, a no with what was wanted, and what was not looked at any more.
fn decided() -> jurat_core::outcome::Trace {
    use jurat_compare::Mismatch;
    use jurat_core::outcome::trace::Join;
    use jurat_core::outcome::{Found, Trace, Traced};

    let leaf = |words: &str, result, value: Val<'static>, mismatch| Trace {
        words: words.to_owned(),
        join: Join::Leaf,
        result,
        found: vec![Found {
            place: Some("turn 1 (`ask`)".to_owned()),
            read: "verify_result".to_owned(),
            value,
            mismatch,
        }],
        parts: Vec::new(),
    };
    let wanted = Mismatch { expected: "a value that counts as true".to_owned(), found: "false".to_owned() };
    let mut unasked = leaf("the last turn", Traced::NotEvaluated, Val::Null, None);
    unasked.found.clear();
    Trace {
        words: "all of".to_owned(),
        join: Join::All,
        result: Traced::Value(Val::Bool(false)),
        found: Vec::new(),
        parts: vec![
            leaf("any turn", Traced::Value(Val::Bool(true)), Val::Bool(true), None),
            leaf("every turn", Traced::Value(Val::Bool(false)), Val::Bool(false), Some(wanted)),
            unasked,
        ],
    }
}

fn shown(transcript: &Transcript) -> String {
    let mut out = Vec::new();
    write_transcript(&mut out, transcript, Style::Plain, None).expect("memory can be written");
    String::from_utf8(out).expect("text is UTF-8")
}

pub(crate) fn transcript_json() -> String {
    let mut out = Vec::new();
    write_transcript_json(&mut out, &transcript()).expect("memory can be written");
    String::from_utf8(out).expect("JSON is UTF-8")
}

#[test]
fn a_transcript_shows_the_turns_and_the_routing() {
    insta::assert_snapshot!("transcript", shown(&transcript()));
    insta::assert_snapshot!("transcript_json", transcript_json());
    let nothing = Transcript { status: None, turns: Vec::new(), failure: None, final_state: None, ..transcript() };
    insta::assert_snapshot!("transcript_not_held", shown(&Transcript { outcomes: Vec::new(), ..nothing }));
}

#[test]
fn hostile_words_of_a_conversation_stay_behind_their_bar() {
    let mut said = transcript();
    let hostile = HOSTILE.to_owned();
    said.description = Some(hostile.clone());
    for turn in &mut said.turns {
        turn.node = hostile.clone();
        turn.sent = Some(hostile.clone());
        turn.reply = Some(hostile.clone());
        turn.tool_calls.iter_mut().for_each(|it| it.output = Some(hostile.clone()));
        turn.fields.iter_mut().for_each(|it| it.found = hostile.clone());
    }
    let text = shown(&said);
    let line = text.replace('\n', "");
    assert_eq!(visible_line(&line), line);
    insta::assert_snapshot!("hostile_transcript", text);
}

/// Graphs with any words and any edges.
fn graphs() -> impl Strategy<Value = Vec<ScenarioGraph>> {
    let any_node = (text(), text(), proptest::option::of(text()), proptest::option::of(0..3_u64));
    let any_edge = (any::<proptest::sample::Index>(), any::<proptest::sample::Index>(), proptest::option::of(text()));
    let graph = (vec(any_node, 1..8), vec(any_edge, 0..14), text(), any::<proptest::sample::Index>());
    let graph = graph.prop_map(|(nodes, edges, name, entry)| {
        let n = nodes.len();
        let edge = |(from, to, when): (proptest::sample::Index, proptest::sample::Index, Option<String>)| {
            let to = to.index(n + 1);
            GraphEdge {
                from: from.index(n),
                to: (to < n).then_some(to),
                handover: when.clone().filter(|it| it.len() % 2 == 0),
                taken: when.as_ref().map(|it| it.len() as u64),
                when,
                turns: Vec::new(),
            }
        };
        let node = |(id, question, parser, visits)| GraphNode { id, question, parser, visits, ..GraphNode::default() };
        ScenarioGraph {
            name,
            nodes: nodes.into_iter().map(node).collect(),
            edges: edges.into_iter().map(edge).collect(),
            entry: entry.index(n),
            ..ScenarioGraph::default()
        }
    });
    vec(graph, 1..3)
}

proptest! {
    #![proptest_config(laws())]

    #[test]
    fn drawings_of_graphs_are_well_formed(graphs in graphs()) {
        let svg = rendered("svg", &graphs);
        let boxes = boxes(&svg).map_err(|error| TestCaseError::fail(format!("{error}: {svg}")))?;
        prop_assert_eq!(boxes.len(), graphs.iter().map(|it| it.nodes.len()).sum::<usize>());
        let mut rest = boxes.as_slice();
        for graph in &graphs {
            let own;
            (own, rest) = rest.split_at(graph.nodes.len());
            for (ix, (x, y, width)) in own.iter().enumerate() {
                let apart = |(x2, y2, width2): &(f64, f64, f64)| y != y2 || x + width <= *x2 || x2 + width2 <= *x;
                prop_assert!(own[ix + 1..].iter().all(apart), "boxes overlap: {svg}");
            }
        }
        let n_ends = |graph: &ScenarioGraph| {
            let has_way = |node: usize| graph.edges.iter().any(|it| it.from == node && it.when.is_none());
            (0..graph.nodes.len()).filter(|it| !has_way(*it)).count()
        };
        let n_arrows: usize = graphs.iter().map(|it| it.edges.len() + n_ends(it)).sum();
        prop_assert_eq!(svg.matches("class=\"arrow").count(), n_arrows);
        let mermaid = rendered("mermaid", &graphs);
        for line in mermaid.lines() {
            prop_assert!(matches!(line.matches('"').count(), 0 | 2), "{mermaid}");
        }
        prop_assert_eq!(mermaid.matches("-->").count() + mermaid.matches("-.->").count(), n_arrows);
        let dot = rendered("dot", &graphs);
        for line in dot.lines() {
            prop_assert!(line.replace("\\\"", "").matches('"').count().is_multiple_of(2), "{dot}");
        }
        prop_assert_eq!(dot.matches(" -> s").count(), n_arrows);
        let json = rendered("json", &graphs);
        let read = parse_json(&json).map_err(|error| TestCaseError::fail(format!("{error}: {json}")))?;
        let scenarios = read.value.get("scenarios").and_then(Val::as_list).expect("there are scenarios");
        prop_assert_eq!(scenarios.len(), graphs.len());
        let ends = |it: &Val<'_>| it.get("to").and_then(Val::as_str) == Some(END);
        let listed = scenarios.iter().filter_map(|it| it.get("edges").and_then(Val::as_list)).flatten();
        prop_assert!(listed.filter(|it| ends(it)).count() >= graphs.iter().flat_map(|it| &it.edges).filter(|it| it.to.is_none()).count());
        for format in FORMATS {
            let drawing = rendered(format, &graphs).replace('\n', "");
            let drawing = if format == "svg" { drawing.replace('\t', "") } else { drawing };
            prop_assert_eq!(&*visible_line(&drawing), &*drawing, "{}", format);
        }
    }
}
