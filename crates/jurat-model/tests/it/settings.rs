//! The settings of a model, read from a suite.

use std::path::Path;

use jurat_core::model::ModelSettings;
use jurat_core::suite::load;
use jurat_format::source::{Files, ReadError};
use jurat_format::value::{Val, parse_json};

struct Suite(String);

impl Files for Suite {
    fn read(&self, _: &Path, _: u64) -> Result<Vec<u8>, ReadError> {
        Ok(self.0.clone().into_bytes())
    }
}

/// The settings of a model that stand in a suite as this JSON.
pub(crate) fn settings(json: &str) -> ModelSettings {
    let Val::Map(mut members) = parse_json(json).expect("settings are JSON").value.into_owned() else {
        panic!("settings are an object: {json}");
    };
    members.insert("model".into(), Val::from("openai/m"));
    let suite = Suite(format!(r#"{{"models": {{"it": {}}}}}"#, Val::Map(members).to_json()));
    let loaded = load(Path::new("suite.json"), &suite);
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    loaded.suite.models[0].models[0].settings.clone()
}
