//! Calls, and what comes of them.

use jurat_sandbox::{Arguments, CodeRunner as _, Language, Pool, PoolOptions, Program, Source};

#[test]
fn python_is_called_by_name() {
    let program = Program { path: env!("CARGO_BIN_EXE_jurat-worker").into(), arguments: Vec::new() };
    let pool = Pool::new(PoolOptions::of(program));
    let source = Source::new(Language::Python, "def evaluate(output):\n    return (output, float('nan'))\n");
    let prepared = pool.prepare(source).wait().unwrap();
    let results = pool.call(&prepared, vec![Arguments::from_json(r#"{"output": "yes"}"#).unwrap()]).wait();
    let value = &results[0].as_ref().unwrap().value;
    assert_eq!(value, r#"{"$py":"tuple","items":["yes",{"$py":"nan"}]}"#);
}
