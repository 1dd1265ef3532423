//! How certain a metric is.
//!
//! A pass rate over twenty cases and one over twenty thousand look alike; the interval around them does not. Everything here is a
//! plain function of counts: nothing is drawn at random, nothing depends on the order in which cases finished.

mod interval;
mod mean;
mod quantile;

pub use interval::{Interval, wilson};
pub use mean::mean_interval;
pub use quantile::quantile;
