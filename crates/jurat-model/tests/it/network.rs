//! The way to a provider: proxies, and connections that are secured.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;

use jurat_model::{Proxies, Transport, TransportOptions};
use jurat_testkit::{Endpoint, Reply, Script};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::TlsAcceptor;

use crate::asking::{KEY, ask, model, options, question, run, shown};

/// A listener on its own thread that deals with each connection; its address.
fn listener(mut each: impl FnMut(TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let address = listener.local_addr().expect("it has an address").to_string();
    thread::spawn(move || listener.incoming().flatten().for_each(&mut each));
    address
}

/// The head of a request.
fn head(reader: &mut impl std::io::BufRead) -> Vec<String> {
    let lines = reader.lines().map_while(Result::ok);
    lines.take_while(|it| !it.is_empty()).map(|it| it.to_ascii_lowercase()).collect()
}

fn proxied(variables: &[(&str, String)]) -> TransportOptions {
    let variables: Vec<(String, String)> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let env = move |name: &str| variables.iter().find(|(it, _)| it == name).map(|(_, value)| value.clone());
    TransportOptions { proxies: Proxies::from_environment(&env), ..options() }
}

/// Asks a model at an address; what came of it.
fn asked(options: TransportOptions, url: &str) -> String {
    run(async { shown(&ask(&Transport::new(options), &model("openai", url), &question("q")).await) })
}

#[test]
fn a_proxy_receives_the_target_and_its_credentials() {
    let (seen, received) = mpsc::channel();
    let proxy = listener(move |mut stream| {
        let mut reader = BufReader::new(stream.try_clone().expect("a socket can be shared"));
        let head = head(&mut reader);
        let length = head.iter().find_map(|it| it.strip_prefix("content-length: ")).and_then(|it| it.parse().ok());
        reader.read_exact(&mut vec![0; length.expect("a length")]).expect("a body");
        seen.send(head).expect("the other side listens");
        let body = r#"{"choices": [{"message": {"content": "by proxy"}, "finish_reason": "stop"}]}"#;
        write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()).expect("an answer");
    });
    let options =
        || proxied(&[("HTTP_PROXY", format!("http://user:word@{proxy}")), ("NO_PROXY", "direct.invalid".to_owned())]);
    assert_eq!(asked(options(), "http://model.invalid:8000/v1"), "stop: by proxy after 1");
    let head = received.recv().expect("the proxy was asked");
    assert_eq!(head[0], "post http://model.invalid:8000/v1/chat/completions http/1.1");
    assert!(head.contains(&"host: model.invalid:8000".to_owned()), "{head:?}");
    // `user:word`
    assert!(head.contains(&"proxy-authorization: basic dxnlcjp3b3jk".to_owned()), "{head:?}");
    // Hosts that are excepted, and this machine, are reached directly.
    assert!(asked(options(), "http://direct.invalid/v1").starts_with("connect after 4: "));
    let endpoint = Endpoint::start(Script::new().reply(Reply::text("direct")));
    assert_eq!(asked(options(), &endpoint.url()), "stop: direct after 1");
    assert!(received.try_recv().is_err());
}

#[test]
fn a_proxy_that_cannot_be_used_says_why() {
    let outcome = asked(proxied(&[("ALL_PROXY", "socks5://127.0.0.1:1".to_owned())]), "http://model.invalid/v1");
    assert_eq!(
        outcome,
        "connect after 1: no connection to http://model.invalid: a proxy is asked over `http`, not `socks5`; change the variables for proxies"
    );
}

/// An authority, and an endpoint of the tests behind TLS with a certificate of that authority.
struct Secured {
    authority: String,
    address: String,
}

fn secured(endpoint: &Endpoint) -> Secured {
    let key = || rcgen::KeyPair::generate().expect("a key can be made");
    let mut parameters = rcgen::CertificateParams::new(Vec::new()).expect("an authority has no names");
    parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let issuer_key = key();
    let authority = parameters.self_signed(&issuer_key).expect("an authority signs itself").pem();
    let issuer = rcgen::Issuer::new(parameters, issuer_key);
    let leaf_key = key();
    let leaf = rcgen::CertificateParams::new(vec!["localhost".to_owned(), "model.invalid".to_owned()]).expect("names");
    let leaf = leaf.signed_by(&leaf_key, &issuer).expect("an authority signs");
    let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(leaf_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().expect("versions");
    let config =
        config.with_no_client_auth().with_single_cert(vec![leaf.der().clone()], private).expect("a certificate");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let behind = format!("127.0.0.1:{}", endpoint.port());
    let address = listener(move |stream| {
        let (acceptor, behind) = (acceptor.clone(), behind.clone());
        thread::spawn(move || {
            run(async {
                stream.set_nonblocking(true).expect("a socket can be waited for");
                let stream = tokio::net::TcpStream::from_std(stream).expect("a socket");
                let Ok(mut outside) = acceptor.accept(stream).await else { return };
                let mut inside = tokio::net::TcpStream::connect(behind).await.expect("the endpoint listens");
                drop(tokio::io::copy_bidirectional(&mut outside, &mut inside).await);
            });
        });
    });
    Secured { authority, address }
}

/// Passes connections on: `CONNECT localhost:PORT`, whose port is believed.
fn tunnel(seen: mpsc::Sender<String>) -> String {
    listener(move |mut stream| {
        let line = head(&mut BufReader::new(stream.try_clone().expect("a socket can be shared")))[0].clone();
        let port = line.split([':', ' ']).nth(2).expect("a port").to_owned();
        seen.send(line).expect("the other side listens");
        let mut inside = TcpStream::connect(format!("127.0.0.1:{port}")).expect("the other side listens");
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").expect("an answer");
        let (mut from, mut to) = (stream.try_clone().expect("a socket"), inside.try_clone().expect("a socket"));
        thread::spawn(move || std::io::copy(&mut from, &mut to));
        drop(std::io::copy(&mut inside, &mut stream));
    })
}

/// What the system trusts is read from the environment of the process, so the one that asks is another one.
#[test]
fn a_secured_connection_is_trusted_as_the_system_says() {
    if let Ok(url) = std::env::var("JURAT_TEST_SECURED") {
        let env = |name: &str| std::env::var(name).ok();
        println!("<{}>", asked(TransportOptions { proxies: Proxies::from_environment(&env), ..options() }, &url));
        return;
    }
    let endpoint = Endpoint::start(Script::new().key(KEY).reply(Reply::text("in secret")));
    let Secured { authority, address } = secured(&endpoint);
    let folder = tempfile::tempdir().expect("a folder can be made");
    let trusted = folder.path().join("authority.pem");
    std::fs::write(&trusted, authority).expect("a file can be written");
    let other = folder.path().join("other.pem");
    std::fs::write(&other, secured(&endpoint).authority).expect("a file can be written");
    let (seen, received) = mpsc::channel();
    let proxy = tunnel(seen);
    let asked = |url: &str, file: &std::path::Path, proxy: Option<&str>| {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["--exact", "network::a_secured_connection_is_trusted_as_the_system_says", "--nocapture"]);
        command.env_clear().env("JURAT_TEST_SECURED", url).env("SSL_CERT_FILE", file);
        command.envs(proxy.map(|it| ("HTTPS_PROXY", it)));
        let output = command.output().expect("this program starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.split_once('<').and_then(|(_, it)| it.split_once('>')).map_or(text.clone(), |(it, _)| it.to_owned())
    };
    let port = address.split(':').nth(1).expect("a port").to_owned();
    let url = format!("https://localhost:{port}/v1");
    assert_eq!(asked(&url, &trusted, None), "stop: in secret after 1");
    let refused = asked(&url, &other, None);
    let expected = format!("connect after 1: no connection to https://localhost:{port}: no secure connection: ");
    assert!(refused.starts_with(&expected), "{refused}");
    // The certificate is for another name.
    let refused = asked(&format!("https://127.0.0.1:{port}/v1"), &trusted, None);
    assert!(refused.contains("no secure connection: "), "{refused}");
    // This machine is never reached through a proxy, so a name is used that only the proxy knows.
    assert!(received.try_recv().is_err());
    let through = asked(&format!("https://model.invalid:{port}/v1"), &trusted, Some(&format!("http://{proxy}")));
    assert_eq!(received.recv().expect("the proxy was asked"), format!("connect model.invalid:{port} http/1.1"));
    assert_eq!(through, "stop: in secret after 1");
}
