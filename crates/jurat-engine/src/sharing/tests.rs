//! A run and a journal that is shared, with one that is reached, lost and refuses on command.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use jurat_core::effect::{Asker, StepSite};
use jurat_core::plan::CaseIx;
use jurat_store::journal::PaidAnswer;
use jurat_store::run::RecordedEffect;

use super::*;

/// What a shared journal has and how it behaves, for every connection to it.
#[derive(Default)]
struct Server {
    answers: BTreeSet<PaidAnswer>,
    is_gone: bool,
    refuses: bool,
    /// How many lookups fail although it is there, because their connections are gone.
    n_cut: usize,
    /// Held while lookups are not answered.
    silence: Arc<Mutex<()>>,
    /// How many more answers it takes before it is gone.
    room: Option<usize>,
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Server>>);

impl Shared {
    fn with<T>(&self, with: impl FnOnce(&mut Server) -> T) -> T {
        with(&mut self.0.lock().expect("no test panics with it"))
    }

    fn start(&self, journal: &Journal) -> (Sharing, Option<SharedError>) {
        let shared = self.clone();
        let connect =
            move |_| shared.with(|it| it.reached()).map(|()| Box::new(shared.clone()) as Box<dyn SharedJournal>);
        Sharing::start(Box::new(connect), journal.path())
    }

    fn n(&self) -> usize {
        self.with(|it| it.answers.len())
    }
}

impl Server {
    fn reached(&self) -> Result<(), SharedError> {
        if self.is_gone { Err(SharedError::Unreachable("gone".to_owned())) } else { Ok(()) }
    }
}

impl SharedJournal for Shared {
    fn id(&self) -> &str {
        "shared"
    }

    fn find(&mut self, keys: &[EffectKey]) -> Result<Vec<(EffectKey, JournalAnswer)>, SharedError> {
        let silence = self.with(|it| Arc::clone(&it.silence));
        drop(silence.lock());
        self.with(|it| {
            it.reached()?;
            if it.n_cut > 0 {
                it.n_cut -= 1;
                return Err(SharedError::Unreachable("cut".to_owned()));
            }
            let found = it.answers.iter().filter(|it| keys.contains(&it.key));
            let answer = |it: &PaidAnswer| JournalAnswer { outcome: it.outcome.clone(), at_ms: it.at_ms, served: None };
            Ok(found.map(|it| (it.key, answer(it))).collect())
        })
    }

    fn add(&mut self, answers: &[PaidAnswer], _: Duration) -> Result<u64, SharedError> {
        self.with(|it| {
            it.reached()?;
            if it.refuses {
                return Err(SharedError::Refused("read only".to_owned()));
            }
            let before = it.answers.len();
            for answer in answers {
                if it.room.is_some_and(|room| it.answers.len() >= room) {
                    // Some of them are there, and the sender does not learn which.
                    it.is_gone = true;
                    it.reached()?;
                }
                it.answers.insert(answer.clone());
            }
            Ok((it.answers.len() - before) as u64)
        })
    }
}

/// A journal with answers to the requests from one number to another.
struct Local {
    journal: Journal,
    _directory: tempfile::TempDir,
}

impl Local {
    fn new(n: u8) -> Local {
        let directory = tempfile::tempdir().expect("a directory");
        let journal = Journal::open(&directory.path().join("journal.db")).expect("a journal");
        let local = Local { journal, _directory: directory };
        local.write(0..n);
        local
    }

    fn write(&self, numbers: std::ops::Range<u8>) {
        for number in numbers {
            self.write_one(&effect(number));
        }
    }

    fn write_one(&self, effect: &RecordedEffect) {
        self.journal.answers().expect("a writer").write(effect).expect("it is written");
    }
}

fn effect(number: u8) -> RecordedEffect {
    RecordedEffect {
        case_ix: CaseIx::numbered(0),
        site: StepSite { asker: Asker::Case, slot: 0, turn: 0 },
        attempt: 0,
        key: EffectKey([number; 32]),
        kind: "model".to_owned(),
        model: "judge".to_owned(),
        served: None,
        at_ms: 100 + u64::from(number),
        request: asked_at(r#""address":"https://models.example.com/v1""#),
        outcome: format!("answer {number}"),
        reused: false,
        journal: true,
        media: Vec::new(),
    }
}

/// A request to an endpoint.
fn asked_at(endpoint: &str) -> String {
    format!(r#"{{"role":"judge","endpoint":{{"codec":"openai_chat","revision":1,{endpoint}}},"messages":[]}}"#)
}

fn found(sharing: &Sharing, number: u8, not_before_ms: Option<u64>) -> Option<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(sharing.find(EffectKey([number; 32]), not_before_ms)).map(|it| it.outcome)
}

fn ended(n_unsent: Option<u64>, problem: Option<&str>) -> Ended {
    Ended { n_unsent, n_unanswered: 0, problem: problem.map(str::to_owned) }
}

#[test]
fn what_one_project_wrote_another_finds() {
    let (shared, ours, theirs) = (Shared::default(), Local::new(200), Local::new(0));
    let (sharing, problem) = shared.start(&ours.journal);
    assert_eq!((problem, sharing.end()), (None, ended(Some(0), None)));
    assert_eq!(shared.n(), 200);
    let (sharing, _) = shared.start(&theirs.journal);
    assert_eq!(found(&sharing, 7, None).as_deref(), Some("answer 7"));
    assert_eq!(found(&sharing, 7, Some(107)).as_deref(), Some("answer 7"));
    assert_eq!(found(&sharing, 7, Some(108)), None, "it is too old");
    assert_eq!(found(&sharing, 201, None), None);
    assert_eq!(sharing.end(), ended(Some(0), None));
}

#[test]
fn a_journal_that_is_gone_stops_nothing_and_gets_its_answers_later() {
    let (shared, local) = (Shared::default(), Local::new(3));
    shared.with(|it| it.is_gone = true);
    let (sharing, problem) = shared.start(&local.journal);
    assert_eq!(problem, Some(SharedError::Unreachable("gone".to_owned())));
    assert_eq!(found(&sharing, 0, None), None);
    assert_eq!(sharing.end(), Ended { n_unanswered: 1, ..ended(None, Some("gone")) });
    shared.with(|it| it.is_gone = false);
    local.write(3..5);
    assert_eq!(push(&local.journal, &mut shared.clone()).expect("it is there"), Pushed { new: 5, known: 0 });
    assert_eq!(push(&local.journal, &mut shared.clone()).expect("it is there"), Pushed::default());
}

#[test]
fn wherever_it_is_lost_every_answer_arrives_and_none_is_noted_too_early() {
    for (room, n_unsent) in [(0, 200), (1, 200), (127, 200), (128, 72), (129, 72), (199, 72)] {
        let (shared, local) = (Shared::default(), Local::new(200));
        shared.with(|it| it.room = Some(room));
        let (sharing, _) = shared.start(&local.journal);
        assert_eq!(sharing.end(), ended(Some(n_unsent), Some("gone")), "{room}");
        shared.with(|it| (it.is_gone, it.room) = (false, None));
        let (sharing, _) = shared.start(&local.journal);
        assert_eq!((sharing.end(), shared.n()), (ended(Some(0), None), 200), "{room}");
    }
}

#[test]
fn one_who_may_only_read_reads() {
    let (shared, ours, theirs) = (Shared::default(), Local::new(2), Local::new(1));
    push(&ours.journal, &mut shared.clone()).expect("it is there");
    shared.with(|it| it.refuses = true);
    let (sharing, problem) = shared.start(&theirs.journal);
    assert_eq!((problem, found(&sharing, 1, None).as_deref()), (None, Some("answer 1")));
    assert_eq!(sharing.end(), ended(Some(1), Some("read only")));
}

#[test]
fn a_lookup_whose_connection_is_gone_is_made_again_over_a_new_one() {
    let (shared, ours, theirs) = (Shared::default(), Local::new(3), Local::new(0));
    push(&ours.journal, &mut shared.clone()).expect("it is there");
    let (sharing, _) = shared.start(&theirs.journal);
    for number in 0..2 {
        shared.with(|it| it.n_cut = 1);
        assert_eq!(found(&sharing, number, None), Some(format!("answer {number}")));
    }
    assert_eq!(sharing.end(), ended(Some(0), Some("cut")));
    let (sharing, _) = shared.start(&theirs.journal);
    shared.with(|it| it.n_cut = 2);
    assert_eq!(found(&sharing, 0, None), None);
    assert_eq!(found(&sharing, 0, None), None, "it is left alone for a while");
    assert_eq!(sharing.end(), Ended { n_unanswered: 2, ..ended(Some(0), Some("cut")) });
}

#[test]
fn a_lookup_that_is_not_answered_in_time_finds_nothing() {
    let (shared, local) = (Shared::default(), Local::new(1));
    push(&local.journal, &mut shared.clone()).expect("it is there");
    let silence = shared.with(|it| Arc::clone(&it.silence));
    let held = silence.lock().expect("no test panics with it");
    let (sharing, _) = shared.start(&local.journal);
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    // Where everything waits, the clock goes on at once.
    let runtime = runtime.enable_time().start_paused(true).build().expect("a runtime");
    let lookup = async { tokio::time::timeout(LIMIT, sharing.find(EffectKey([0; 32]), None)).await };
    assert_eq!(runtime.block_on(lookup), Ok(None));
    drop(held);
    assert_eq!(sharing.end(), Ended { n_unanswered: 1, ..ended(Some(0), None) });
}

#[test]
fn answers_of_models_on_this_machine_are_not_sent() {
    let (shared, local) = (Shared::default(), Local::new(1));
    let endpoints = [
        r#""address":"http://127.0.0.1:8080/v1""#,
        r#""address":"http://localhost:8080/v1""#,
        r#""address":"http://127.0.0.1:8080/v1","shared":true"#,
        r#""address":"https://models.example.com/v1","shared":false"#,
    ];
    for (number, endpoint) in (1..).zip(endpoints) {
        local.write_one(&RecordedEffect { request: asked_at(endpoint), ..effect(number) });
    }
    shared.with(|it| it.refuses = true);
    assert_eq!(shared.start(&local.journal).0.end(), ended(Some(2), Some("read only")));
    shared.with(|it| it.refuses = false);
    assert_eq!(push(&local.journal, &mut shared.clone()).expect("it is there"), Pushed { new: 2, known: 0 });
    assert_eq!(shared.with(|it| it.answers.iter().map(|it| it.key.0[0]).collect::<Vec<u8>>()), [0, 3]);
    assert_eq!(push(&local.journal, &mut shared.clone()).expect("it is there"), Pushed::default());
    assert_eq!(shared.start(&local.journal).0.end(), ended(Some(0), None), "nothing is left over");
}

#[test]
fn answers_after_a_cleaning_are_sent() {
    let (shared, local) = (Shared::default(), Local::new(4));
    push(&local.journal, &mut shared.clone()).expect("it is there");
    local.journal.clean(&jurat_store::journal::Cleaning::Before(102)).expect("it is cleaned");
    assert_eq!(push(&local.journal, &mut shared.clone()).expect("it is there"), Pushed::default());
    local.journal.clean(&jurat_store::journal::Cleaning::All).expect("it is cleaned");
    local.write(3..6);
    assert_eq!(push(&local.journal, &mut shared.clone()).expect("it is there"), Pushed { new: 2, known: 1 });
}

#[test]
fn addresses_come_from_options_and_variables() {
    let none = |_: &str| None;
    let variables = |name: &str| match name {
        SHARED_JOURNAL => Some("postgresql://ann:s3cret@one/answers".to_owned()),
        _ => None,
    };
    let shown = |given: Option<&str>, env: &dyn Fn(&str) -> Option<String>| match shared_address(given, env) {
        Ok(address) => address.map_or("none".to_owned(), |it| it.to_string()),
        Err(error) => error.to_string(),
    };
    assert_eq!(shown(None, &none), "none");
    assert_eq!(shown(None, &variables), "one:5432/answers");
    assert_eq!(shown(Some("postgresql://ann@two/answers"), &variables), "two:5432/answers");
    assert_eq!(shown(Some("none"), &variables), "none");
    assert_eq!(
        shown(Some("postgresql://ann:s3cret@two/answers"), &none),
        "the given address of the shared journal has a password, which every user of this machine could read; give the password in `PGPASSWORD`, or the whole address in \
         `JURAT_SHARED_JOURNAL`"
    );
}
