//! When a run knows enough to stop.
//!
//! A run that looks at its results again and again, and stops when they please, is wrong far more often than it says. Here a look after every row costs nothing:
//! evidence is an e-value, which reaches 1/α with a probability of at most α while its hypothesis is true, however often it is looked at.
//!
//! That holds when rows come in a random order that was fixed before the first of them ran ([`Order`]), when results are taken in that order and not as they
//! arrive ([`Prefix`]: slow cases are often hard cases), and when the risk was divided before the run ([`Risk`]).
//!
//! * [`StopWhen`]: what ends a run, as the option says it;
//! * [`Claim`]: what is to be shown, and the bets on it;
//! * [`Monitor`]: one condition, row by row, until it is decided;
//! * [`Monitoring`]: all conditions of a run;
//! * [`StoppedEarly`]: what there is to say about a run that stopped.

mod certain;
mod claim;
mod estimate;
mod monitor;
mod monitoring;
mod order;
mod prefix;
mod risk;
mod rules;
mod summary;

pub use certain::{Look, Rest};
pub use claim::{Claim, Evidence, Range, Step};
pub use estimate::Estimate;
pub use monitor::{Decision, LEAST_STEPS, Monitor, Rule};
pub use monitoring::{Monitored, Monitoring, RowSteps};
pub use order::{Order, Shuffle};
pub use prefix::Prefix;
pub use risk::Risk;
pub use rules::{StopWhen, UnknownRule};
pub use summary::{StoppedCondition, StoppedEarly};
