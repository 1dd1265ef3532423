//! Answer templates and rubrics: what is read from an answer, what it must be, and how it is rated.
//!
//! A model reads an answer and fills in fields; plain code decides whether they are right. The model that reads never sees what would be
//! right, so it cannot be led by it. A rubric rates the same answer by traits and never changes the verdict.
//!
//! * [`definition`]: what a template is, which fields can be built step by step; [`verification`]: what it says about an answer;
//! * [`parser`]: what the model that reads answers is asked; [`mod@reference`]: the judgement of a question without a template;
//! * [`traits`]: what answers are rated by; [`rating`]: what is asked for that, and what comes of it.
//!
//! Nothing here asks anybody: requests are values, and so are conclusions.

mod builder;
pub mod definition;
pub mod parser;
pub mod rating;
pub(crate) mod read;
pub mod reference;
pub(crate) mod rubric;
pub mod traits;
pub mod verification;

mod quoting;

pub use definition::{Field, GroundTruth, GroundTruthCase, Strategy, Template, TemplateError};
pub use rating::{RatedTurn, Ratings, Rubric, RubricError, RubricRequest};
pub(crate) use read::{FORM, SECTION, objects, read, strategy_schema};
pub use traits::{Metric, Trait, TraitKind};
pub use verification::{FieldVerdict, JudgedBy, Verified};
