//! Where calls of Python wait for a thread that makes them.
//!
//! The engine does not call Python: it leaves a call here and continues, so that no thread of its own waits for the interpreter. One thread takes everything that
//! waits while it is attached, one call after the other. What turns out to be a coroutine is begun on one event loop for all of them, and holds no thread
//! while it waits. Which run a call belongs to is known by the thread that leaves it: its [caller](enter) says where coroutines are awaited. A slow call occupies only the thread that makes it: when nothing moves for a moment, the next thread takes the calls behind it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::function::described;

/// An object of Python that threads share: a callable, or who runs a suite.
pub(crate) type Shared = Arc<Py<PyAny>>;

thread_local! {
    /// Who runs the suite whose calls this thread leaves.
    static CALLER: RefCell<Option<Shared>> = const { RefCell::new(None) };
}

/// Says who runs the suite whose calls this thread leaves from now on.
pub(crate) fn enter(caller: Option<Shared>) {
    CALLER.set(caller);
}

/// Has a callable called with one argument. Its result is read while Python is attached, and handed over on that thread.
pub(crate) fn call<T: 'static>(
    callable: &Shared,
    argument: impl for<'py> FnOnce(Python<'py>) -> PyResult<Bound<'py, PyAny>> + Send + 'static,
    read: fn(&Bound<'_, PyAny>) -> PyResult<T>,
    answer: impl FnOnce(Result<T, String>) + Send + 'static,
) {
    let callable = Arc::clone(callable);
    let settle: Settle = Box::new(move |py, returned| {
        answer(returned.and_then(|it| read(&it)).map_err(|error| described(py, &error)));
    });
    let caller = CALLER.with_borrow(Option::clone);
    DESK.leave(Box::new(move |py| {
        let caller = caller.as_deref().map(|it| it.bind(py));
        let callable = callable.bind(py);
        let returned = argument(py).and_then(|argument| match caller {
            Some(caller) => caller.call_method1(intern!(py, "call"), (callable, argument)),
            None => callable.call1((argument,)),
        });
        settled_or_begun(py, returned, caller, settle);
    }));
}

/// How often a thread entered Python to make calls, how many calls were made, and how many wait.
#[pyfunction]
pub(crate) fn call_figures() -> (u64, u64, usize) {
    let n_waiting = DESK.lock().waiting.len();
    (DESK.n_entries.load(Ordering::Relaxed), DESK.n_calls.load(Ordering::Relaxed), n_waiting)
}

/// Takes the result of a coroutine.
#[pyclass(frozen, module = "jurat._jurat")]
pub(crate) struct Ticket(Mutex<Option<Settle>>);

impl Ticket {
    /// What comes after the first is not looked at.
    fn settle<'py>(&self, py: Python<'py>, returned: PyResult<Bound<'py, PyAny>>) {
        let settle = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(settle) = settle {
            settle(py, returned);
        }
    }
}

#[pymethods]
impl Ticket {
    /// Takes a value, or what was raised instead.
    fn __call__(&self, py: Python<'_>, value: Bound<'_, PyAny>, error: Option<Bound<'_, PyAny>>) {
        self.settle(py, error.map_or(Ok(value), |it| Err(PyErr::from_value(it))));
    }
}

type Settle = Box<dyn for<'py> FnOnce(Python<'py>, PyResult<Bound<'py, PyAny>>) + Send>;
type Call = Box<dyn for<'py> FnOnce(Python<'py>) + Send>;

/// Hands over what was returned, or has it awaited first.
fn settled_or_begun<'py>(
    py: Python<'py>,
    returned: PyResult<Bound<'py, PyAny>>,
    caller: Option<&Bound<'py, PyAny>>,
    settle: Settle,
) {
    match returned {
        Ok(awaitable) if is_awaitable(&awaitable) => {
            // Without a ticket the waiting side learns that there is no answer.
            let Ok(ticket) = Bound::new(py, Ticket(Mutex::new(Some(settle)))) else { return };
            let begin = intern!(py, "begin");
            let begun = match caller {
                Some(caller) => caller.call_method1(begin, (awaitable, &ticket)),
                None => {
                    py.import(intern!(py, "jurat._called")).and_then(|it| it.call_method1(begin, (awaitable, &ticket)))
                }
            };
            if let Err(error) = begun {
                ticket.get().settle(py, Err(error));
            }
        }
        returned => settle(py, returned),
    }
}

fn is_awaitable(value: &Bound<'_, PyAny>) -> bool {
    let is_plain =
        value.is_none() || value.is_exact_instance_of::<PyString>() || value.is_exact_instance_of::<PyDict>();
    !is_plain && value.hasattr(intern!(value.py(), "__await__")).unwrap_or(false)
}

/// How long nothing may move before another thread takes what waits.
const TIMEOUT: Duration = Duration::from_millis(2);

/// How many threads make calls at most.
const MOST_THREADS: usize = 64;

static DESK: Desk = Desk::new();

struct Desk {
    state: Mutex<State>,
    left: Condvar,
    n_entries: AtomicU64,
    n_calls: AtomicU64,
}

struct State {
    /// The process whose threads these are: one that was forked has none of them.
    process: u32,
    waiting: VecDeque<Call>,
    n_threads: usize,
    /// Of them, those that make calls.
    n_callers: usize,
    /// Whether one of them waits for the interpreter: the others compute, and one more would only wait, too.
    is_entering: bool,
    n_taken: u64,
}

impl State {
    const fn new(process: u32) -> State {
        State { process, waiting: VecDeque::new(), n_threads: 0, n_callers: 0, is_entering: false, n_taken: 0 }
    }
}

impl Desk {
    const fn new() -> Desk {
        Desk {
            state: Mutex::new(State::new(0)),
            left: Condvar::new(),
            n_entries: AtomicU64::new(0),
            n_calls: AtomicU64::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leave(&'static self, call: Call) {
        let mut state = self.lock();
        if state.process != std::process::id() {
            *state = State::new(std::process::id());
        }
        state.waiting.push_back(call);
        if state.n_threads == 0 {
            self.hire(&mut state);
        }
        drop(state);
        self.left.notify_one();
    }

    /// Starts one more thread. Where the system has none to give, the others continue; the first is always needed.
    fn hire(&'static self, state: &mut State) {
        let hired = thread::Builder::new().name("jurat-python".to_owned()).spawn(|| self.serve());
        match hired {
            Ok(_) => state.n_threads += 1,
            // The waiting side of a dropped call learns that there is no answer.
            Err(_) if state.n_threads == 0 => state.waiting.clear(),
            Err(_) => {}
        }
    }

    fn serve(&'static self) {
        let mut state = self.lock();
        while let Some(mut ready) = self.wait(state) {
            ready.n_callers += 1;
            ready.is_entering = true;
            // One thread must be left to see that a call is slow.
            if ready.n_callers == ready.n_threads && ready.n_threads < MOST_THREADS {
                self.hire(&mut ready);
            }
            drop(ready);
            self.make_calls();
            state = self.lock();
            state.n_callers -= 1;
        }
    }

    /// Waits until this thread is needed; nothing when it will not be any more.
    fn wait<'s>(&self, mut state: MutexGuard<'s, State>) -> Option<MutexGuard<'s, State>> {
        loop {
            if state.waiting.is_empty() {
                let n_idle = state.n_threads - state.n_callers;
                if n_idle > 2 {
                    state.n_threads -= 1;
                    return None;
                }
                state = self.left.wait(state).unwrap_or_else(PoisonError::into_inner);
            } else if state.n_callers == 0 {
                return Some(state);
            } else {
                let n_taken = state.n_taken;
                let (after, timeout) = self.left.wait_timeout(state, TIMEOUT).unwrap_or_else(PoisonError::into_inner);
                state = after;
                if timeout.timed_out() && state.n_taken == n_taken && !state.is_entering && !state.waiting.is_empty() {
                    return Some(state);
                }
            }
        }
    }

    fn make_calls(&self) {
        let attached = Python::try_attach(|py| {
            self.n_entries.fetch_add(1, Ordering::Relaxed);
            self.lock().is_entering = false;
            while let Some(call) = self.take() {
                self.n_calls.fetch_add(1, Ordering::Relaxed);
                call(py);
            }
        });
        // The interpreter is ending: nothing is called any more.
        if attached.is_none() {
            let mut state = self.lock();
            state.is_entering = false;
            state.waiting.clear();
        }
    }

    fn take(&self) -> Option<Call> {
        let mut state = self.lock();
        state.n_taken += 1;
        state.waiting.pop_front()
    }
}
