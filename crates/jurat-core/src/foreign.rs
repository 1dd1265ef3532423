//! What other evaluation tools call things, and what does the same here.
//!
//! Someone who writes a name of another tool means something definite. The name that is spelled most like it may mean the opposite, or
//! compare differently, so this list is asked before the nearest spelling is offered.

use std::ops::Range;

use jurat_format::codes;
use jurat_format::problem::Problem;
use jurat_format::value::Node;

/// Names of other tools in lower case with hyphens, and what to write here.
const NAMES: &[(&[&str], &str)] = &[
    // Names of operators in programming languages and query languages.
    (&["eq", "equal", "is", "=", "==", "===", "exact", "exactly", "match"], "did you mean `equals`?"),
    (&["ne", "neq", "!=", "<>", "!==", "not-equals", "is-not"], "did you mean `not_equal`?"),
    (&["gt", ">", "above", "more-than"], "did you mean `greater_than`?"),
    (&["gte", "ge", ">=", "at-least", "min"], "did you mean `greater_than_or_equal`?"),
    (&["lt", "<", "below", "fewer-than"], "did you mean `less_than`?"),
    (&["lte", "le", "<=", "at-most", "max"], "did you mean `less_than_or_equal`?"),
    (&["=~", "regex", "regexp", "pattern", "search"], "did you mean `matches`?"),
    (
        &["in", "one-of", "is-in", "any-of"],
        "to ask for one of several texts, write `operator: matches` with `expected_value: '^(one|other)$'`",
    ),
    (&["between", "range", "within"], "did you mean `in_range`?"),
    (&["length", "len", "size", "count"], "did you mean `has_length_equal`?"),
    (&["includes", "include", "include-any", "has", "substring"], "did you mean `contains`?"),
    (
        &["excludes", "exclude", "does-not-contain", "not-include", "not-includes", "lacks"],
        "did you mean `not_contains`?",
    ),
    (
        &["not-contains-any", "contains-not-any", "does-not-contain-any", "excludes-all", "not-includes-any"],
        "did you mean `contains_none`?",
    ),
    // Negations for which there is no operator.
    (
        &["not-matches", "not-match", "not-regex", "does-not-match", "!~", "not-matches-regex", "not-regex-match"],
        "to ask that a pattern is not there, write `operator: matches` with `expected_value: '(?s)^(?!.*PATTERN)'`",
    ),
    (
        &["not-starts-with", "does-not-start-with", "not-startswith"],
        "to ask for another beginning, write `operator: matches` with `expected_value: '^(?!TEXT)'`",
    ),
    (
        &["not-ends-with", "does-not-end-with", "not-endswith"],
        "to ask for another end, write `operator: matches` with `expected_value: '(?s)^(?!.*TEXT$)'`",
    ),
    (
        &["not-in", "none-of", "not-one-of"],
        "to exclude several texts, write `operator: matches` with `expected_value: '^(?!(one|other)$)'`",
    ),
    (&["not-exists", "is-missing", "missing", "absent"], "write `operator: exists` with `expected_value: false`"),
    // promptfoo.
    (
        &["icontains", "contains-ignore-case", "contains-case-insensitive", "icontains-any"],
        "to ignore case, write `operator: { type: ContainsAny, substrings: [TEXT], normalize: [lowercase] }`",
    ),
    (
        &["icontains-all"],
        "to ignore case, write `operator: { type: ContainsAll, substrings: [TEXT], normalize: [lowercase] }`",
    ),
    (&["not-icontains"], "to ignore case, write `operator: matches` with `expected_value: '(?is)^(?!.*TEXT)'`"),
    (
        &["iequals", "equals-ignore-case"],
        "to ignore case, write `operator: exact_match`, which compares in lower case and without outer spaces",
    ),
    (&["contains-json"], "write `field_path: answer.@json` to look inside JSON, or `operator: is_json`"),
    (
        &[
            "similar",
            "cosine-similarity",
            "cosine",
            "embedding",
            "embeddings",
            "semantic-similarity",
            "answer-similarity",
            "similar-cosine",
            "similar-dot",
            "similar-euclidean",
        ],
        "define `evaluators: { embedding_similarity: { builtin: embedding_similarity } }` and write a task with `evaluate: embedding_similarity`: docs/reference/builtin-evaluators.md",
    ),
    (
        &[
            "llm-rubric",
            "model-graded",
            "model-graded-closedqa",
            "closedqa",
            "model-graded-closed-qa",
            "g-eval",
            "geval",
            "llm-judge",
            "llm-as-judge",
            "llm-as-a-judge",
            "llm-boolean",
            "model-graded-qa",
            "rubric",
            "criteria",
            "answer-correctness",
            "rubrics-score",
            "aspect-critic",
            "score-model",
            "label-model",
        ],
        "a model decides that: write a task with `judge: { prompt: …, output: … }`: docs/reference/suites.md",
    ),
    (
        &[
            "factuality",
            "model-graded-factuality",
            "model-graded-fact",
            "faithfulness",
            "context-faithfulness",
            "hallucination",
            "groundedness",
            "factual-correctness",
            "context-recall",
            "context-precision",
            "context-relevance",
            "answer-relevance",
            "answer-relevancy",
            "contextual-recall",
            "contextual-precision",
            "contextual-relevancy",
            "contextual-relevance",
            "summarization",
            "toxicity",
            "bias",
            "moderation",
            "pi",
            "select-best",
            "noise-sensitivity",
            "response-relevancy",
            "task-completion",
            "tool-correctness",
            "json-correctness",
            "role-adherence",
            "knowledge-retention",
        ],
        "a model decides that: write a task with `judge: { prompt: …, output: … }` that shows it what it needs: docs/reference/suites.md",
    ),
    (
        &["javascript", "js", "python", "py", "func", "function", "custom", "assert-script", "ruby"],
        "code of your own is an evaluator: write it under `evaluators` and a task with `evaluate: NAME`: docs/guides/write-evaluators.md",
    ),
    (
        &["levenshtein", "edit-distance", "string-similarity", "fuzzy"],
        "define `evaluators: { edit_similarity: { builtin: edit_similarity } }` and write a task with `evaluate: edit_similarity`: docs/reference/builtin-evaluators.md",
    ),
    (
        &["rouge-n", "rouge", "rouge-l", "rouge-score"],
        "define `evaluators: { rouge: { builtin: rouge } }` and write a task with `evaluate: rouge`: docs/reference/builtin-evaluators.md",
    ),
    (
        &["bleu", "bleu-score", "gleu"],
        "define `evaluators: { bleu: { builtin: bleu } }` and write a task with `evaluate: bleu`: docs/reference/builtin-evaluators.md",
    ),
    (
        &["chrf", "chrf-score"],
        "define `evaluators: { chrf: { builtin: chrf } }` and write a task with `evaluate: chrf`: docs/reference/builtin-evaluators.md",
    ),
    (
        &["f1", "token-f1", "f1-score"],
        "define `evaluators: { token_f1: { builtin: token_f1 } }` and write a task with `evaluate: token_f1`: docs/reference/builtin-evaluators.md",
    ),
    (
        &["json-schema", "is-valid-json", "is-valid-openai-tools-call", "schema"],
        "define `evaluators: { fits: { builtin: json_schema, parameters: { schema: … } } }` and write a task with `evaluate: fits`; `operator: is_json` asks for any JSON",
    ),
    (&["latency"], "compare the field: `field_path: latency_ms`, `operator: less_than`"),
    (&["cost"], "compare the field: `field_path: cost_usd`, `operator: less_than`"),
    (&["is-refusal", "refusal"], "ask a judge, or write `operator: matches` with the words of a refusal"),
    (
        &["perplexity", "perplexity-score", "logprobs"],
        "log probabilities are not recorded, so there is nothing that does this here",
    ),
    (
        &["trajectory", "tool-call", "tool-calls", "tool-call-accuracy", "tool-call-f1"],
        "write a task with `check: { kind: tool_called, … }`: docs/reference/checks.md",
    ),
];

/// What to write here for a name of another tool.
pub(crate) fn advice(name: &str) -> Option<&'static str> {
    let plain = name.trim().to_ascii_lowercase().replace(['_', ' '], "-");
    NAMES.iter().find(|(names, _)| names.contains(&plain.as_str())).map(|(_, advice)| *advice)
}

/// Whether a name negates something and the name that is nearest to it does not.
pub(crate) fn is_opposite(written: &str, near: &str) -> bool {
    is_negated(written) != is_negated(near)
}

fn is_negated(name: &str) -> bool {
    const NEGATIONS: [&str; 8] = ["not", "no", "non", "none", "without", "never", "isnt", "doesnt"];
    let mut words = vec![String::new()];
    for it in name.chars() {
        // `isNotEmpty`, `is_not_empty` and `is-not-empty` are the same words.
        if it.is_uppercase() || !it.is_alphanumeric() {
            words.push(String::new());
        }
        words.last_mut().into_iter().for_each(|word| word.extend(it.to_lowercase().filter(|it| it.is_alphanumeric())));
    }
    words.iter().any(|it| NEGATIONS.contains(&it.as_str()))
}

/// The keys by which the configuration of another tool is recognised, and how it is called.
const CONFIGURATIONS: &[(&[&str], &str)] =
    &[(&["prompts", "providers", "tests", "defaultTest", "scenarios", "targets"], "promptfoo")];

/// The keys that a suite has and these configurations do not.
const OWN_KEYS: [&str; 4] = ["suite", "records", "tasks", "cases"];

/// A file that was written for another tool: one problem that says so, instead of one for each of its keys.
pub(crate) fn other_configuration(node: &Node<'_>) -> Option<Problem> {
    if OWN_KEYS.iter().any(|it| node.get(it).is_some()) {
        return None;
    }
    let entries = node.entries()?;
    let of = |keys: &[&str]| entries.iter().filter(|it| keys.contains(&&*it.key)).count();
    let (keys, tool) = CONFIGURATIONS.iter().find(|(keys, _)| of(keys) >= 2)?;
    let first = entries.iter().find(|it| keys.contains(&&*it.key))?;
    let problem = Problem::new(&codes::NOT_SUPPORTED, format!("this is a {tool} configuration, not a suite of jurat"));
    let problem = problem.at(first.key_span, format!("a key of {tool}"));
    Some(problem.help(format!("docs/reference/from-{tool}.md shows what each part is called here")))
}

/// `provider/model` for a model as other tools write it: `openai:gpt-4o`, `openai:chat:gpt-4o`.
pub(crate) fn model_elsewhere(written: &str) -> Option<String> {
    const INTERFACES: [&str; 7] =
        ["chat", "completion", "completions", "messages", "responses", "embedding", "embeddings"];
    let (provider, rest) = written.split_once(':')?;
    let model = match rest.split_once(':') {
        Some((interface, model)) if INTERFACES.contains(&interface) => model,
        _ => rest,
    };
    let is_word = |it: &str| !it.is_empty() && it.chars().all(|it| it.is_ascii_alphanumeric() || "-_.".contains(it));
    (is_word(provider) && !model.is_empty() && !provider.contains('.')).then(|| format!("{provider}/{model}"))
}

/// The places of `{{name}}` in a text: placeholders of other tools.
pub(crate) fn placeholders(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        while let Some(start) = text[from..].find("{{").map(|it| from + it) {
            let end = text[start..].find("}}").map(|it| start + it + 2)?;
            from = start + 2;
            let name = text[start + 2..end - 2].trim();
            if !name.is_empty() && name.chars().all(|it| it.is_alphanumeric() || "_.-".contains(it)) {
                from = end;
                return Some(start..end);
            }
        }
        None
    })
}
