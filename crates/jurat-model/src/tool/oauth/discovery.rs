//! Where tokens are given: a server that refuses a request names its metadata (RFC 9728), which names an authorization server, whose metadata (RFC 8414, or the
//! configuration of `OpenID`) names the address for tokens.
//!
//! A secret is sent there, so every step is https. A server on this machine may lead to this machine without it, and no other may: it could have us ask what is
//! not meant to be asked from outside.

use ::http::header::ACCEPT;
use ::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use bytes::Bytes;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Asking;
use crate::transport::Target;
use crate::transport::connection::Dialer;

const OF_RESOURCES: &str = "/.well-known/oauth-protected-resource";
const OF_SERVERS: &str = "/.well-known/oauth-authorization-server";
const OF_OPENID: &str = "/.well-known/openid-configuration";

/// Where tokens are given, and what for.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) target: Target,
    pub(super) path: String,
    /// What tokens are asked for, as the server calls itself.
    pub(super) resource: String,
    /// Whether the secret of a client stands in the form, for servers that take no header.
    pub(super) is_secret_in_form: bool,
}

impl Place {
    /// The address that the author wrote; `None` when it is none.
    pub(super) fn written(token_url: &str, resource: &str) -> Option<Place> {
        let (target, path) = parts(token_url)?;
        Some(Place { target, path, resource: resource.to_owned(), is_secret_in_form: false })
    }
}

#[derive(Deserialize)]
struct ResourceWire {
    resource: Option<String>,
    #[serde(default)]
    authorization_servers: Vec<String>,
}

#[derive(Deserialize)]
struct ServerWire {
    issuer: String,
    token_endpoint: String,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
}

/// Finds out where tokens for a server are given, from what it said when it refused a request.
pub(super) async fn find(dialer: &Dialer, url: &str, challenge: &str) -> Result<Place, String> {
    let (server, path) = parts(url).ok_or("its address is none")?;
    let path = path.split('?').next().unwrap_or_default().trim_end_matches('/');
    let usual = || [path, ""].map(|path| format!("{}{OF_RESOURCES}{path}", server.shown())).to_vec();
    let addresses = parameter(challenge, "resource_metadata").map_or_else(usual, |it| vec![it]);
    let found: Option<ResourceWire> = first(dialer, &server, &addresses).await?;
    let unknown = "it wants a token and does not say where one is given; set `token_url` of `oauth`";
    let ResourceWire { resource, authorization_servers } = found.ok_or(unknown)?;
    let resource = resource.unwrap_or_else(|| url.to_owned());
    if !covers(&resource, url) {
        return Err(format!("its metadata is about another server, `{resource}`"));
    }
    let issuer = authorization_servers.into_iter().next().ok_or(unknown)?;
    given_by(dialer, &server, &issuer, resource).await
}

/// Where an authorization server gives tokens.
async fn given_by(dialer: &Dialer, server: &Target, issuer: &str, resource: String) -> Result<Place, String> {
    let found: Option<ServerWire> = first(dialer, server, &metadata_of(issuer, server)?).await?;
    let unknown = || format!("the authorization server `{issuer}` has no metadata; set `token_url` of `oauth`");
    let found = found.ok_or_else(unknown)?;
    if found.issuer.trim_end_matches('/') != issuer.trim_end_matches('/') {
        return Err(format!(
            "the metadata of the authorization server `{issuer}` is about another, `{}`",
            found.issuer
        ));
    }
    let (target, path) = allowed(&found.token_endpoint, server)?;
    // Left out, the methods are the header alone.
    let methods = found.token_endpoint_auth_methods_supported;
    let has = |method: &str| methods.as_ref().is_some_and(|it| it.iter().any(|it| it == method));
    let is_secret_in_form = has("client_secret_post") && !has("client_secret_basic");
    Ok(Place { target, path, resource, is_secret_in_form })
}

/// The addresses at which an authorization server may have its metadata, in the order in which they are tried.
fn metadata_of(issuer: &str, server: &Target) -> Result<Vec<String>, String> {
    let (target, path) = allowed(issuer, server)?;
    let (host, path) = (target.shown(), path.trim_end_matches('/'));
    let mut addresses = vec![format!("{host}{OF_SERVERS}{path}"), format!("{host}{OF_OPENID}{path}")];
    if !path.is_empty() {
        addresses.push(format!("{host}{path}{OF_OPENID}"));
    }
    Ok(addresses)
}

/// The first of several documents that is there.
async fn first<T: DeserializeOwned>(
    dialer: &Dialer,
    server: &Target,
    addresses: &[String],
) -> Result<Option<T>, String> {
    for address in addresses {
        let (target, path) = allowed(address, server)?;
        let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]);
        let request = Asking { method: Method::GET, path: &path, headers, body: Bytes::new() };
        match request.send(dialer, &target).await? {
            (StatusCode::OK, body) => {
                let read = serde_json::from_slice(&body).map_err(|_| format!("`{address}` is no metadata"));
                return read.map(Some);
            }
            (status, _) if status.is_client_error() => {}
            (status, _) => return Err(format!("`{address}` returned status {}", status.as_u16())),
        }
    }
    Ok(None)
}

/// An address that metadata may lead to.
fn allowed(address: &str, server: &Target) -> Result<(Target, String), String> {
    let (target, path) =
        parts(address).ok_or_else(|| format!("its metadata names `{address}`, which is no address"))?;
    if target.is_tls() || target.is_loopback() && server.is_loopback() {
        return Ok((target, path));
    }
    Err(format!("its metadata leads to `{address}`, and secrets are sent over https only"))
}

/// The host of an address, and the path with its query.
fn parts(address: &str) -> Option<(Target, String)> {
    let target = Target::read(address).filter(|it| !it.host_and_port().contains('@'))?;
    let uri = address.parse::<Uri>().ok()?;
    Some((target, uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string)))
}

/// Whether what a server calls itself is its address, or stands for it.
fn covers(resource: &str, url: &str) -> bool {
    let (Some((one, path)), Some((other, asked))) = (parts(resource), parts(url)) else { return false };
    let path = path.trim_end_matches('/');
    let rest = asked.strip_prefix(path);
    one.shown() == other.shown() && rest.is_some_and(|it| it.is_empty() || it.starts_with(['/', '?']))
}

/// A parameter of the header `WWW-Authenticate`.
fn parameter(challenge: &str, name: &str) -> Option<String> {
    let mut is_quoted = false;
    let pieces = challenge.split(|it: char| {
        is_quoted ^= it == '"';
        it == ',' && !is_quoted
    });
    let mut values = pieces.filter_map(|it| it.split_once('='));
    let (_, value) =
        values.find(|(key, _)| key.split_whitespace().next_back().is_some_and(|it| it.eq_ignore_ascii_case(name)))?;
    Some(value.trim().trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_found_among_others() {
        let found = |challenge: &str| parameter(challenge, "resource_metadata");
        let address = Some("https://s.example/m,x".to_owned());
        assert_eq!(found(r#"Bearer resource_metadata="https://s.example/m,x""#), address);
        assert_eq!(
            found(r#"Bearer error="invalid_token", Resource_Metadata="https://s.example/m,x", scope="a b""#),
            address
        );
        assert_eq!(found(r#"Basic realm="resource_metadata=no""#), None);
        assert_eq!(found(""), None);
    }

    #[test]
    fn metadata_leads_to_https_or_stays_on_this_machine() {
        let target = |address| Target::read(address).expect("an address");
        let leads = |from, to| allowed(to, &target(from)).map(|(target, path)| format!("{}{path}", target.shown()));
        assert_eq!(
            leads("https://s.example", "https://a.example/token?x=1").as_deref(),
            Ok("https://a.example/token?x=1")
        );
        assert_eq!(leads("http://127.0.0.1:8", "http://localhost:9").as_deref(), Ok("http://localhost:9/"));
        for (from, to) in
            [("http://127.0.0.1:8", "http://a.example/token"), ("https://s.example", "http://127.0.0.1:9/token")]
        {
            let refused = format!("its metadata leads to `{to}`, and secrets are sent over https only");
            assert_eq!(leads(from, to), Err(refused));
        }
        for to in ["https://me:pw@a.example", "a.example", "file:///etc/passwd"] {
            assert_eq!(leads("https://s.example", to), Err(format!("its metadata names `{to}`, which is no address")));
        }
    }

    #[test]
    fn a_server_is_what_it_calls_itself() {
        assert!(covers("https://s.example/mcp", "https://s.example/mcp"));
        assert!(covers("https://s.example", "https://s.example/mcp"));
        assert!(covers("https://s.example/", "https://s.example/mcp?x=1"));
        assert!(!covers("https://s.example/mc", "https://s.example/mcp"));
        assert!(!covers("https://other.example/mcp", "https://s.example/mcp"));
        assert!(!covers("http://s.example/mcp", "https://s.example/mcp"));
    }

    #[test]
    fn an_authorization_server_has_its_metadata_in_several_places() {
        let server = Target::read("https://s.example").expect("an address");
        assert_eq!(
            metadata_of("https://a.example/tenant/", &server).expect("addresses"),
            [
                "https://a.example/.well-known/oauth-authorization-server/tenant",
                "https://a.example/.well-known/openid-configuration/tenant",
                "https://a.example/tenant/.well-known/openid-configuration",
            ]
        );
        assert_eq!(metadata_of("https://a.example", &server).expect("addresses").len(), 2);
    }
}
