//! No order of leases, settlements, deaths and restarts exceeds the budget or a limit.

use proptest::prelude::*;

use super::*;
use crate::allowance::LedgerFile;

const LIMITS: Limits = Limits {
    nano_usd: Some(10_000),
    tokens: Some(5_000),
    calls: Some(200),
    concurrency: Some(7),
    rpm: None,
    tpm: None,
};

/// A process as the ledger knows it: what it reserved and spent under its lease.
#[derive(Debug, Clone, Default)]
struct Process {
    seq: u64,
    lease: Option<Grant>,
    /// What it spent since the lease was granted.
    spent: Amount,
    /// What of that it reported.
    reported: Amount,
    /// The bounds of its requests in flight.
    in_flight: Vec<Amount>,
    /// The last request, which is repeated when its reply is lost.
    lost: Option<LeaseRequest>,
}

impl Process {
    fn reserved(&self) -> Amount {
        self.in_flight.iter().fold(Amount::default(), |sum, it| sum.plus(*it))
    }

    fn request(&mut self, name: usize, bound: Amount) -> LeaseRequest {
        if let Some(lost) = self.lost.take() {
            return lost;
        }
        self.seq += 1;
        let worker = name.to_string();
        let spent = self.spent;
        self.reported = spent;
        let previous =
            self.lease.map(|it| Settlement { worker: worker.clone(), lease: it.lease, spent, throttled: 0, failed: 0 });
        let (reserved, wanted) = (self.reserved(), bound.plus(bound).plus(bound));
        LeaseRequest { worker, shard: name as u32, seq: self.seq, previous, reserved, least: bound, wanted }
    }

    fn granted(&mut self, grant: Grant) {
        (self.lease, self.spent) = (Some(grant), self.spent.minus(self.reported));
    }

    /// Begins a request, if the lease has room for it.
    fn begin(&mut self, bound: Amount) {
        let Some(lease) = self.lease.filter(|_| self.lost.is_none()) else { return };
        let has_room = lease.concurrency.is_none_or(|it| self.in_flight.len() < it as usize);
        if has_room && self.spent.plus(self.reserved()).plus(bound).is_within(lease.amount) {
            self.in_flight.push(bound);
        }
    }

    /// Ends a request, which costs a part of its bound. Returns what it cost.
    fn end(&mut self, percent: u64) -> Amount {
        let Some(Amount { nano_usd, tokens, calls }) = self.in_flight.pop() else { return Amount::default() };
        let cost = Amount { nano_usd: nano_usd * percent / 100, tokens: tokens * percent / 100, calls };
        self.spent = self.spent.plus(cost);
        cost
    }
}

/// What happens.
#[derive(Debug, Clone)]
enum Step {
    Lease {
        process: usize,
        bound: Amount,
        is_reply_lost: bool,
    },
    Begin {
        process: usize,
        bound: Amount,
    },
    End {
        process: usize,
        percent: u64,
    },
    Finish {
        process: usize,
    },
    /// Its requests are paid for as far as they may cost.
    Die {
        process: usize,
    },
    Restart,
    Wait {
        ms: u64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let process = 0..8_usize;
    let bound = (1_u64..900, 1_u64..300).prop_map(|(nano_usd, tokens)| Amount { nano_usd, tokens, calls: 1 });
    prop_oneof![
        4 => (process.clone(), bound.clone(), prop::bool::weighted(0.2))
            .prop_map(|(process, bound, is_reply_lost)| Step::Lease { process, bound, is_reply_lost }),
        6 => (process.clone(), bound).prop_map(|(process, bound)| Step::Begin { process, bound }),
        6 => (process.clone(), 0_u64..=100).prop_map(|(process, percent)| Step::End { process, percent }),
        1 => process.clone().prop_map(|process| Step::Finish { process }),
        1 => process.prop_map(|process| Step::Die { process }),
        1 => Just(Step::Restart),
        2 => (0_u64..15_000).prop_map(|ms| Step::Wait { ms }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn nothing_is_overspent_by_processes_that_lease(steps in prop::collection::vec(step(), 1..150)) {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("books");
        let mut books = LedgerFile::open(&path).expect("new books");
        let (mut at_ms, mut processes, mut paid) = (1_000, vec![Process::default(); 8], Amount::default());
        books.apply(at_ms, Input::Limits(LIMITS)).expect("written");
        for step in steps {
            match step {
                Step::Lease { process, bound, is_reply_lost } => {
                    let request = processes[process].request(process, bound);
                    let reply = books.apply(at_ms, Input::Lease(request.clone())).expect("written").expect("a reply");
                    match is_reply_lost {
                        true => processes[process].lost = Some(request),
                        false => processes[process].granted(reply.grant),
                    }
                }
                Step::Begin { process, bound } => processes[process].begin(bound),
                Step::End { process, percent } => paid = paid.plus(processes[process].end(percent)),
                Step::Finish { process } => {
                    let next = Process { seq: processes[process].seq + 1_000, ..Process::default() };
                    let it = std::mem::replace(&mut processes[process], next);
                    // What it has in flight it waits for; a reply that was lost it asks for again, and settles that lease.
                    if let (Some(lease), None) = (it.lease, &it.lost) {
                        paid = paid.plus(it.reserved());
                        let spent = it.spent.plus(it.reserved());
                        let worker = process.to_string();
                        let settled = Settlement { worker, lease: lease.lease, spent, throttled: 0, failed: 0 };
                        // Twice is the same as once.
                        books.apply(at_ms, Input::Settle(settled.clone())).expect("written");
                        let before = books.ledger().spent();
                        books.apply(at_ms, Input::Settle(settled)).expect("written");
                        prop_assert_eq!(books.ledger().spent(), before);
                    } else {
                        paid = paid.plus(it.reserved());
                    }
                }
                Step::Die { process } => {
                    paid = paid.plus(processes[process].reserved());
                    // Another process has another name; this one only counts on, as if it were that one.
                    let seq = processes[process].seq + 1_000;
                    processes[process] = Process { seq, ..Process::default() };
                }
                Step::Restart => {
                    let before = books.ledger().clone();
                    drop(books);
                    books = LedgerFile::open(&path).expect("the books");
                    prop_assert_eq!(books.ledger(), &before);
                }
                Step::Wait { ms } => at_ms += ms,
            }
            let ledger = books.ledger();
            let promised = ledger.spent().plus(ledger.leased());
            prop_assert!(promised.is_within(LIMITS.budget()), "{:?}", ledger);
            prop_assert!(ledger.concurrency_granted() <= 7, "{:?}", ledger);
            prop_assert!(paid.is_within(LIMITS.budget()), "{:?} was paid", paid);
        }
    }

    /// Whatever is cut off the end of the file, the books are those of some moment before.
    #[test]
    fn books_that_are_cut_off_are_those_of_an_earlier_moment(n in 1_u64..20, cut in 0.0..1.0_f64) {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("books");
        let mut books = LedgerFile::open(&path).expect("new books");
        let mut moments = vec![books.ledger().clone()];
        for ix in 0..n {
            let bound = Amount { nano_usd: 10, tokens: 10, calls: 1 };
            let input = if ix == 0 { Input::Limits(LIMITS) } else { Input::Lease(Process::default().request(ix as usize, bound)) };
            books.apply(ix, input).expect("written");
            moments.push(books.ledger().clone());
        }
        drop(books);
        let bytes = std::fs::read(&path).expect("its bytes");
        std::fs::write(&path, &bytes[..(bytes.len() as f64 * cut) as usize]).expect("it can be written");
        let left = LedgerFile::open(&path).expect("the books");
        prop_assert!(moments.contains(left.ledger()));
    }
}

fn lease(ledger: &mut Ledger, at_ms: u64, worker: &str, seq: u64, calls: u64) -> LeaseReply {
    let request = LeaseRequest {
        worker: worker.to_owned(),
        shard: 0,
        seq,
        previous: None,
        reserved: Amount::default(),
        least: Amount { calls: 1, ..Amount::default() },
        wanted: Amount { calls, ..Amount::default() },
    };
    ledger.apply(at_ms, &Input::Lease(request)).expect("a reply")
}

#[test]
fn a_minute_has_no_more_requests_than_its_limit_whenever_they_are_made() {
    let mut ledger = Ledger::default();
    ledger.apply(0, &Input::Limits(Limits { rpm: Some(100), ..Limits::default() }));
    let mut granted = Vec::new();
    for (seq, at_ms) in (0..300_000).step_by(500).enumerate() {
        let reply = lease(&mut ledger, at_ms, "w", seq as u64 + 1, 30);
        granted.push((at_ms, reply.grant.amount.calls));
    }
    assert!(granted.iter().map(|it| it.1).sum::<u64>() >= 400, "{granted:?}");
    // A lease that is granted at any time is used at any time while it is valid.
    for (from, _) in &granted {
        let within = granted.iter().filter(|it| (*from..from + 60_000 + VALID_MS).contains(&it.0));
        assert!(within.map(|it| it.1).sum::<u64>() <= 100, "from {from}");
    }
}

#[test]
fn requests_in_flight_are_divided_among_processes_and_given_back() {
    let mut ledger = Ledger::default();
    ledger.apply(0, &Input::Limits(Limits { concurrency: Some(8), ..Limits::default() }));
    let concurrency = |ledger: &mut Ledger, at_ms, worker, seq| lease(ledger, at_ms, worker, seq, 5).grant.concurrency;
    assert_eq!(concurrency(&mut ledger, 0, "a", 1), Some(8));
    assert_eq!(concurrency(&mut ledger, 1, "b", 1), Some(0), "the first has them all");
    assert_eq!(concurrency(&mut ledger, 2, "a", 2), Some(4));
    assert_eq!(concurrency(&mut ledger, 3, "b", 2), Some(4));
    // One that is not heard of any more has none.
    assert_eq!(concurrency(&mut ledger, 10_002, "b", 3), Some(8));
}

#[test]
fn a_lease_that_ran_out_was_spent_until_its_process_returns() {
    let mut ledger = Ledger::default();
    ledger.apply(0, &Input::Limits(Limits { calls: Some(20), ..Limits::default() }));
    let first = lease(&mut ledger, 0, "a", 1, 20).grant;
    assert_eq!(lease(&mut ledger, 1, "b", 1, 5).state, LeaseState::Wait);
    assert_eq!(lease(&mut ledger, 20_000, "b", 2, 5).state, LeaseState::Exhausted);
    let calls = |calls| Amount { calls, ..Amount::default() };
    let spent = Settlement { worker: "a".to_owned(), lease: first.lease, spent: calls(3), throttled: 0, failed: 0 };
    ledger.apply(20_001, &Input::Settle(spent));
    assert_eq!(ledger.spent(), calls(3));
    assert_eq!(lease(&mut ledger, 20_002, "b", 3, 5).state, LeaseState::Granted);
    ledger.apply(20_003, &Input::Stop);
    assert_eq!(lease(&mut ledger, 20_004, "c", 1, 5).state, LeaseState::Stopped);
}

#[test]
fn fewer_requests_are_in_flight_while_the_endpoint_refuses_some() {
    let mut ledger = Ledger::default();
    ledger.apply(0, &Input::Limits(Limits { concurrency: Some(16), ..Limits::default() }));
    let renewed = |ledger: &mut Ledger, at_ms, seq, throttled| {
        let (worker, spent) = ("a".to_owned(), Amount { calls: 1, ..Amount::default() });
        let previous = Some(Settlement { worker: worker.clone(), lease: seq - 1, spent, throttled, failed: 0 });
        let request =
            LeaseRequest { worker, shard: 0, seq, previous, reserved: Amount::default(), least: spent, wanted: spent };
        ledger.apply(at_ms, &Input::Lease(request)).expect("a reply").grant.concurrency
    };
    assert_eq!(renewed(&mut ledger, 10_000, 1, 0), Some(16));
    assert_eq!(renewed(&mut ledger, 12_000, 2, 5), Some(12));
    assert_eq!(renewed(&mut ledger, 12_001, 3, 5), Some(12), "once in two seconds");
    assert_eq!(renewed(&mut ledger, 14_001, 4, 1), Some(9));
    assert_eq!(renewed(&mut ledger, 16_001, 5, 0), Some(10));
}
