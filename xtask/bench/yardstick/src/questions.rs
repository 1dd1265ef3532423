//! Rows for a judge, and the suite that has them judged.
//!
//! No two rows are alike, so that no answer can stand for two of them.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::net::SocketAddr;
use std::path::Path;

use serde_json::{Value, json};

use crate::Said;

/// Writes `records.jsonl` and `suite.yaml`, whose judge listens at the address.
pub(crate) fn write(directory: &Path, rows: u64, address: SocketAddr) -> Said {
    fs::create_dir_all(directory)?;
    fs::write(directory.join("suite.yaml"), suite(address))?;
    let mut file = BufWriter::with_capacity(1 << 18, File::create(directory.join("records.jsonl"))?);
    for number in 0..rows {
        writeln!(
            file,
            r#"{{"id":"case-{number:07}","question":"Which town is meant in riddle {number}?","answer":"The town of riddle {number} is Bergen, because of its rain."}}"#
        )?;
    }
    file.flush()?;
    Ok(Value::Null)
}

fn suite(address: SocketAddr) -> String {
    format!(
        "\
suite: riddles
records: records.jsonl
models:
  judge: {{ model: openai/yardstick, base_url: 'http://{address}/v1' }}
tasks:
  - id: right
    judge:
      system: You judge answers to riddles about towns.
      prompt: |
        Question: ${{question}}
        Answer: ${{answer}}
        Does the answer name a town and give a reason?
      output: {{ verdict: {{ enum: [right, wrong] }}, reason: string }}
    field_path: verdict
    operator: equals
    expected_value: right
"
    )
}

/// What the judge says of every row: it fits the `output` of the suite, and passes.
pub(crate) fn verdict() -> Value {
    json!({ "verdict": "right", "reason": "a town is named, and rain is a reason" })
}

#[cfg(test)]
mod tests {
    use jurat_core::suite::load;
    use jurat_format::source::{Files, ReadError};

    use super::*;

    struct Suite(String);

    impl Files for Suite {
        fn read(&self, _: &Path, _: u64) -> Result<Vec<u8>, ReadError> {
            Ok(self.0.clone().into_bytes())
        }
    }

    #[test]
    fn the_suite_has_no_problems() {
        let suite = suite(SocketAddr::from(([127, 0, 0, 1], 8080)));
        assert!(suite.contains("base_url: 'http://127.0.0.1:8080/v1'"), "{suite}");
        let loaded = load(Path::new("suite.yaml"), &Suite(suite));
        assert!(loaded.problems.is_empty(), "{:#?}", loaded.problems);
    }
}
