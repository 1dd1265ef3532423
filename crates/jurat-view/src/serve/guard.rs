//! Who may ask for what. Decided from the head of a request alone, before anything is looked up.
//!
//! * A site that has its name resolve to this machine (DNS rebinding) sends its own name as `Host`: only names that were given are served.
//! * Other users of the machine do not have the key.
//! * Other sites can make a browser send requests, with the cookie when they navigate here: nothing is changed by `GET`, and what writes needs a header that
//!   other sites cannot send.

use http::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, HOST, HeaderMap, ORIGIN};
use http::request::Parts;
use http::uri::Authority;
use http::{Method, Uri};

use super::Options;
use super::key::Key;
use crate::percent;

/// What is known of the server when requests are looked at.
#[derive(Debug)]
pub(super) struct Guard {
    key: Key,
    port: u16,
    /// The names and ports under which it may be addressed.
    hosts: Vec<(String, u16)>,
    /// Origins of pages that may send labels.
    origins: Vec<String>,
    /// Whether nothing may be written.
    read_only: bool,
}

/// What becomes of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Admission {
    Admitted,
    /// It came with the key in its address: from now on the cookie is enough.
    WithKey {
        location: String,
        cookie: String,
    },
    /// It was meant for another host.
    Misdirected,
    /// It has no key, or a wrong one.
    NoKey,
    /// Its method is none that the address has.
    Method,
    /// It may not write, for this reason.
    Refused(&'static str),
}

/// How long a browser keeps the cookie.
const COOKIE_SECONDS: u32 = 30 * 24 * 60 * 60;

/// An origin that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an origin; write one as `https://jurat.example.org`")]
pub(super) struct BadOrigin(String);

impl Guard {
    pub(super) fn new(key: Key, port: u16, options: &Options) -> Result<Guard, BadOrigin> {
        let Options { host: address, origins, read_only, .. } = options;
        let own = match address {
            std::net::IpAddr::V4(it) => it.to_string(),
            std::net::IpAddr::V6(it) => format!("[{it}]"),
        };
        let mut hosts = Vec::new();
        if address.is_loopback() {
            hosts.extend([(own.clone(), port), ("localhost".to_owned(), port)]);
        }
        let mut known: Vec<String> = hosts.iter().map(|(host, port)| format!("http://{host}:{port}")).collect();
        for origin in origins {
            hosts.push(host_of_origin(origin).ok_or_else(|| BadOrigin(origin.clone()))?);
            known.push(origin.trim_end_matches('/').to_ascii_lowercase());
        }
        Ok(Guard { key, port, hosts, origins: known, read_only: *read_only })
    }

    /// What becomes of a request with this head.
    pub(super) fn admit(&self, head: &Parts) -> Admission {
        if !self.is_own_host(head) {
            return Admission::Misdirected;
        }
        let is_read = matches!(head.method, Method::GET | Method::HEAD);
        if head.uri.path().starts_with("/assets/") {
            return if is_read { Admission::Admitted } else { Admission::Method };
        }
        if is_read && let Some((given, rest)) = key_of(&head.uri) {
            return match self.key.opens_with(&given) {
                true => Admission::WithKey { location: rest, cookie: self.cookie() },
                false => Admission::NoKey,
            };
        }
        if !self.has_key(&head.headers) {
            return Admission::NoKey;
        }
        match (is_read, &head.method, head.uri.path()) {
            (true, _, "/labels") => Admission::Method,
            (true, ..) => Admission::Admitted,
            (false, &Method::POST, "/labels") => self.may_write(&head.headers),
            _ => Admission::Method,
        }
    }

    fn is_own_host(&self, head: &Parts) -> bool {
        let mut given = head.headers.get_all(HOST).iter();
        let (Some(host), None) = (given.next(), given.next()) else { return false };
        // A request for a proxy names the host in its first line as well.
        let named = head.uri.authority().map(Authority::as_str);
        host.to_str().is_ok_and(|it| self.is_known(it)) && named.is_none_or(|it| self.is_known(it))
    }

    fn is_known(&self, host: &str) -> bool {
        let Some((name, port)) = parsed_host(host) else { return false };
        // Without a port, the one that browsers leave out is meant.
        let is_port = |own: u16| port.map_or(matches!(own, 80 | 443), |it| it == own);
        self.hosts.iter().any(|(own, own_port)| name == *own && is_port(*own_port))
    }

    fn has_key(&self, headers: &HeaderMap) -> bool {
        let bearer =
            headers.get(AUTHORIZATION).and_then(|it| it.to_str().ok()).and_then(|it| it.strip_prefix("Bearer "));
        if bearer.is_some_and(|it| self.key.opens_with(it.trim())) {
            return true;
        }
        let name = self.cookie_name();
        let texts = headers.get_all(COOKIE).iter().filter_map(|it| it.to_str().ok());
        let mut pairs = texts.flat_map(|it| it.split(';')).filter_map(|it| it.trim().split_once('='));
        pairs.any(|(it, value)| it == name && self.key.fits_cookie(self.port, value))
    }

    /// Browsers share cookies between ports, so the name has the port.
    fn cookie_name(&self) -> String {
        format!("jurat-{}", self.port)
    }

    fn cookie(&self) -> String {
        let (name, value) = (self.cookie_name(), self.key.cookie(self.port));
        format!("{name}={value}; HttpOnly; SameSite=Lax; Path=/; Max-Age={COOKIE_SECONDS}")
    }

    fn may_write(&self, headers: &HeaderMap) -> Admission {
        let header = |name: &str| headers.get(name).and_then(|it| it.to_str().ok());
        let kind = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
        let is_own = match (header("sec-fetch-site"), headers.get(ORIGIN).and_then(|it| it.to_str().ok())) {
            (Some(site), _) => site == "same-origin",
            (None, Some(origin)) => self.origins.contains(&origin.to_ascii_lowercase()),
            (None, None) => false,
        };
        match () {
            () if self.read_only => Admission::Refused("the viewer was started with `--read-only`"),
            () if kind.split(';').next().map(str::trim) != Some("application/json") => {
                Admission::Refused("labels are sent as `application/json`")
            }
            () if header("x-jurat") != Some("1") => Admission::Refused("the header `X-Jurat: 1` is missing"),
            () if !is_own => Admission::Refused("the request comes from another site"),
            () => Admission::Admitted,
        }
    }
}

/// The key in an address, and the address without it.
fn key_of(uri: &Uri) -> Option<(String, String)> {
    let query = uri.query()?;
    let is_key = |it: &&str| it.starts_with("key=");
    let key = query.split('&').find(is_key).and_then(|it| percent::of_parameter(&it["key=".len()..]))?;
    let rest: Vec<&str> = query.split('&').filter(|it| !is_key(it) && !it.is_empty()).collect();
    // A path of two slashes would lead to another host.
    let path = format!("/{}", uri.path().trim_start_matches('/'));
    Some((key, if rest.is_empty() { path } else { format!("{path}?{}", rest.join("&")) }))
}

/// The name in lower case and the port of a `Host`.
fn parsed_host(text: &str) -> Option<(String, Option<u16>)> {
    let authority: Authority = text.parse().ok()?;
    let has_port = authority.as_str().len() > authority.host().len();
    let is_plain = !text.contains('@') && has_port == authority.port_u16().is_some();
    is_plain.then(|| (authority.host().to_ascii_lowercase(), authority.port_u16()))
}

fn host_of_origin(origin: &str) -> Option<(String, u16)> {
    let (scheme, rest) = origin.trim_end_matches('/').split_once("://")?;
    let default = match scheme {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    let (host, port) = parsed_host(rest).filter(|(host, _)| !host.is_empty())?;
    Some((host, port.unwrap_or(default)))
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn options(origin: &str) -> Options {
        Options { origins: vec![origin.to_owned()], ..Options::default() }
    }

    fn guard() -> Guard {
        Guard::new(Key::new().unwrap(), 7411, &options("https://Jurat.example.org")).unwrap()
    }

    /// A request as `METHOD ADDRESS` and its headers; `Host` is right unless it is given, and `key` stands for the key.
    fn admitted(guard: &Guard, line: &str, headers: &[(&str, &str)]) -> Admission {
        let key = guard.key.text();
        let (method, address) = line.split_once(' ').unwrap();
        let mut request = Request::builder().method(method).uri(address.replace("KEY", &key));
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header("host", "127.0.0.1:7411");
        }
        for (name, value) in headers {
            request = request.header(*name, value.replace("COOKIE", &guard.key.cookie(7411)).replace("KEY", &key));
        }
        guard.admit(&request.body(()).unwrap().into_parts().0)
    }

    const WITH_KEY: (&str, &str) = ("authorization", "Bearer KEY");

    #[test]
    fn only_hosts_that_are_known_are_served() {
        let guard = guard();
        let of = |host: &str| admitted(&guard, "GET /", &[("host", host), WITH_KEY]);
        for host in ["127.0.0.1:7411", "localhost:7411", "LOCALHOST:7411", "jurat.example.org", "jurat.example.org:443"]
        {
            assert_eq!(of(host), Admission::Admitted, "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:7411",
            "127.0.0.1.evil.example:7411",
            "127.0.0.1",
            "127.0.0.1:7412",
            "127.0.0.1:07411x",
            "127.0.0.1:7411@evil.example",
            "user@127.0.0.1:7411",
            "localhost.:7411",
            "jurat.example.org:7411",
            "",
        ] {
            assert_eq!(of(host), Admission::Misdirected, "{host}");
        }
        let twice = [("host", "127.0.0.1:7411"), ("host", "evil.example")];
        assert_eq!(admitted(&guard, "GET /", &twice), Admission::Misdirected);
        assert_eq!(admitted(&guard, "GET http://evil.example/", &[]), Admission::Misdirected);
        assert_eq!(admitted(&guard, "GET /assets/app.css", &[("host", "evil.example")]), Admission::Misdirected);
    }

    #[test]
    fn without_the_key_there_are_only_assets() {
        let guard = guard();
        let no_key = |line: &str, headers: &[(&str, &str)]| {
            assert_eq!(admitted(&guard, line, headers), Admission::NoKey, "{line} {headers:?}");
        };
        for line in
            ["GET /", "HEAD /", "GET /runs/latest", "GET /?key=", "GET /?key=KEY0", "GET /?key=0", "POST /labels"]
        {
            no_key(line, &[]);
        }
        no_key("GET /", &[("cookie", "jurat-7411=KEY")]);
        no_key("GET /", &[("cookie", "jurat-7412=COOKIE")]);
        no_key("GET /", &[("authorization", "Bearer COOKIE")]);
        assert_eq!(admitted(&guard, "GET /assets/app-0.css", &[]), Admission::Admitted);
        assert_eq!(admitted(&guard, "GET /", &[("cookie", "a=b; jurat-7411=COOKIE")]), Admission::Admitted);
        assert_eq!(admitted(&guard, "GET /", &[WITH_KEY]), Admission::Admitted);
    }

    #[test]
    fn the_key_is_taken_out_of_the_address() {
        let guard = guard();
        let Admission::WithKey { location, cookie } = admitted(&guard, "GET /runs/x?n=50&key=KEY&q=a", &[]) else {
            panic!("the key opens");
        };
        assert_eq!(location, "/runs/x?n=50&q=a");
        let value = guard.key.cookie(7411);
        assert_eq!(cookie, format!("jurat-7411={value}; HttpOnly; SameSite=Lax; Path=/; Max-Age=2592000"));
        assert!(!cookie.contains(&guard.key.text()));
        let Admission::WithKey { location, .. } = admitted(&guard, "GET //evil.example/?key=KEY", &[]) else {
            panic!("the key opens");
        };
        assert_eq!(location, "/evil.example/");
    }

    #[test]
    fn only_pages_of_its_own_write() {
        let guard = guard();
        let json = ("content-type", "application/json; charset=utf-8");
        let mark = ("x-jurat", "1");
        let same = ("sec-fetch-site", "same-origin");
        let post = |headers: &[(&str, &str)]| admitted(&guard, "POST /labels", &[&[WITH_KEY], headers].concat());
        assert_eq!(post(&[json, mark, same]), Admission::Admitted);
        assert_eq!(post(&[json, mark, ("origin", "http://127.0.0.1:7411")]), Admission::Admitted);
        assert_eq!(post(&[json, mark, ("origin", "https://jurat.example.org")]), Admission::Admitted);
        for headers in [
            &[json, mark, ("sec-fetch-site", "cross-site")][..],
            &[json, mark, ("sec-fetch-site", "cross-site"), ("origin", "http://127.0.0.1:7411")],
            &[json, mark, ("origin", "http://127.0.0.1:7411.evil.example")],
            &[json, mark, ("origin", "null")],
            &[json, mark],
            &[json, same],
            &[mark, same],
            &[("content-type", "text/plain"), mark, same],
        ] {
            assert!(matches!(post(headers), Admission::Refused(_)), "{headers:?}");
        }
        let read_only = Options { read_only: true, ..Options::default() };
        let read_only = Guard::new(Key::new().unwrap(), 7411, &read_only).unwrap();
        let refused = admitted(&read_only, "POST /labels", &[WITH_KEY, json, mark, same]);
        assert_eq!(refused, Admission::Refused("the viewer was started with `--read-only`"));
        for line in ["POST /", "DELETE /labels", "GET /labels", "POST /assets/app.css", "OPTIONS /"] {
            assert_eq!(admitted(&guard, line, &[WITH_KEY]), Admission::Method, "{line}");
        }
    }

    #[test]
    fn origins_are_whole() {
        let of = |origin: &str| Guard::new(Key::new().unwrap(), 1, &options(origin)).is_ok();
        assert!(of("https://a.example") && of("http://a.example:8080/"));
        for origin in ["a.example", "ftp://a.example", "https://", "https://u@a.example", "https://a.example/path"] {
            assert!(!of(origin), "{origin}");
        }
    }
}
