//! Server-sent events: a connection that stays open and hears what changes.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::BodyExt as _;
use hyper::body::Frame;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::{Instant, sleep};

use super::handle::Handler;
use super::response::{Body, set_headers};
use crate::answer::Kind;
use crate::answer::live::{About, News, news};

/// How many connections may listen at a time.
pub(super) const LISTENERS: usize = 16;

/// How often files are looked at, how much time is between two events, and how long a connection is silent.
const LOOK: Duration = Duration::from_millis(500);
const BETWEEN: Duration = Duration::from_secs(1);
const SILENCE: Duration = Duration::from_secs(15);

/// A response whose body is the events to come.
pub(super) fn response(handler: Arc<Handler>, about: About, permit: OwnedSemaphorePermit) -> Response<Body> {
    let (out, events) = channel(4);
    tokio::spawn(async move {
        watch(&handler, about, &out).await;
        drop(permit);
    });
    let mut response = Response::new(Events(events).boxed_unsync());
    set_headers(response.headers_mut(), &Kind::Text, StatusCode::OK);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response
}

/// Sends what changes until the listener is gone or there is no more to come.
async fn watch(handler: &Handler, about: About, out: &Sender<Bytes>) {
    let (mut known, mut last): (Option<Vec<News>>, Instant) = (None, Instant::now());
    while !out.is_closed() {
        let now = handler.news(about.clone()).await;
        let fresh: Vec<&News> = now.iter().filter(|it| is_fresh(known.as_deref(), it, &about)).collect();
        let mut text: String = fresh.iter().map(|it| format!("event: {}\ndata: {}\n\n", it.event, it.data)).collect();
        if text.is_empty() && last.elapsed() >= SILENCE {
            ": still here\n\n".clone_into(&mut text);
        }
        let has_news = !fresh.is_empty();
        if !text.is_empty() {
            last = Instant::now();
            if out.send(Bytes::from(text)).await.is_err() {
                return;
            }
        }
        let is_over = matches!(about, About::Run(_)) && now.iter().all(|it| !it.is_live);
        if is_over {
            return;
        }
        known = Some(now);
        tokio::select! {
            () = out.closed() => return,
            () = sleep(if has_news { BETWEEN } else { LOOK }) => {}
        }
    }
}

/// Whether a listener does not know it yet. Of a list, what has ended was in the page when it was loaded.
fn is_fresh(known: Option<&[News]>, news: &News, about: &About) -> bool {
    match known {
        None => news.is_live || matches!(about, About::Run(_)),
        Some(known) => !known.contains(news),
    }
}

/// The events of a connection.
struct Events(Receiver<Bytes>);

impl hyper::body::Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|it| it.map(|bytes| Ok(Frame::data(bytes))))
    }
}

impl Handler {
    async fn news(&self, about: About) -> Vec<News> {
        let shared = Arc::clone(&self.shared);
        self.readers.run(move |_, _| news(&shared, &about)).await.unwrap_or_default()
    }
}
