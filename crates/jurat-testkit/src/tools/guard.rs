//! A server that wants tokens, and the authorization server that gives them, both at the address of a [`ToolEndpoint`](super::ToolEndpoint).

use crate::http::Message;

/// How tokens are asked for and given.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    /// After how many seconds a token expires, as the server says.
    pub expires_in: Option<u64>,
    pub fault: Option<GuardFault>,
}

/// How it goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuardFault {
    /// The server says nothing about where tokens are given.
    Silent,
    /// The metadata name a host elsewhere, without encryption.
    OtherHost,
    /// The metadata of the server are about another one.
    OtherResource,
    /// The metadata of the authorization server are about another one.
    OtherIssuer,
    /// Only the configuration of `OpenID` is there, and secrets stand in the form.
    OpenId,
    /// Tokens come as a page for people.
    Html,
    /// No token is good for anything.
    Useless,
}

/// The client that tokens are given to: `jurat` with this secret.
pub const SECRET: &str = "s3cret-0123456789abcdef";

/// The refresh token that is taken as well, first; each is good once.
pub const REFRESH: &str = "refresh-0123456789abcdef";

/// What a guard has done.
#[derive(Debug, Default)]
pub(super) struct Given {
    n_tokens: usize,
    /// Tokens up to this number are not good any more.
    n_revoked: usize,
    n_refreshed: usize,
}

/// A status, further headers, and a body.
pub(super) type Answer = (u16, String, String);

impl Guard {
    /// What is answered in place of the tools; `None` when the request has a good token.
    pub(super) fn answer(&self, given: &mut Given, request: &Message) -> Option<Answer> {
        let base = format!("http://{}", request.header("host").unwrap_or_default());
        let is = |fault| self.fault == Some(fault);
        match request.target.as_str() {
            "/.well-known/oauth-protected-resource/mcp" if !is(GuardFault::Silent) => {
                Some(json(self.of_resource(&base)))
            }
            "/.well-known/oauth-authorization-server/as" if !is(GuardFault::OpenId) => {
                Some(json(self.of_issuer(&base)))
            }
            "/as/.well-known/openid-configuration" => Some(json(self.of_issuer(&base))),
            "/as/token" => Some(self.token(given, request)),
            "/mcp" if self.is_good(given, request) => None,
            "/mcp" if is(GuardFault::Silent) => Some((401, String::new(), "no token".to_owned())),
            "/mcp" => {
                let named = format!(
                    "Bearer error=\"invalid_token\", resource_metadata=\"{base}/.well-known/oauth-protected-resource/mcp\""
                );
                Some((401, format!("www-authenticate: {named}\r\n"), "no token".to_owned()))
            }
            _ => Some((404, String::new(), "nothing here".to_owned())),
        }
    }

    fn is_good(&self, given: &Given, request: &Message) -> bool {
        let number = request.header("authorization").and_then(|it| it.strip_prefix("Bearer token-0123456789-"));
        let number = number.and_then(|it| it.parse::<usize>().ok());
        self.fault != Some(GuardFault::Useless) && number.is_some_and(|it| it > given.n_revoked && it <= given.n_tokens)
    }

    fn of_resource(&self, base: &str) -> String {
        let issuer = match self.fault {
            Some(GuardFault::OtherHost) => "http://tokens.example/as".to_owned(),
            _ => format!("{base}/as"),
        };
        let path = if self.fault == Some(GuardFault::OtherResource) { "other" } else { "mcp" };
        format!(r#"{{"resource": "{base}/{path}", "authorization_servers": ["{issuer}"]}}"#)
    }

    fn of_issuer(&self, base: &str) -> String {
        let issuer = if self.fault == Some(GuardFault::OtherIssuer) { "https://other.example" } else { base };
        let methods = match self.fault {
            Some(GuardFault::OpenId) => r#", "token_endpoint_auth_methods_supported": ["client_secret_post"]"#,
            _ => "",
        };
        format!(r#"{{"issuer": "{issuer}/as", "token_endpoint": "{base}/as/token"{methods}}}"#)
    }

    fn token(&self, given: &mut Given, request: &Message) -> Answer {
        let form = String::from_utf8_lossy(&request.body).into_owned();
        let has = |field: &str| form.split('&').any(|it| it == field);
        // `jurat:s3cret-0123456789abcdef`
        let header = "Basic anVyYXQ6czNjcmV0LTAxMjM0NTY3ODlhYmNkZWY=";
        let is_in_form = has("client_id=jurat") && has(&format!("client_secret={SECRET}"));
        let in_header = request.header("authorization") == Some(header);
        let is_client = if self.fault == Some(GuardFault::OpenId) { is_in_form } else { in_header };
        let refresh = match given.n_refreshed {
            0 => REFRESH.to_owned(),
            n => format!("{REFRESH}-{n}"),
        };
        let is_refreshed = has("grant_type=refresh_token") && has(&format!("refresh_token={refresh}"));
        if self.fault == Some(GuardFault::Html) {
            return (200, String::new(), "<html>Log in</html>".to_owned());
        }
        if !is_client && !is_refreshed {
            return (401, String::new(), r#"{"error": "invalid_client"}"#.to_owned());
        }
        given.n_tokens += 1;
        given.n_refreshed += usize::from(is_refreshed);
        let next = if is_refreshed {
            format!(r#", "refresh_token": "{REFRESH}-{}""#, given.n_refreshed)
        } else {
            String::new()
        };
        let expires = self.expires_in.map(|it| format!(r#", "expires_in": {it}"#)).unwrap_or_default();
        let number = given.n_tokens;
        json(format!(r#"{{"access_token": "token-0123456789-{number}", "token_type": "Bearer"{expires}{next}}}"#))
    }
}

impl Given {
    pub(super) fn revoke(&mut self) {
        self.n_revoked = self.n_tokens;
    }
}

fn json(body: String) -> Answer {
    (200, "content-type: application/json\r\n".to_owned(), body)
}
