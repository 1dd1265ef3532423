//! Servers with tools that want a token: where it comes from, when it is renewed, and what goes wrong.

use jurat_model::{Toolbox, ToolboxError};
use jurat_testkit::tools::{Guard, GuardFault, REFRESH, SECRET, ToolEndpoint};

use crate::asking::run;
use crate::tools::{call, options, specs};

fn variable(name: &str) -> Option<String> {
    match name {
        "SECRET" => Some(SECRET.to_owned()),
        "REFRESH" => Some(REFRESH.to_owned()),
        "WRONG" => Some("wrong-0123456789abcdef".to_owned()),
        _ => None,
    }
}

const CLIENT: &str = r#""client_id": "jurat", "client_secret": "${SECRET}""#;

/// A server `s` that is the endpoint, with these keys of `oauth`.
fn toolbox(endpoint: &ToolEndpoint, oauth: &str) -> Toolbox {
    let tools = format!(r#"{{"s": {{"url": "{}", "oauth": {{{oauth}}}}}}}"#, endpoint.url());
    Toolbox::open(&specs(&tools), &variable, options()).expect("nothing is missing")
}

const HELLO: &str = r#"{"message": "hello"}"#;

#[track_caller]
fn says(fault: Option<GuardFault>, oauth: &str, expected: &str) -> Vec<String> {
    let endpoint = ToolEndpoint::guarded(Guard { expires_in: None, fault });
    let said = run(async {
        let toolbox = toolbox(&endpoint, oauth);
        let said = call(&toolbox, "echo", HELLO).await;
        toolbox.close().await;
        said
    });
    assert_eq!(said.replace(&endpoint.url().replace("/mcp", ""), "HERE"), expected);
    endpoint.token_requests()
}

const SAID: &str = r#"{"text":"hello"}"#;

#[test]
fn a_token_is_found_and_fetched_once_for_all_requests() {
    let asked = says(None, &format!(r#"{CLIENT}, "scope": "read write""#), SAID);
    let [form] = asked.as_slice() else { panic!("{asked:?}") };
    assert!(form.starts_with("grant_type=client_credentials&resource=http%3A%2F%2F127.0.0.1%3A"), "{form}");
    assert!(form.ends_with("%2Fmcp&scope=read%20write") && !form.contains(SECRET), "{form}");
    assert_eq!(says(Some(GuardFault::OpenId), CLIENT, SAID).len(), 1);
}

#[test]
fn a_token_comes_from_the_address_that_the_author_names() {
    let endpoint = ToolEndpoint::guarded(Guard { fault: Some(GuardFault::Silent), ..Guard::default() });
    run(async {
        let toolbox = toolbox(&endpoint, &format!(r#"{CLIENT}, "token_url": "{}""#, endpoint.token_url()));
        assert_eq!(call(&toolbox, "echo", HELLO).await, SAID);
        toolbox.close().await;
    });
    assert_eq!(endpoint.token_requests().len(), 1);
    assert_eq!(endpoint.seen().iter().filter(|it| *it == "POST initialize").count(), 1, "{:?}", endpoint.seen());
}

#[test]
fn a_token_that_the_server_refuses_is_renewed_once_for_all_requests() {
    let endpoint = ToolEndpoint::guarded(Guard::default());
    run(async {
        let toolbox = toolbox(&endpoint, CLIENT);
        assert_eq!(call(&toolbox, "echo", HELLO).await, SAID);
        endpoint.revoke_tokens();
        let calls = (0..5).map(|_| call(&toolbox, "echo", HELLO));
        assert!(futures_util::future::join_all(calls).await.iter().all(|it| it == SAID));
        toolbox.close().await;
    });
    assert_eq!(endpoint.token_requests().len(), 2);
}

#[test]
fn a_token_that_expires_is_renewed_before_it_is_refused() {
    let endpoint = ToolEndpoint::guarded(Guard { expires_in: Some(0), fault: None });
    run(async {
        let toolbox = toolbox(&endpoint, CLIENT);
        assert_eq!(call(&toolbox, "echo", HELLO).await, SAID);
        assert_eq!(call(&toolbox, "echo", HELLO).await, SAID);
        toolbox.close().await;
    });
    let n_calls = endpoint.seen().iter().filter(|it| *it == "POST tools/call").count();
    assert!(n_calls == 2 && endpoint.token_requests().len() >= 4, "{:?}", endpoint.seen());
}

#[test]
fn a_refresh_token_is_replaced_by_the_one_that_came_with_the_token() {
    let endpoint = ToolEndpoint::guarded(Guard { expires_in: Some(0), fault: None });
    run(async {
        let toolbox = toolbox(&endpoint, r#""client_id": "jurat", "refresh_token": "${REFRESH}""#);
        assert_eq!(call(&toolbox, "echo", HELLO).await, SAID);
        toolbox.close().await;
    });
    let asked = endpoint.token_requests();
    assert!(asked.len() >= 2 && asked[0].contains(&format!("refresh_token={REFRESH}&client_id=jurat")), "{asked:?}");
    assert!(asked[1].contains(&format!("refresh_token={REFRESH}-1")), "{asked:?}");
}

#[test]
fn what_goes_wrong_is_said_in_plain_words() {
    let wrong = r#""client_id": "jurat", "client_secret": "${WRONG}""#;
    for (fault, oauth, expected) in [
        (None, wrong, "the authorization server returned 401: invalid_client"),
        (
            Some(GuardFault::Html),
            CLIENT,
            "the authorization server returned something else than a token: `<html>Log in</html>`",
        ),
        (
            Some(GuardFault::Silent),
            CLIENT,
            "it wants a token and does not say where one is given; set `token_url` of `oauth`",
        ),
        (
            Some(GuardFault::OtherHost),
            CLIENT,
            "its metadata leads to `http://tokens.example/as`, and secrets are sent over https only",
        ),
        (Some(GuardFault::OtherResource), CLIENT, "its metadata is about another server, `HERE/other`"),
        (
            Some(GuardFault::OtherIssuer),
            CLIENT,
            "the metadata of the authorization server `HERE/as` is about another, `https://other.example/as`",
        ),
        (Some(GuardFault::Useless), CLIENT, "status 401: `no token`"),
    ] {
        says(fault, oauth, &format!("tool: the server `s` cannot be reached: {expected}"));
    }
}

#[test]
fn a_secret_that_is_not_set_is_missed_before_anything_is_asked() {
    let tools =
        r#"{"s": {"url": "http://127.0.0.1:9/mcp", "oauth": {"client_id": "jurat", "client_secret": "${NOT_SET}"}}}"#;
    let error = Toolbox::open(&specs(tools), &variable, options()).expect_err("a variable is missing");
    assert!(matches!(error, ToolboxError::MissingVariable { .. }));
    let expected = "`client_secret` of the server `s` needs `NOT_SET`: set it in the environment or in a file `.env`";
    assert_eq!(error.to_string(), expected);
}

/// What the server repeats is hidden, and nothing that can be printed holds a token or a secret.
#[test]
fn no_token_is_seen() {
    let endpoint = ToolEndpoint::guarded(Guard::default());
    run(async {
        let toolbox = toolbox(&endpoint, CLIENT);
        let repeated = call(&toolbox, "echo", r#"{"message": "it is token-0123456789-1"}"#).await;
        assert_eq!(repeated, r#"{"text":"it is [secret]"}"#);
        let shown = format!("{toolbox:?}");
        assert!(!shown.contains("token-0123456789") && !shown.contains(SECRET), "{shown}");
        toolbox.close().await;
    });
}
