//! What becomes of one request.

use std::convert::Infallible;
use std::sync::Arc;

use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::body::Incoming;
use tokio::sync::Semaphore;

use super::events;
use super::guard::{Admission, Guard};
use super::readers::Readers;
use super::response::{Body, response};
use crate::answer::live::About;
use crate::answer::{self, Answer, Shared};
use crate::assets;
use crate::page;
use crate::route::{Address, Route, RunPage};

/// What all requests share.
#[derive(Debug)]
pub(super) struct Handler {
    pub(super) guard: Guard,
    pub(super) readers: Readers,
    pub(super) shared: Arc<Shared>,
    /// Room for connections that listen to what changes.
    pub(super) listeners: Arc<Semaphore>,
}

/// The longest label.
const MOST_BODY: usize = 64 << 10;

impl Handler {
    pub(super) async fn handle(self: Arc<Self>, request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
        let (head, body) = request.into_parts();
        let answer = match self.guard.admit(&head) {
            Admission::Admitted if head.method == Method::POST => self.save(body).await,
            Admission::Admitted => match listened_to(&head) {
                Some(about) => return Ok(self.listen(about)),
                None => self.answer(&head.uri).await,
            },
            Admission::WithKey { location, cookie } => {
                Answer { cookie: Some(cookie), ..Answer::redirect(StatusCode::SEE_OTHER, location) }
            }
            Admission::Misdirected => {
                Answer::text(StatusCode::MISDIRECTED_REQUEST, "this server does not answer for that host\n")
            }
            Admission::NoKey => Answer::page(StatusCode::UNAUTHORIZED, &page::error::no_key()),
            Admission::Method => Answer::text(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD are answered here\n"),
            Admission::Refused(reason) => Answer::text(StatusCode::FORBIDDEN, format!("{reason}\n")),
        };
        let mut response = response(answer);
        if head.method == Method::HEAD {
            *response.body_mut() = Empty::new().boxed_unsync();
        }
        Ok(response)
    }

    /// Has a connection listen to what changes, while there is room for it.
    fn listen(self: Arc<Self>, about: About) -> Response<Body> {
        match Arc::clone(&self.listeners).try_acquire_owned() {
            Ok(permit) => events::response(self, about, permit),
            Err(_) => {
                response(Answer::text(StatusCode::SERVICE_UNAVAILABLE, "too many pages listen to what changes\n"))
            }
        }
    }

    /// Writes a label.
    async fn save(&self, body: Incoming) -> Answer {
        let Ok(body) = Limited::new(body, MOST_BODY).collect().await else {
            return Answer::text(StatusCode::PAYLOAD_TOO_LARGE, "a label has at most 64 KiB\n");
        };
        let (body, shared) = (body.to_bytes(), Arc::clone(&self.shared));
        let saved = self.readers.run(move |runs, _| answer::save_label(&shared, runs, &body)).await;
        saved.unwrap_or_else(|| Answer::text(StatusCode::INTERNAL_SERVER_ERROR, "the label was not written\n"))
    }

    async fn answer(&self, uri: &http::Uri) -> Answer {
        let address = match Address::parse(uri.path(), uri.query()) {
            Ok(address) => address,
            Err(error) => return answer::refused(uri.path(), &error),
        };
        if let Route::Asset(name) = &address.route {
            return assets::answer(name);
        }
        // Forms send what was selected; the address of the page is its own.
        if matches!(address.route, Route::Compare(_)) && uri.query().is_some_and(|it| it.contains("run=")) {
            return Answer::redirect(StatusCode::SEE_OTHER, address.to_string());
        }
        let shared = Arc::clone(&self.shared);
        let answered = self.readers.run(move |runs, cancel| answer::answer(&shared, runs, cancel, &address)).await;
        answered.unwrap_or_else(|| Answer::page(StatusCode::INTERNAL_SERVER_ERROR, &page::error::broken()))
    }
}

/// What a request listens to, when its address is one of events.
fn listened_to(head: &http::request::Parts) -> Option<About> {
    match Address::parse(head.uri.path(), head.uri.query()).ok()?.route {
        Route::Events if head.method == Method::GET => Some(About::Runs),
        Route::Run { run, page: RunPage::Events } if head.method == Method::GET => Some(About::Run(run)),
        _ => None,
    }
}
