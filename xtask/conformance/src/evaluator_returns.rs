//! What an evaluator returned, normalised against its outputs: results, rejections, or outputs that make no sense.

use jurat_core::evaluator::{
    BadConfig, Direction, Evaluation, LabelValue, Language, OutputConfig, OutputKind, Rejection, Triple, check_names,
    normalise, transport,
};
use jurat_format::value::{Val, Value};

use super::{Answer, object, part, text_part};

pub(super) fn run(case: &Val<'_>) -> Result<Answer, String> {
    let input = part(case, "input")?;
    let language = named(&Language::NAMED, text_part(input, "language")?)?;
    let configs = part(input, "configs")?.as_list().ok_or("`configs` is not a list")?;
    let configs: Vec<OutputConfig> = configs.iter().map(config).collect::<Result<_, _>>()?;
    let expect = part(case, "expect")?;
    let checked = configs.iter().try_for_each(OutputConfig::check).and_then(|()| check_names(&configs));
    if let Err(BadConfig { kind, message }) = checked {
        let wanted = expect.get("error").filter(|_| expect.get("stage").and_then(Val::as_str) == Some("config"));
        let right = wanted.and_then(|it| it.get("kind")).and_then(Val::as_str) == Some(kind.name());
        return Ok(Answer { expected: expect.to_string(), got: format!("config: {}: {message}", kind.name()), right });
    }
    let value = transport::read(part(input, "value")?, language).map_err(|error| error.to_string())?;
    let got = normalise(text_part(input, "evaluator")?, language, &configs, &value);
    Ok(Answer { expected: expect.to_string(), got: shown(&got).to_string(), right: is_expected(expect, &got) })
}

fn is_expected(expect: &Val<'_>, got: &[Evaluation]) -> bool {
    if let (Some(error), [Evaluation { result: Err(rejection), .. }]) = (expect.get("error"), got) {
        return is_rejection(error, rejection);
    }
    let results = expect.get("results").and_then(Val::as_list).unwrap_or(&[]);
    results.len() == got.len() && results.iter().zip(got).all(|(expected, got)| is_result(expected, got))
}

fn is_result(expected: &Val<'_>, got: &Evaluation) -> bool {
    let nothing = Triple::default();
    let (triple, error) = match &got.result {
        Ok(triple) => (triple, None),
        Err(rejection) => (&nothing, Some(rejection)),
    };
    let is_text = |key: &str, text: Option<&str>| expected.get(key).and_then(Val::as_str) == text;
    let score = expected.get("score").and_then(|it| transport::read(it, Language::Python).ok()?.as_f64());
    let is_score = match (score, triple.score) {
        (Some(expected), Some(got)) => expected == got || (expected.is_nan() && got.is_nan()),
        (expected, got) => expected.is_none() && got.is_none(),
    };
    let is_error = match (expected.get("error"), error) {
        (Some(expected), Some(got)) => is_rejection(expected, got),
        (expected, got) => expected.is_none() && got.is_none(),
    };
    is_text("name", Some(&got.name))
        && is_text("label", triple.label.as_deref())
        && is_score
        && is_error
        && is_text("explanation", triple.explanation.as_deref())
}

fn is_rejection(expected: &Val<'_>, got: &Rejection) -> bool {
    let message = got.to_string();
    let texts = |key: &str| expected.get(key).and_then(Val::as_list).map(|it| it.iter().filter_map(Val::as_str));
    let is_message = expected.get("message").and_then(Val::as_str).is_none_or(|it| it == message);
    let mentions_all = texts("mentions").is_none_or(|mut it| it.all(|it| message.contains(it)));
    // Whoever reads the message finds the shapes in it, so that is where they are looked for.
    let shapes = message.rsplit_once("Valid shapes:\n").map(|(_, it)| it.lines().map(str::trim_start));
    let lists_all = texts("shapes").is_none_or(|it| shapes.is_some_and(|got| got.eq(it)));
    expected.get("kind").and_then(Val::as_str) == Some(got.kind.name()) && is_message && mentions_all && lists_all
}

fn shown(got: &[Evaluation]) -> Value {
    let one = |it: &Evaluation| match &it.result {
        Ok(triple) => object([("name", Val::from(it.name.clone())), ("result", triple.to_value())]),
        Err(rejection) => {
            let (kind, message) = (Val::from(rejection.kind.name()), Val::from(rejection.to_string()));
            object([("name", Val::from(it.name.clone())), ("kind", kind), ("message", message)])
        }
    };
    got.iter().map(one).collect()
}

fn config(config: &Val<'_>) -> Result<OutputConfig, String> {
    let number = |key: &str| config.get(key).and_then(Val::as_f64);
    let (lower_bound, upper_bound) = (number("lower_bound"), number("upper_bound"));
    let kind = match text_part(config, "type")? {
        "categorical" => {
            let values = part(config, "values")?.as_list().ok_or("`values` is not a list")?;
            let value = |it: &Val<'_>| {
                let score = it.get("score").and_then(Val::as_f64);
                Ok(LabelValue { label: text_part(it, "label")?.to_owned(), score })
            };
            OutputKind::Categorical(values.iter().map(value).collect::<Result<_, String>>()?)
        }
        "continuous" => OutputKind::Continuous { lower_bound, upper_bound },
        "freeform" => OutputKind::Freeform { lower_bound, upper_bound, thresholds: Vec::new() },
        other => return Err(format!("there is no output `{other}`")),
    };
    let direction = config.get("optimization_direction").and_then(Val::as_str);
    let direction = direction.map(|it| named(&Direction::NAMED, &it.to_ascii_lowercase())).transpose()?;
    Ok(OutputConfig { name: text_part(config, "name")?.to_owned(), description: None, direction, kind })
}

fn named<T: Copy>(names: &[(&str, T)], name: &str) -> Result<T, String> {
    let found = names.iter().find(|(it, _)| *it == name).map(|(_, value)| *value);
    found.ok_or_else(|| format!("there is no `{name}`"))
}
