//! A PostgreSQL server of one test, on loopback.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;

use jurat_testkit::reserved_port;
use rustix::process::{Pid, Signal};
use tempfile::TempDir;

/// The password of every user.
pub(crate) const PASSWORD: &str = "s3cret-marker";

/// What the server writes when it takes connections.
const READY: &str = "database system is ready to accept connections";

/// A running server, ended when it is dropped.
pub(crate) struct Server {
    directory: TempDir,
    port: u16,
    options: Vec<String>,
    child: Option<Child>,
}

impl Server {
    /// A server with one database, `answers`, and one user, `ann`.
    pub(crate) fn start() -> Server {
        Server::with(&[])
    }

    /// The same with TLS, by a certificate for `localhost`.
    pub(crate) fn with_tls(certificate: &str, key: &str) -> Server {
        let mut server = Server::stopped(&["ssl=on"]);
        for (name, text) in [("server.crt", certificate), ("server.key", key)] {
            let path = server.data().join(name);
            fs::write(&path, text).expect("files can be written");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("modes can be set");
            own(&path);
        }
        server.begin();
        server
    }

    fn with(options: &[&str]) -> Server {
        let mut server = Server::stopped(options);
        server.begin();
        server
    }

    fn stopped(options: &[&str]) -> Server {
        let directory = TempDir::new().expect("the system has a place for temporary files");
        own(directory.path());
        let password = directory.path().join("password");
        fs::write(&password, PASSWORD).expect("files can be written");
        own(&password);
        let options = options.iter().map(|it| (*it).to_owned()).collect();
        // A server of PostgreSQL does not say which port the system chose for it.
        let server = Server { directory, port: reserved_port(), options, child: None };
        let mut initdb = server.program("initdb");
        initdb.args([
            "--username",
            "ann",
            "--auth",
            "scram-sha-256",
            "--no-sync",
            "--encoding",
            "UTF8",
            "--locale",
            "C",
        ]);
        succeeded(initdb.arg("--pwfile").arg(&password).arg("--pgdata").arg(server.data()));
        server
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// A program of PostgreSQL, run by a user who is not root: the server refuses to be.
    fn program(&self, name: &str) -> Command {
        let programs = std::env::var("JURAT_TEST_POSTGRES");
        let programs =
            programs.expect("`JURAT_TEST_POSTGRES` names the folder of PostgreSQL: `cargo xtask postgres` sets it");
        let mut command = Command::new(Path::new(&programs).join(name));
        command.current_dir(self.directory.path()).stdin(Stdio::null());
        if let Some((user, group)) = other_user() {
            command.gid(group).uid(user);
        }
        command
    }

    /// Starts it, and waits until it takes connections.
    pub(crate) fn begin(&mut self) {
        let is_new = !self.data().join("made").exists();
        let mut postgres = self.program("postgres");
        postgres.arg("-D").arg(self.data()).args(["-p", &self.port.to_string(), "-k"]).arg(self.directory.path());
        // What a test loses with its machine it does not need.
        let usual = ["listen_addresses=127.0.0.1", "fsync=off"].map(str::to_owned);
        for option in usual.iter().chain(&self.options) {
            postgres.args(["-c", option]);
        }
        let mut child = postgres.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
        let output = BufReader::new(child.stderr.take().expect("it was asked for"));
        let (said, heard) = channel();
        // To its end: a server whose output is not read stops.
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = said.send(line);
            }
        });
        self.child = Some(child);
        let mut before = Vec::new();
        let is_ready = heard.iter().any(|line| {
            let is_ready = line.contains(READY);
            before.push(line);
            is_ready
        });
        assert!(is_ready, "the server ended before it was ready: {}", before.join("\n"));
        if is_new {
            self.sql_in("postgres", "CREATE DATABASE answers");
            fs::write(self.data().join("made"), "").expect("files can be written");
        }
    }

    /// Ends it at once, with everything that it was doing: clients see their connections end. Its own processes would outlive a signal that it cannot pass on.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = rustix::process::kill_process(Pid::from_child(&child), Signal::QUIT);
            let _ = child.wait();
        }
    }

    /// Its address with a password in it.
    pub(crate) fn url(&self) -> String {
        format!("postgresql://ann:{PASSWORD}@127.0.0.1:{}/answers", self.port)
    }

    /// Its address for another user, at another name of this machine, without a password.
    pub(crate) fn url_of(&self, user: &str, host: &str) -> String {
        format!("postgresql://{user}@{host}:{}/answers", self.port)
    }

    /// Its address by its socket, without a password.
    pub(crate) fn url_of_socket(&self) -> String {
        format!("postgresql:///answers?host={}&port={}&user=ann", self.directory.path().display(), self.port)
    }

    /// What a statement returns, a line a row.
    #[track_caller]
    pub(crate) fn sql(&self, statement: &str) -> String {
        self.sql_in("answers", statement)
    }

    #[track_caller]
    fn sql_in(&self, database: &str, statement: &str) -> String {
        let mut psql = self.program("psql");
        psql.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--username", "ann", "--dbname", database]);
        psql.args(["--host", "127.0.0.1", "--port", &self.port.to_string(), "--command", statement]);
        succeeded(psql.env("PGPASSWORD", PASSWORD)).trim().to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

#[track_caller]
fn succeeded(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// The user and the group who run it in place of root; nothing where this is not root.
fn other_user() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").expect("a list of users");
    let numbers = |name: &str| {
        let line = users.lines().find(|it| it.starts_with(&format!("{name}:")))?;
        let mut fields = line.split(':').skip(2).map(str::parse);
        Some((fields.next()?.ok()?, fields.next()?.ok()?))
    };
    Some(["postgres", "nobody"].into_iter().find_map(numbers).expect("a user who is not root"))
}

fn own(path: &Path) {
    if let Some((user, group)) = other_user() {
        chown(path, Some(user), Some(group)).expect("root may give files away");
    }
}
