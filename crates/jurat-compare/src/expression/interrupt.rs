//! A way to end evaluations from outside.
//!
//! Steps bound an evaluation without looking at a clock, and a costly one still takes seconds. A run that is stopped does not wait for it: the caller
//! makes an [`Interrupt`], enters it on the threads that evaluate, and raises it from another. It is scoped to a thread and not passed along, because it
//! has no part in any result: after it was [noticed](Interrupt::was_noticed), what was concluded on that thread is thrown away.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ends evaluations on the threads that entered it.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

std::thread_local! {
    static ENTERED: RefCell<Option<Interrupt>> = const { RefCell::new(None) };
    static NOTICED: Cell<bool> = const { Cell::new(false) };
}

impl Interrupt {
    /// Ends the evaluations that are in progress, and those that begin, once they have taken a number of steps. A cheap evaluation is never ended.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Lets evaluations on this thread be ended until the guard is dropped.
    pub fn enter(&self) -> Entered {
        NOTICED.set(false);
        Entered { outer: ENTERED.replace(Some(self.clone())), on_thread: PhantomData }
    }

    /// Whether an evaluation on this thread was ended since it entered an interrupt. What was concluded since is not to be used.
    pub fn was_noticed() -> bool {
        NOTICED.get()
    }

    /// Whether the interrupt of this thread was raised, which is noted.
    pub(super) fn is_noticed() -> bool {
        let is_raised = ENTERED.with_borrow(|it| it.as_ref().is_some_and(|it| it.0.load(Ordering::Relaxed)));
        if is_raised {
            NOTICED.set(true);
        }
        is_raised
    }
}

/// A thread whose evaluations can be ended. It stays on its thread.
#[derive(Debug)]
#[must_use = "evaluations can be ended only while this is held"]
pub struct Entered {
    /// What was entered before, when runs are nested.
    outer: Option<Interrupt>,
    on_thread: PhantomData<*const ()>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        ENTERED.set(self.outer.take());
        NOTICED.set(false);
    }
}
