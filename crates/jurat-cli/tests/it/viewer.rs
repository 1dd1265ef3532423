//! `jurat view`, started for a test, and requests to it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::command::Folder;

/// A viewer that ends with the test.
pub(crate) struct Viewer {
    child: Child,
    pub(crate) port: u16,
    pub(crate) key: String,
    /// The page that it opens, without the key.
    pub(crate) first: String,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Viewer {
    /// Starts a viewer in a folder, on a port that is free.
    pub(crate) fn start(folder: &Folder, arguments: &[&str]) -> Viewer {
        let mut command = folder.command();
        command.args(["view", "--port", "0", "--json"]).args(arguments).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the viewer starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("it has an output")).read_line(&mut line).expect("it prints a line");
        let said: Value = serde_json::from_str(&line).expect("it is JSON");
        let url = said["url"].as_str().expect("it has an address");
        let rest = url.strip_prefix("http://127.0.0.1:").expect("it is on this machine");
        let (port, page) = rest.split_once('/').expect("it has a path");
        let (page, key) = page.rsplit_once("key=").expect("it has a key");
        let first = format!("/{}", page.trim_end_matches(['?', '&']));
        Viewer { child, port: port.parse().expect("it has a port"), key: key.to_owned(), first }
    }

    /// A page, with the key.
    pub(crate) fn get(&self, path: &str) -> Response {
        let bearer = format!("Bearer {}", self.key);
        self.ask("GET", path, &[("Authorization", &bearer)])
    }

    /// A page that is there.
    #[track_caller]
    pub(crate) fn page(&self, path: &str) -> String {
        let response = self.get(path);
        assert_eq!(response.status, 200, "{path}: {}", response.body);
        response.body
    }

    /// The data of a page that is there.
    #[track_caller]
    pub(crate) fn data(&self, path: &str) -> Value {
        serde_json::from_str(&self.page(path)).expect("it is JSON")
    }

    /// Sends a request with these headers, and `Host` unless it is among them.
    pub(crate) fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Response {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the viewer listens");
        let own = format!("127.0.0.1:{}", self.port);
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head += &format!("Host: {own}\r\n");
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        stream.write_all(format!("{head}\r\n").as_bytes()).expect("it is sent");
        let mut text = Vec::new();
        stream.read_to_end(&mut text).expect("it is answered");
        let text = String::from_utf8(text).expect("it is UTF-8");
        let (head, body) = text.split_once("\r\n\r\n").expect("it has a head");
        let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).expect("it has a status");
        Response { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    /// Asks it to end, and returns its exit code.
    #[cfg(unix)]
    pub(crate) fn interrupt(mut self) -> Option<i32> {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::INT).expect("it can be asked to end");
        self.child.wait().expect("it ends").code()
    }
}

impl Response {
    /// A header, in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().filter_map(|it| it.split_once(": ")).find(|(it, _)| *it == name).map(|(_, value)| value)
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
