//! What an agent asked its model: the file that the proxy wrote, beside the other files of the agent.

use std::io::{BufRead as _, Read as _};
use std::time::Duration;

use jurat_format::value::{Val, Value, parse_json};

use super::output;
use super::{Shown, Work};
use crate::page::asked::{Asked, Exchange, REQUESTS};

/// Further bytes of such a file are not looked at: the file itself can be downloaded.
const MOST_BYTES: u64 = 256 << 20;

/// The requests of an agent from one on; nothing where no proxy recorded them, or the file is not there.
pub(super) fn asked(work: &Work<'_>, shown: &Shown<'_>, evidence: &Value, from: u64) -> Option<Asked> {
    let file = output::files(evidence).position(is_record)?;
    let path = output::path(work, shown.view, evidence, file)?;
    let mut lines = output::opened(&path)?.take(MOST_BYTES);
    let mut asked = Asked { file: u32::try_from(file).ok()?, ..Asked::default() };
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).ok()? > 0 {
        if asked.n >= from && asked.exchanges.len() < REQUESTS {
            asked.exchanges.push(read(&line));
        }
        asked.n += 1;
        line.clear();
    }
    Some(asked)
}

/// Whether a file is what passed the proxy.
fn is_record(file: &Value) -> bool {
    file.get("artifact_type").and_then(Val::as_str).is_some_and(|it| it.ends_with("_wire"))
}

/// One line of the file. What is no JSON is shown as the request.
fn read(line: &[u8]) -> Exchange {
    let text = String::from_utf8_lossy(line);
    let Ok(parsed) = parse_json(&text) else {
        return Exchange { request: text.into_owned(), ..Exchange::default() };
    };
    let text = |name: &str| parsed.value.get(name).and_then(Val::as_str).map(str::to_owned);
    let number = |name: &str| parsed.value.get(name).and_then(Val::as_f64).map(|it| it as u64);
    Exchange {
        at_ms: number("at_ms").unwrap_or_default(),
        method: text("method").unwrap_or_default(),
        path: text("path").unwrap_or_default(),
        model: text("model"),
        request: text("request").unwrap_or_default(),
        status: number("status"),
        reply: text("reply").unwrap_or_default(),
        error: text("error"),
        took: number("took_ms").map(Duration::from_millis),
        tokens: number("input_tokens").zip(number("output_tokens")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_earlier_versions_say_less() {
        let line = br#"{"at_ms":7,"method":"POST","path":"/v1/messages","request":"{}","status":200,"reply":"hi","error":null}"#;
        let expected = Exchange {
            at_ms: 7,
            method: "POST".to_owned(),
            path: "/v1/messages".to_owned(),
            request: "{}".to_owned(),
            status: Some(200),
            reply: "hi".to_owned(),
            ..Exchange::default()
        };
        assert_eq!(read(line), expected);
        let more = br#"{"at_ms":7,"method":"POST","path":"/x","model":"m","request":"","status":null,"reply":"","error":"gone","took_ms":1500,"input_tokens":9,"output_tokens":2}"#;
        let found = read(more);
        assert_eq!((found.took, found.tokens), (Some(Duration::from_millis(1500)), Some((9, 2))));
        assert_eq!(read(b"no JSON").request, "no JSON");
    }
}
