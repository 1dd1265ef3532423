//! Commands that failed, where only what an agent told its model says so: Gemini CLI prints every result of a command as a success.

use std::collections::BTreeSet;

use jurat_model::proxy::Record;
use serde::Deserialize;

/// What a result of a tool begins with in a request.
const RESULT: &str = "\"functionResponse\":";

#[derive(Deserialize)]
struct ResultWire {
    id: Option<String>,
    response: Option<OutputWire>,
}

#[derive(Deserialize)]
struct OutputWire {
    output: Option<String>,
}

/// The ids of calls whose command ended with another code than 0.
pub(super) fn failed_commands(record: &Record) -> BTreeSet<String> {
    record.exchanges.iter().flat_map(|it| results(&it.request.text)).filter_map(failed).collect()
}

/// The results in a request. What was recorded of it may break off.
fn results(request: &str) -> impl Iterator<Item = ResultWire> {
    request.match_indices(RESULT).filter_map(|(at, _)| {
        let mut values = serde_json::Deserializer::from_str(&request[at + RESULT.len()..]).into_iter();
        values.next()?.ok()
    })
}

fn failed(result: ResultWire) -> Option<String> {
    let output = result.response?.output?;
    let code = output.lines().find_map(|it| it.strip_prefix("Exit Code: "))?;
    result.id.filter(|_| code.trim() != "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failing(request: &str) -> Vec<String> {
        results(request).filter_map(failed).collect()
    }

    #[test]
    fn a_command_that_failed_is_known_by_its_code() {
        let result = |id: &str, output: &str| {
            format!(
                r#"{{"functionResponse":{{"name":"run_shell_command","response":{{"output":"{output}"}},"id":"{id}"}}}}"#
            )
        };
        let request = format!(
            r#"{{"contents":[{{"parts":[{},{},{}]}}]"#,
            result("a", "Output: oops\\nExit Code: 3\\nProcess Group PGID: 1"),
            result("b", "Output: fine\\nExit Code: 0"),
            result("c", "no code"),
        );
        assert_eq!(failing(&request), ["a"]);
        assert_eq!(failing(&request[..request.len() - 200]), ["a"]);
        assert_eq!(failing("no JSON"), Vec::<String>::new());
    }
}
