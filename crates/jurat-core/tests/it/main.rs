//! The laws of the core, and its words.
//!
//! [`agents`], [`paths`], [`projections`], [`numbers`], [`prompts`], [`comparisons`], [`definitions`], [`cases`], [`artifacts`], [`campaigns`], [`checks`], [`effects`], [`evaluations`], [`evaluators`], [`builtins`], [`evaluate`], [`templates`], [`rubrics`], [`outcomes`], [`scenarios`], [`statistics`], [`conversations`], [`routes`], [`decisions`], [`labels`], [`calibration`]. They draw
//! from [`arbitrary`] and from the comparisons of [`vocabulary`]. Words are data: [`words`] has what each comparison says,
//! [`defects`] has what goes wrong elsewhere, [`format`] that the reader and the JSON Schema agree, [`faults`] what is no verdict on a subject, [`examples`] reads the examples of the catalogue, [`plans`] has what plans hold, [`ready_judges`] what judges of files ask and conclude.
//!
//! Properties try the same inputs in every run, so that a change fails for its own reasons. `PROPTEST_RNG_SEED=7` tries
//! others, `PROPTEST_CASES=10000` more; the fuzz targets look further still.

mod agents;
mod arbitrary;
mod artifacts;
mod builtins;
mod calibration;
mod campaigns;
mod cases;
mod checks;
mod comparisons;
mod contrast;
mod conversations;
mod decisions;
mod defects;
mod definitions;
mod effects;
mod evaluate;
mod evaluations;
mod evaluators;
mod examples;
mod faults;
mod format;
mod inquiries;
mod labels;
mod numbers;
mod outcomes;
mod paths;
mod plans;
mod projections;
mod prompts;
mod ready_judges;
mod routes;
mod rubrics;
mod scenarios;
mod statistics;
mod statistics_laws;
mod templates;
mod vocabulary;
mod words;

use std::path::Path;

use jurat_format::source::{Files, ReadError};
use proptest::test_runner::{Config, RngSeed};

/// How properties are tried. What fails becomes a test of its own rather than a file of seeds.
fn laws() -> Config {
    let config = Config { failure_persistence: None, ..Config::default() };
    match config.rng_seed {
        RngSeed::Random => Config { rng_seed: RngSeed::Fixed(1), ..config },
        RngSeed::Fixed(_) => config,
    }
}

/// Files that are only names and texts.
struct InMemory<'t>(&'t [(&'t str, &'t str)]);

impl Files for InMemory<'_> {
    fn read(&self, path: &Path, _: u64) -> Result<Vec<u8>, ReadError> {
        let file = self.0.iter().find(|(name, _)| Path::new(name) == path);
        file.map(|(_, text)| text.as_bytes().to_vec()).ok_or(ReadError::NotFound)
    }
}
