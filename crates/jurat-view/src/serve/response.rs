//! Responses, with the headers that every one of them has.

use std::convert::Infallible;

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{HeaderMap, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};

use crate::answer::{Answer, Kind};

/// A body that is there at once, or comes in pieces.
pub(crate) type Body = UnsyncBoxBody<Bytes, Infallible>;

/// Nothing is loaded from elsewhere, nothing runs that stands in a page, and no other page may show one of ours.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Text of runs: whatever it is, it is shown and not obeyed.
const SANDBOX: &str = "default-src 'none'; sandbox";

const COMMON: [(HeaderName, &str); 4] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// A response with this body.
pub(crate) fn response(answer: Answer) -> Response<Body> {
    let Answer { status, kind, body, location, cookie } = answer;
    let mut response = Response::new(Full::new(Bytes::from(body)).boxed_unsync());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    set_headers(headers, &kind, status);
    for (name, value) in [(header::LOCATION, location), (header::SET_COOKIE, cookie)] {
        // What cannot stand in a header is left out, and the browser stays where it is.
        if let Some(value) = value.and_then(|it| HeaderValue::try_from(it).ok()) {
            headers.insert(name, value);
        }
    }
    response
}

/// Sets the headers that a response of this kind has.
pub(crate) fn set_headers(headers: &mut HeaderMap, kind: &Kind, status: StatusCode) {
    for (name, value) in COMMON {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let policy = if matches!(kind, Kind::Text | Kind::Download(_)) { SANDBOX } else { POLICY };
    if let Kind::Download(name) = kind
        && let Ok(value) = HeaderValue::try_from(format!("attachment; filename=\"{name}\""))
    {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind.content_type()));
    let is_asset = matches!(kind, Kind::Asset(_)) && status == StatusCode::OK;
    let stored = if is_asset { "public, max-age=31536000, immutable" } else { "no-store" };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(stored));
}
