//! How the risk of being wrong is divided.

use crate::statistics::Confidence;

/// The risk of a condition, divided before the run and stored with it.
///
/// With rows to spare all of it goes to the monitor, and there is no look at the end: a fixed test on top would spend it twice. With few rows the
/// monitor alone would give away too much power, so half of it pays for one test of all rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Risk {
    /// What may be spent while the run is in progress.
    pub monitor: f64,
    /// What may be spent when all rows are there; `None` when nothing is left for it.
    pub end: Option<f64>,
}

impl Risk {
    /// `needed` is the number of rows that a fixed test with power 0.9 takes; `None` where that is not known.
    ///
    /// ```
    /// use jurat_core::statistics::Confidence;
    /// use jurat_core::stopping::Risk;
    ///
    /// let risk = Risk::divide(Confidence::USUAL, 500, Some(239));
    /// assert_eq!((risk.end, (risk.monitor * 100.0).round()), (None, 5.0));
    /// assert!(Risk::divide(Confidence::USUAL, 400, Some(239)).end.is_some());
    /// ```
    pub fn divide(confidence: Confidence, rows: u64, needed: Option<u64>) -> Risk {
        let alpha = confidence.alpha();
        match needed {
            Some(needed) if rows >= needed.saturating_mul(2) => Risk { monitor: alpha, end: None },
            _ => Risk { monitor: alpha / 2.0, end: Some(alpha / 2.0) },
        }
    }

    /// The confidence of the look at the end.
    pub fn end_confidence(&self) -> Option<Confidence> {
        self.end.and_then(|it| Confidence::new(1.0 - it))
    }
}
