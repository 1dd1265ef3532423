//! What becomes of one request.

use std::convert::Infallible;
use std::sync::Arc;

use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;

use super::guard::{Admission, Guard};
use super::readers::Readers;
use super::response::{Body, response};
use crate::answer::{self, Answer, Shared};
use crate::page;
use crate::route::{Address, Route};
use crate::{assets, route};

/// What all requests share.
#[derive(Debug)]
pub(super) struct Handler {
    pub(super) guard: Guard,
    pub(super) readers: Readers,
    pub(super) shared: Arc<Shared>,
}

impl Handler {
    pub(super) async fn handle(&self, request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
        let (head, _body) = request.into_parts();
        let answer = match self.guard.admit(&head) {
            Admission::Admitted => self.answer(&head.uri).await,
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

    async fn answer(&self, uri: &http::Uri) -> Answer {
        let address = match Address::parse(uri.path(), uri.query()) {
            Ok(address) => address,
            Err(error @ route::BadAddress::Unknown) => {
                return Answer::page(StatusCode::NOT_FOUND, &page::error::not_found(&error.to_string(), &[]));
            }
            Err(error) => return Answer::page(StatusCode::BAD_REQUEST, &page::error::bad(&error.to_string())),
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
