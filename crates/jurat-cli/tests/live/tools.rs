//! A conversation whose subject calls tools of servers that others wrote: the time from a program over standard input and output, the reference server
//! over streamable HTTP.

use std::path::Path;

use serde_json::Value;

use crate::{Desk, address};

const SCRIPT: &str = r#"{"match": {"contains": "What is left?"}, "reply": "Only the sum is left."}
{"match": {"contains": "add two and three"}, "tool_calls": [{"name": "get-sum", "arguments": {"a": 2, "b": 3}}]}
{"match": {"contains": "add two and three"}, "reply": "Two and three are five."}
{"match": {"contains": "What time"}, "tool_calls": [{"name": "get_current_time", "arguments": {"timezone": "Europe/Paris"}}]}
{"match": {"contains": "What time"}, "reply": "I have looked at the clock of Paris."}
"#;

fn suite() -> String {
    let time = Path::new(&address("JURAT_TEST_MCP_PROGRAMS")).join("bin/mcp-server-time");
    format!(
        "\
suite: clocks
models: {{ subject: script/subject.jsonl }}
tools:
  clock: {{ command: ['{time}', --local-timezone, UTC], timeout: 120 }}
  everything: {{ url: '{url}/mcp', timeout: 120 }}
scenarios:
  clocks:
    tools: [clock, everything]
    entry: time
    nodes:
      time:
        question: What time is it in Paris?
        template: {{ looked: {{ verify_with: {{ type: TraceContains, substring: clock of Paris }} }} }}
      sum:
        question: Now add two and three.
        tool_filter: {{ remove: [{{ server: clock, tool: get_current_time }}] }}
        template: {{ five: {{ verify_with: {{ type: TraceContains, substring: five }} }} }}
      left:
        question: What is left?
        tool_filter: {{ remove: [{{ server: clock }}] }}
    edges: [time -> sum, sum -> left, left -> __end__]
    outcomes:
      answered: {{ at_least_n: {{ n: 2, of: [{{ first_turn: {{ verify_result: true }} }}, {{ turn_at: {{ index: 1, verify_result: true }} }}] }} }}
      finished: {{ status_is: completed }}
",
        time = time.display(),
        url = address("JURAT_TEST_MCP"),
    )
}

#[test]
fn tools_are_called_and_filters_hold() {
    let desk = Desk::with(&suite());
    desk.write("subject.jsonl", SCRIPT);
    let (effects, results) = desk.run_and_replay();
    assert_eq!(results["results"]["counts"]["passed"], 2, "{results}");

    let asked: Vec<&Value> = effects.iter().filter(|it| it["request"]["role"] == "subject").collect();
    let turns: Vec<u64> = asked.iter().map(|it| it["scenario_turn"].as_u64().expect("a turn")).collect();
    assert_eq!(turns, [0, 0, 1, 1, 2], "each call of a tool is followed by another request");
    let offers = |request: &Value, tool: &str| {
        let tools = request["request"]["tools"].as_array().expect("tools are offered");
        tools.iter().any(|it| it["name"] == tool)
    };
    for (request, turn) in asked.iter().zip(turns) {
        assert_eq!(offers(request, "get_current_time"), turn == 0, "turn {turn}");
        assert_eq!(offers(request, "convert_time"), turn < 2, "turn {turn}");
        assert!(offers(request, "get-sum"), "turn {turn}");
    }
    let shown = |turn: usize| asked[turn]["request"]["messages"].to_string();
    assert!(shown(1).contains("Europe/Paris"), "{}", shown(1));
    assert!(shown(3).contains("sum of 2 and 3 is 5"), "{}", shown(3));
}
