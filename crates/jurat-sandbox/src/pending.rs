//! Something that another thread is at.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::sync::oneshot;

/// What another thread is about to give: a future for any executor, and for those without one something to wait for.
///
/// Dropping it gives up: what has not begun is not begun, what is under way is stopped.
#[derive(Debug)]
pub struct Pending<T>(oneshot::Receiver<T>);

impl<T> Pending<T> {
    /// A pair: the sender, and the value that will come.
    pub(crate) fn new() -> (oneshot::Sender<T>, Pending<T>) {
        let (sender, receiver) = oneshot::channel();
        (sender, Pending(receiver))
    }

    /// Waits for it on this thread. Not for threads that run futures.
    pub fn wait(self) -> T {
        self.0.blocking_recv().expect(PROMISE)
    }
}

impl<T> Future for Pending<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        Pin::new(&mut self.0).poll(context).map(|it| it.expect(PROMISE))
    }
}

const PROMISE: &str = "a job that was taken is answered";
