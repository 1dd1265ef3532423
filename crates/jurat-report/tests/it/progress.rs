//! How far a run has come, in one line.

use std::time::Duration;

use jurat_report::{BatchCounts, PassRate, Progress, visible_line};
use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

use crate::laws::{laws, text};

fn busy() -> Progress {
    Progress {
        done: 1_234,
        total: Some(10_000),
        failed: 56,
        errors: 1,
        requests: 2_000,
        in_flight: 64,
        cost_usd: 1.25,
        slow_case: Some("r17\x1b[2J".to_owned()),
        watched: None,
        batches: None,
        elapsed: Duration::from_secs(1),
    }
}

#[test]
fn what_matters_least_is_left_out_first() {
    for (width, line) in [
        (
            200,
            "━━──────────────────  12 %  1,234/10,000  56 failed  1 error  $1.25  1,234/s  7 s left  64 in flight  waiting for r17␛[2J",
        ),
        (120, "12 %  1,234/10,000  56 failed  1 error  $1.25  1,234/s  7 s left  64 in flight  waiting for r17␛[2J"),
        (95, "12 %  1,234/10,000  56 failed  1 error  $1.25  1,234/s  7 s left  waiting for r17␛[2J"),
        (80, "12 %  1,234/10,000  56 failed  1 error  $1.25  1,234/s  7 s left"),
        (40, "12 %  1,234/10,000  56 failed  1 error"),
        (12, "1,234/10,000"),
        (5, "1,23…"),
    ] {
        assert_eq!(busy().bar(width), line, "{width}");
    }
}

#[test]
fn elsewhere_it_is_a_sentence() {
    let plain = "12 %, 1,234/10,000, 56 failed, 1 error, $1.25, 1,234/s, 7 s left, 64 in flight, waiting for r17␛[2J";
    assert_eq!(busy().plain(), plain);
}

#[test]
fn a_run_that_may_stop_shows_what_is_known() {
    let watched = Some(PassRate { rate: 0.925, low: 0.861, high: 0.9704 });
    let progress = Progress { done: 40, total: Some(500), watched, ..Progress::default() };
    assert_eq!(progress.plain(), "8 %, 40/500, 92.5 % passed (86.1–97.0)".replace("8 %", " 8 %"));
}

#[test]
fn batches_are_counted_with_their_requests() {
    let batches = Some(BatchCounts { batches: 2, done: 1_500, requests: 60_000 });
    let progress = Progress { done: 0, total: Some(500), batches, ..Progress::default() };
    assert_eq!(progress.plain(), " 0 %, 0/500, 2 batches (1,500/60,000 requests)");
    let batches = Some(BatchCounts { batches: 1, done: 0, requests: 3 });
    assert_eq!(Progress { batches, ..Progress::default() }.plain(), "0 cases, 1 batch (0/3 requests)");
}

#[test]
fn without_an_end_there_is_no_bar() {
    let progress = Progress { done: 1, elapsed: Duration::from_secs(5), ..Progress::default() };
    assert_eq!(progress.bar(80), "1 case  12/min");
    assert_eq!(progress.plain(), "1 case, 12/min");
}

#[test]
fn all_is_done_only_at_the_end() {
    let at = |done: u64, total: u64| Progress { done, total: Some(total), ..Progress::default() }.bar(80);
    assert_eq!(at(999, 1_000), "━━━━━━━━━━━━━━━━━━━─  99 %  999/1,000");
    assert_eq!(at(1_000, 1_000), "━━━━━━━━━━━━━━━━━━━━  100 %  1,000/1,000");
    assert_eq!(at(0, 0), "━━━━━━━━━━━━━━━━━━━━  100 %  0/0");
    assert!(at(u64::MAX, u64::MAX - 1).starts_with("100 %"));
}

proptest! {
    #![proptest_config(laws())]

    #[test]
    fn it_stays_on_its_line(done in any::<u64>(), total in any::<Option<u64>>(), case in text(), seconds in any::<u64>(), width in 1_usize..200) {
        let progress = Progress { done, total, elapsed: Duration::from_secs(seconds), slow_case: Some(case), ..busy() };
        let bar = progress.bar(width);
        prop_assert!(bar.width() <= width, "{bar}");
        prop_assert_eq!(&*visible_line(&bar), &*bar);
        let plain = progress.plain();
        prop_assert_eq!(&*visible_line(&plain), &*plain);
    }
}
