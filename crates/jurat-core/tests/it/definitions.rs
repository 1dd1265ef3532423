//! A definition that is written down reads back as the same definition, without new problems.

use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use jurat_compare::{Operator, WhenMissing};
use jurat_core::judge::Prompt;
use jurat_core::suite::schema::suite_schema;
use jurat_core::suite::{
    Aggregate, Ask, AskPrompt, Bound, CaseKind, CellType, CostLimit, ExpectedValue, Gate, Judge, Loaded, Model, Output,
    PromptText, Reach, Records, Role, RowFile, RowFormat, RowSource, Selection, ServerSpec, Statistic, Suite, Task,
    TaskComparison, TaskKind, TaskThreshold, Thresholds, Tolerance, load, write,
};
use jurat_core::tool::{ToolFilter, ToolName};
use jurat_format::codes;
use jurat_format::problem::{Code, Severity};
use jurat_format::value::{FieldPath, Kind, Map, Span, Spanned, Val, Value, parse_json};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::InMemory;
use crate::arbitrary::{path, text, value};
use crate::outcomes::check;
use crate::rubrics::traits;
use crate::scenarios::scenario_text;
use crate::templates::arbitrary_template;
use crate::vocabulary::{fitting_operand, operators};

const PROMPT: (&str, &str) = ("prompt.md", "Is ${answer} polite?\n");

fn read(name: &str, text: &str) -> Loaded {
    load(Path::new(name), &InMemory(&[(name, text), PROMPT]))
}

/// What may be said of a suite that nobody thought about: `${…}` that was meant as text, ground truths that no answer can reach, outcomes of nothing.
const EXPECTED: [&Code; 5] = [
    &codes::LITERAL_PLACEHOLDER,
    &codes::ALWAYS_SAME,
    &codes::NEVER_APPLIES,
    &codes::OUTSIDE_ENUM,
    &codes::UNEXPECTED_TYPE,
];

/// The suite comes back from this text, without problems that it did not have.
fn reads_back(suite: &Suite, name: &str, text: &str) -> Result<(), TestCaseError> {
    let again = read(name, text);
    let new: Vec<_> = again.problems.iter().filter(|it| !EXPECTED.contains(&it.code)).collect();
    prop_assert!(new.is_empty(), "{:?} in\n{}", new, text);
    prop_assert_eq!(&again.suite, suite, "written as\n{}", text);
    Ok(())
}

proptest! {
    #![proptest_config(crate::laws())]

    #[test]
    fn a_suite_reads_back_from_yaml(suite in suite()) {
        reads_back(&suite, "suite.yaml", &write::yaml(&suite))?;
    }

    #[test]
    fn a_suite_reads_back_from_json(suite in suite()) {
        reads_back(&suite, "suite.json", &write::value(&suite).to_string())?;
    }

    #[test]
    fn what_is_written_satisfies_the_schema(suite in suite()) {
        // A number beyond doubles is one to us and to editors, not to this validator.
        let Ok(written) = serde_json::from_str(&write::value(&suite).to_string()) else { return Ok(()) };
        let errors: Vec<String> = SCHEMA.iter_errors(&written).map(|it| format!("{}: {it}", it.instance_path())).collect();
        prop_assert!(errors.is_empty(), "{:?}", errors);
    }
}

static SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    let schema = serde_json::from_str(&suite_schema().to_json()).expect("the schema is JSON");
    jsonschema::draft202012::new(&schema).expect("the schema is one")
});

/// Written, read, written and read again, from what an author wrote.
#[track_caller]
fn survives(text: &str) {
    let Loaded { suite, problems, .. } = read("suite.yaml", text);
    assert!(problems.iter().all(|it| it.severity() == Severity::Warning), "{problems:?}");
    for (name, written) in [("suite.yaml", write::yaml(&suite)), ("suite.json", write::value(&suite).to_string())] {
        reads_back(&suite, name, &written).expect("what was written reads back");
    }
}

#[test]
fn servers_survive_in_all_their_spellings() {
    survives(
        "tools: { a: { command: x, args: [y, '5'] }, b: { command: [x], env: { K: { from_env: N }, L: '${N} z' } } }\n",
    );
    survives(
        "tools: { a: { url: 'http://h/p?q=1', headers: { X-a: '' }, timeout: 0.001, reuse: true, per_case: true } }\n",
    );
    let read = |text: &str| read("suite.yaml", text).suite.tools;
    assert_eq!(
        read("tools: { a: { command: x, args: [y], env: { K: { from_env: N } } } }\n"),
        read("tools: { a: { command: [x, y], env: { K: '${N}' } } }\n")
    );
}

#[test]
fn servers_stand_in_the_folder_of_the_file_that_defines_them() {
    let files = [
        ("all/suite.yaml", "include: [more/servers.yaml]\ntools: { a: { command: x } }\n"),
        ("all/more/servers.yaml", "tools: { b: { command: x } }\n"),
    ];
    let suite = load(Path::new("all/suite.yaml"), &InMemory(&files)).suite;
    let folders: Vec<(&str, &Path)> =
        suite.tools.iter().map(|it| (it.name.value.as_str(), it.folder.as_path())).collect();
    assert_eq!(folders, [("b", Path::new("all/more")), ("a", Path::new("all"))]);
}

#[test]
fn a_quoted_merge_key_is_a_key() {
    survives("records: [{'<<': {a: 1}}]\n");
    survives("records: [{'<<': text, <<: {a: 1}}]\n");
}

#[test]
fn a_number_beyond_floats_is_kept_as_json_writes_it() {
    survives("records: [{a: .5e999, b: 01e999, c: +1.e999, d: -00.10E+400, e: 0012345678901234567890123}]\n");
}

#[test]
fn a_long_key_is_a_key() {
    let key = "k".repeat(3000);
    survives(&format!("records: [{{? '{key} x' : 1, ? {key} : {{? '{key} y' : 2}}}}]\n"));
}

#[test]
fn a_short_output_is_not_too_deep_when_it_is_written_out() {
    let task = |depth: usize| {
        let (open, close) = ("{a: ".repeat(depth), "}".repeat(depth));
        format!("tasks: [{{id: a, judge: {{prompt: '${{q}}', output: {open}string{close}}}}}]\n")
    };
    survives(&task(30));
    let messages: Vec<_> = read("suite.yaml", &task(40)).problems.into_iter().map(|it| it.message).collect();
    assert_eq!(messages, ["an `output` whose schema is nested more than 64 deep"]);
}

#[test]
fn a_list_without_a_path_is_not_read() {
    let messages = |text: &str| read("suite.yaml", text).problems.into_iter().map(|it| it.message).collect::<Vec<_>>();
    assert_eq!(messages("records: {path: []}\n"), ["`path` without a file"]);
    assert_eq!(messages("records: []\n"), ["`records` without a row"]);
}

#[test]
fn a_count_beyond_reason_is_not_taken_for_the_default() {
    let text = "tasks: [{id: a, judge: {prompt: '${q}', max_retries: 5000000000}}]\n";
    let messages: Vec<_> = read("suite.yaml", text).problems.into_iter().map(|it| it.message).collect();
    assert_eq!(messages, ["`max_retries` must be a whole number from 0 to 4294967295, not 5000000000"]);
}

fn at<T>(value: T) -> Spanned<T> {
    Spanned::new(value, Span::default())
}

fn texts() -> impl Strategy<Value = Vec<Spanned<String>>> {
    vec(text().prop_map(at), 0..3)
}

/// Ids, among them words that YAML has ideas about.
fn id() -> impl Strategy<Value = String> {
    prop_oneof![
        select(&["no", "null", "on", "y", "True", "_", "a-", "e1"][..]).prop_map(str::to_owned),
        "[A-Za-z_][A-Za-z0-9_-]{0,9}"
    ]
}

fn ids() -> impl Strategy<Value = Vec<Spanned<String>>> {
    vec(id().prop_map(at), 0..3)
}

fn suite() -> impl Strategy<Value = Suite> {
    let head = (option::of(text().prop_map(at)), option::of(text()), models(), tools());
    let head = (head, option::of(records()), option::of(ask().boxed()));
    let templates = proptest::collection::btree_map(id(), arbitrary_template(), 0..2);
    let rubrics = proptest::collection::btree_map(id(), traits(), 0..2);
    let rest = (ids(), vec(path().prop_map(at), 0..3), thresholds());
    let scenarios = (option::weighted(0.3, scenario_text().boxed()), vec(task(), 0..2));
    (head, vec(task(), 0..4), rest, (templates, rubrics, scenarios)).prop_map(
        |(
            ((name, description, models, tools), records, ask),
            tasks,
            (dimensions, group_by, thresholds),
            (templates, rubrics, scenarios),
        )| {
            let mut suite = Suite::default();
            if let (Some(scenario), own) = scenarios {
                let scope = scenario.name.clone();
                suite.add_scenario(scenario);
                suite.tasks.extend(own.into_iter().map(|it| Task {
                    scope: Some(scope.clone()),
                    on: Selection::All,
                    ..it
                }));
            }
            suite.name = name;
            suite.description = description;
            suite.models = models;
            suite.tools = tools;
            suite.records = records.into_iter().collect();
            suite.ask = ask;
            suite.templates = templates.into_iter().map(|(name, it)| (at(name), it)).collect();
            suite.rubrics = rubrics.into_iter().map(|(name, it)| (at(name), it)).collect();
            suite.tasks.extend(tasks);
            suite.dimensions = dimensions;
            suite.group_by = group_by;
            suite.thresholds = thresholds;
            suite
        },
    )
}

fn thresholds() -> BoxedStrategy<Thresholds> {
    let tasks = proptest::collection::btree_map(text(), (option::of(0.0..=1.0), vec(score_bound(), 0..2)), 0..3);
    let weights = proptest::collection::btree_map(text(), 0.0..10.0, 0..3);
    let amount = || option::of(0.0..100.0);
    let errors =
        option::of(prop_oneof![(0..1000_u64).prop_map(Tolerance::Count), (0.0..=100.0).prop_map(Tolerance::Percent)]);
    let latency = option::of((1..90_000_u64).prop_map(|it| {
        at(vec![(Statistic::Mean, Duration::from_millis(it)), (Statistic::Quantile(0.95), Duration::from_secs(it))])
    }));
    (option::of(0.0..=1.0), option::of(0.0..=1.0), tasks, weights, (amount(), amount()), latency, errors)
        .prop_map(|(pass_rate, cases, tasks, weights, (total, per_case), latency, max_errors)| Thresholds {
            pass_rate,
            cases,
            tasks: tasks.into_iter().map(|(id, (rate, score))| task_threshold(id, rate, score)).collect(),
            weights: weights.into_iter().map(|(id, weight)| (at(id), weight)).collect(),
            cost: CostLimit { total, per_case },
            latency,
            max_errors,
        })
        .boxed()
}

fn task_threshold(id: String, pass_rate: Option<f64>, score: Vec<(Spanned<Statistic>, Bound)>) -> TaskThreshold {
    let mut score = score;
    score.dedup_by_key(|it| it.0.value.name());
    TaskThreshold { task: at(id), pass_rate, score }
}

fn score_bound() -> impl Strategy<Value = (Spanned<Statistic>, Bound)> {
    let least = (-10.0..10.0).prop_map(Bound::at_least);
    let bound = prop_oneof![least, (0.0..10.0).prop_map(|it: f64| Bound { at_least: Some(-it), at_most: Some(it) })];
    bound.prop_map(|it| (at(Statistic::Quantile(0.5)), it))
}

fn models() -> impl Strategy<Value = Vec<Role>> {
    proptest::collection::btree_map(id(), vec(model(), 1..3), 0..3)
        .prop_map(|it| it.into_iter().map(|(name, models)| Role { name: at(name), models }).collect())
}

fn tools() -> impl Strategy<Value = Vec<ServerSpec>> {
    // Names that differ in case only are one name.
    let name = id().prop_map(|it| it.to_ascii_lowercase());
    let server = (reach(), 1..90_000_000_u64, any::<bool>(), any::<bool>());
    let spec = |(name, (reach, millis, reuse, per_case))| ServerSpec {
        name: at(name),
        reach,
        folder: "".into(),
        timeout: Duration::from_millis(if millis > 86_400_000 { 60_000 } else { millis }),
        reuse,
        per_case,
    };
    proptest::collection::btree_map(name, server, 0..3).prop_map(move |it| it.into_iter().map(spec).collect())
}

fn reach() -> impl Strategy<Value = Reach> {
    let word = || text().prop_map(|it| it.replace('\0', ""));
    let program = word().prop_filter("a program has a name", |it| !it.trim().is_empty());
    let variable = text().prop_map(|it| it.replace(['=', '\0'], "_") + "V");
    let env = proptest::collection::btree_map(variable, word(), 0..3);
    let started = (program, vec(word(), 0..3), env, option::of(text())).prop_map(|(program, arguments, env, cwd)| {
        let command = std::iter::once(program).chain(arguments).collect();
        Reach::Program { command, env: env.into_iter().collect(), cwd }
    });
    let value = text().prop_map(|it| it.replace(|it: char| it.is_control(), " "));
    let headers = proptest::collection::btree_map("x-[a-z!]{1,5}", value, 0..3);
    let asked = ("https?://[a-z]{1,9}(:[0-9]{1,4})?(/[a-z%?=&]{0,9})?", headers)
        .prop_map(|(url, headers)| Reach::Http { url, headers: headers.into_iter().collect() });
    prop_oneof![started, asked]
}

fn model() -> impl Strategy<Value = Model> {
    let texts = vec((text(), text().prop_map(Val::from)), 0..3).prop_map(map);
    let price =
        (0..9_i64).prop_map(|it| map(vec![("input".to_owned(), Val::I(it)), ("output".to_owned(), Val::F(0.5))]));
    // In the order of the reference, which is the order in which they are kept.
    let settings = (
        text().prop_map(Val::from),
        texts,
        prop_oneof![Just(Val::I(0)), (0.0..2.0).prop_map(Val::F)],
        (0..i64::MAX).prop_map(Val::I),
        vec((text(), value()), 0..3).prop_map(map),
        price,
    );
    const NAMES: [&str; 6] = ["base_url", "headers", "temperature", "seed", "extra", "price"];
    let kept = subsequence((0..NAMES.len()).collect::<Vec<_>>(), 0..=NAMES.len());
    (text(), text(), settings, kept).prop_map(|(provider, model, settings, kept)| {
        let (base_url, headers, temperature, seed, extra, price) = settings;
        let values = [base_url, headers, temperature, seed, extra, price];
        let settings = kept.into_iter().map(|ix| (NAMES[ix], at(values[ix].clone()))).collect();
        Model { model: at(format!("p{provider}/m{model}")), settings }
    })
}

fn map(pairs: Vec<(String, Value)>) -> Value {
    Val::Map(pairs.into_iter().collect::<Map<'static>>())
}

fn records() -> impl Strategy<Value = Records> {
    let file = text()
        .prop_filter("standard input", |it| it != "-")
        .prop_map(|it| RowFile { path: it.clone().into(), written: at(it) });
    let formats = [RowFormat::JsonLines, RowFormat::Json, RowFormat::Csv, RowFormat::Parquet];
    let types = [CellType::Number, CellType::Integer, CellType::Boolean, CellType::Json];
    let types = proptest::collection::btree_map(text(), select(types.to_vec()), 0..3);
    let types = types.prop_map(|it| it.into_iter().map(|(column, kind)| (at(column), kind)).collect());
    let files = prop_oneof![Just(RowSource::StandardInput), vec(file, 1..3).prop_map(RowSource::Files)];
    let described = (files, option::of(select(formats.to_vec())), option::of(path().prop_map(at)), types, texts())
        .prop_map(|(from, format, id, types, tags)| Records { from, format, id, types, tags, is_runs: false });
    // A row of text would be a path.
    let row = value().prop_filter("a path", |it| it.kind() != Kind::Text).prop_map(at);
    let inline = vec(row, 1..4).prop_map(|rows| Records {
        from: RowSource::Inline(rows),
        format: None,
        id: None,
        types: Vec::new(),
        tags: Vec::new(),
        is_runs: false,
    });
    prop_oneof![described, inline]
}

fn ask() -> impl Strategy<Value = Ask> {
    let named = |name: String, prompt| AskPrompt { name, prompt };
    // `prompts: {file: p.md}` is refused as a slip.
    let name = id().prop_filter("a slip", |it| it != "file");
    let prompts = prop_oneof![
        prompt().prop_map(move |it| vec![named("prompt".to_owned(), it)]),
        vec(prompt(), 1..4)
            .prop_map(move |it| (1..).zip(it).map(|(nth, it): (usize, _)| named(nth.to_string(), it)).collect()),
        proptest::collection::hash_map(name, prompt(), 1..4)
            .prop_map(move |it| it.into_iter().map(|(name, it)| named(name, it)).collect()),
    ];
    let max_retries = prop_oneof![Just(3), any::<u32>()];
    let removed = vec((text(), option::of(text())), 0..2);
    let removed = removed.prop_map(|it| it.into_iter().map(|(server, tool)| ToolName { server, tool }).collect());
    (prompts, option::of(prompt()), texts(), option::of(output()), (texts(), removed), max_retries).prop_map(
        |(prompts, system, models, output, (tools, remove), max_retries)| Ask {
            prompts,
            system,
            models,
            output,
            tools,
            tool_filter: ToolFilter { remove },
            filtered: Vec::new(),
            max_retries,
            span: Span::default(),
            is_flawed: false,
        },
    )
}

fn task() -> impl Strategy<Value = Task> {
    let kinds = [CaseKind::Records, CaseKind::Cases, CaseKind::Scenarios];
    let on = prop_oneof![
        3 => Just(Selection::All),
        1 => select(kinds.to_vec()).prop_map(Selection::Kind),
        1 => texts().prop_map(Selection::Ids),
        1 => text().prop_map(|it| Selection::Tag(at(it))),
    ];
    let does = prop_oneof![
        3 => comparison().prop_map(|it| (TaskKind::Assert, Some(it))),
        1 => (judge(), option::of(comparison())).prop_map(|(judge, it)| (TaskKind::Judge(Box::new(judge)), it)),
        1 => (check(), option::of(comparison())).prop_map(|(check, it)| (TaskKind::Outcome(Box::new(check)), it)),
    ];
    let gate = select(vec![Gate::None, Gate::Condition, Gate::Required]);
    (id(), option::of(text()), does, ids(), gate, on, texts(), texts()).prop_map(
        |(id, description, (kind, comparison), depends_on, gate, on, tags, dimensions)| Task {
            id: at(id),
            description,
            kind,
            comparison,
            depends_on,
            gate,
            on,
            scope: None,
            tags,
            dimensions,
            span: Span::default(),
            is_flawed: false,
        },
    )
}

fn prompt() -> impl Strategy<Value = PromptText> {
    let written = vec(text(), 0..4).prop_map(|it| (it.concat(), None));
    let filed = Just((PROMPT.1.to_owned(), Some(PROMPT.0.to_owned())));
    prop_oneof![3 => written, 1 => filed].prop_map(|(text, file)| PromptText {
        prompt: Prompt::parse(text),
        span: Span::default(),
        holes: Vec::new(),
        file,
    })
}

fn judge() -> impl Strategy<Value = Judge> {
    let aggregates = [Aggregate::Majority, Aggregate::Mean, Aggregate::Median, Aggregate::All, Aggregate::Any];
    let counts = (prop_oneof![Just(3), any::<u32>()], prop_oneof![Just(1), 1..=u32::MAX]);
    let model = option::of(text().prop_map(at));
    (
        model,
        option::of(prompt()),
        prompt(),
        option::of(output()),
        counts,
        texts(),
        option::of(select(aggregates.to_vec())),
    )
        .prop_map(|(model, system, prompt, output, (max_retries, repeat), panel, aggregate)| Judge {
            model,
            system,
            prompt,
            output,
            max_retries,
            panel,
            repeat,
            aggregate,
        })
}

/// A schema as it is after its short form was read.
fn output() -> impl Strategy<Value = Output> {
    let leaf = prop_oneof![
        select(&["string", "integer", "number", "boolean", "null"][..])
            .prop_map(|it| json(&format!(r#"{{"type": "{it}"}}"#))),
        vec(value(), 1..4).prop_map(|it| map(vec![("enum".to_owned(), Val::List(it))])),
        text().prop_map(|it| map(vec![
            ("const".to_owned(), Val::from(it.clone())),
            ("description".to_owned(), Val::from(it))
        ])),
    ];
    let field = leaf.prop_recursive(2, 6, 3, |inner| {
        let list =
            inner.clone().prop_map(|it| map(vec![("type".to_owned(), Val::from("array")), ("items".to_owned(), it)]));
        prop_oneof![list, vec((text(), inner), 1..3).prop_map(object)]
    });
    vec((text(), field), 1..4).prop_map(|fields| {
        let schema = object(fields);
        let names =
            schema.get("properties").and_then(Val::as_map).map(|it| it.keys().map(str::to_owned).collect::<Vec<_>>());
        Output { schema, span: Span::default(), fields: names.unwrap_or_default().into_iter().map(at).collect() }
    })
}

fn object(fields: Vec<(String, Value)>) -> Value {
    let properties = map(fields);
    let names = properties.as_map().into_iter().flat_map(Map::keys).map(|it| Val::from(it.to_owned()));
    let required = Val::List(names.collect());
    map(vec![
        ("type".to_owned(), Val::from("object")),
        ("properties".to_owned(), properties),
        ("required".to_owned(), required),
        ("additionalProperties".to_owned(), Val::Bool(false)),
    ])
}

fn json(text: &str) -> Value {
    parse_json(text).expect("this is JSON").value.into_owned()
}

static OPERATORS: LazyLock<Vec<Operator>> = LazyLock::new(|| {
    // No operand suits `semantic_match`: reading it says to ask a judge instead.
    operators().into_iter().filter(|it| it.entry().name != "SemanticMatch").collect()
});

fn comparison() -> impl Strategy<Value = TaskComparison> {
    let operator = select(OPERATORS.as_slice());
    let expected = |operator: &Operator| {
        let literal = fitting_operand(operator).prop_map(|it| it.map(ExpectedValue::Literal));
        let found = path().prop_map(|it| Some(ExpectedValue::Path(it)));
        prop_oneof![3 => literal, 1 => found]
    };
    let place = || option::of(path().prop_map(at::<FieldPath>));
    let missing = select(vec![WhenMissing::Error, WhenMissing::Fail]);
    let compared = operator.prop_flat_map(move |it| (expected(&it), Just(it)));
    (place(), place(), compared, missing).prop_map(|(path, item_path, (expected, operator), when_missing)| {
        TaskComparison {
            path,
            item_path,
            operator: at(operator),
            expected: expected.map(at),
            when_missing,
            is_path_forgotten: false,
        }
    })
}
