//! Which responses are the same for a whole team.
//!
//! A request names its model by an address and a name. An address on this machine means another model on another machine: two people who each serve a model of their own on port 8080
//! ask with equal keys. So such responses stay in the project, unless the author says that the name means one model for everyone.

use std::net::IpAddr;

use serde::Deserialize;

/// Whether responses of an endpoint are for a team: as its author says, else whether its address is on another machine.
pub fn is_for_team(address: &str, shared: Option<bool>) -> bool {
    shared.unwrap_or_else(|| !is_on_this_machine(address))
}

/// Whether an address is on the machine that asks. What is no URL is a program, a script or a socket there.
fn is_on_this_machine(address: &str) -> bool {
    let Some((scheme, rest)) = address.split_once("://") else { return true };
    if !matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https") {
        return true;
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    is_this_machine(&without_port(host).trim_end_matches('.').to_ascii_lowercase())
}

fn without_port(host: &str) -> &str {
    match host.strip_prefix('[').and_then(|it| it.split_once(']')) {
        Some((address, _)) => address,
        None => host.split_once(':').map_or(host, |(host, _)| host),
    }
}

fn is_this_machine(host: &str) -> bool {
    // Containers call the machine that they are on by these names.
    let is_name = matches!(host, "" | "localhost" | "host.docker.internal" | "host.containers.internal");
    // Resolvers take `127.1` for `127.0.0.1`, which is no address as it is written.
    let is_short = host.starts_with("127.") && host.bytes().all(|it| it.is_ascii_digit() || it == b'.');
    is_name || host.ends_with(".localhost") || is_short || host.parse().is_ok_and(is_own)
}

fn is_own(address: IpAddr) -> bool {
    let address = address.to_canonical();
    // A connection to no address in particular is one to this machine.
    address.is_loopback() || address.is_unspecified()
}

/// A stored request, as far as it says who is asked.
#[derive(Deserialize)]
struct AskedRequest {
    endpoint: AskedEndpoint,
}

#[derive(Deserialize)]
struct AskedEndpoint {
    #[serde(default)]
    address: String,
    #[serde(default)]
    shared: Option<bool>,
}

/// Whether the response to a stored request is for a team. Of a request that cannot be read it is not known who was asked.
pub(super) fn is_response_for_team(request: &str) -> bool {
    serde_json::from_str(request).is_ok_and(|AskedRequest { endpoint }| is_for_team(&endpoint.address, endpoint.shared))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_on_this_machine_is_for_no_team_unless_its_author_says_so() {
        let here = [
            "http://127.0.0.1:8080/v1",
            "http://127.0.0.1",
            "http://127.1:8080",
            "http://LOCALHOST:11434",
            "http://localhost./v1",
            "http://models.localhost/v1",
            "https://[::1]:8080/v1",
            "http://[::ffff:127.0.0.1]/v1",
            "http://0.0.0.0:8000/v1",
            "http://[::]:8000/v1",
            "http://host.docker.internal:1234/v1",
            "http://127.0.0.1?key=${KEY}",
            "unix:///run/model.sock",
            "./model.sh",
            "",
        ];
        for address in here {
            assert!(!is_for_team(address, None) && is_for_team(address, Some(true)), "{address}");
        }
        let elsewhere = [
            "https://api.openai.com/v1",
            "http://10.0.0.7:8080/v1",
            "http://127.example.com",
            "https://localhost.example.com/v1",
            "http://[2001:db8::1]:8080",
        ];
        for address in elsewhere {
            assert!(is_for_team(address, None) && !is_for_team(address, Some(false)), "{address}");
        }
    }

    #[test]
    fn a_stored_request_says_whether_its_response_is_for_a_team() {
        let request = |endpoint: &str| format!(r#"{{"role":"judge","endpoint":{endpoint},"messages":[]}}"#);
        assert!(is_response_for_team(&request(r#"{"codec":"openai_chat","address":"https://api.openai.com/v1"}"#)));
        assert!(!is_response_for_team(&request(r#"{"codec":"openai_chat","address":"http://localhost:1/v1"}"#)));
        assert!(is_response_for_team(&request(r#"{"address":"http://localhost:1/v1","shared":true}"#)));
        assert!(!is_response_for_team("{}") && !is_response_for_team("no JSON"));
    }
}
