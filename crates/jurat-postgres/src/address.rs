//! The address of a shared journal: `postgresql://USER@HOST:PORT/DATABASE`.

use std::fmt;
use std::net::IpAddr;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// Where a shared journal is, and who asks there.
#[derive(Clone)]
pub struct Address {
    pub(crate) config: Config,
    shown: String,
}

/// Why a text is no address. It does not repeat the text, which may have a password in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadAddress {
    #[error("{0}; write `postgresql://USER@HOST:PORT/DATABASE`")]
    Unreadable(String),
    #[error("the address names no {0}; write `postgresql://USER@HOST:PORT/DATABASE`")]
    Incomplete(&'static str),
    #[error(
        "the address names {0}, and which of them is reached would decide whether the connection is encrypted; name one server by `HOST`"
    )]
    Several(&'static str),
    #[error("`sslmode={0}` is not accepted; use `require` (certificates are always checked) or `disable`")]
    Tls(String),
}

/// The port of PostgreSQL.
const USUAL_PORT: u16 = 5432;

impl Address {
    /// Reads an address. Connections to other machines are encrypted, and their certificates checked; `sslmode=disable` is the way around it, and what this machine has
    /// unless the address has `sslmode=require`.
    pub fn read(url: &str) -> Result<Address, BadAddress> {
        if !(url.starts_with("postgresql://") || url.starts_with("postgres://")) {
            return Err(BadAddress::Unreadable("this is no address of a PostgreSQL server".to_owned()));
        }
        let (url, mode) = without_mode(url);
        let config: Result<Config, tokio_postgres::Error> = url.parse();
        let mut config = config.map_err(|it| BadAddress::Unreadable(crate::failure::words(&it)))?;
        let host = only_host(&config)?;
        let database = config.get_dbname().ok_or(BadAddress::Incomplete("database"))?;
        config.get_user().ok_or(BadAddress::Incomplete("user"))?;
        let shown = shown(host, config.get_ports().first().copied(), database);
        let tls = match mode.as_deref() {
            None if is_here(host) => SslMode::Disable,
            None | Some("require" | "verify-full") => SslMode::Require,
            Some("disable") => SslMode::Disable,
            Some(mode) => return Err(BadAddress::Tls(mode.to_owned())),
        };
        config.ssl_mode(tls).application_name("jurat");
        Ok(Address { config, shown })
    }

    /// Whether it has a password in it.
    pub fn has_password(&self) -> bool {
        self.config.get_password().is_some()
    }

    /// The same with a password, unless it has one.
    pub fn with_password(mut self, password: Option<String>) -> Address {
        if let Some(password) = password.filter(|_| !self.has_password()) {
            self.config.password(password);
        }
        self
    }
}

/// Host, port and database: neither the user nor the password.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

/// The host of an address that has one. What is encrypted is decided by it, so there must be no other place to connect to.
fn only_host(config: &Config) -> Result<&Host, BadAddress> {
    match (config.get_hosts(), config.get_hostaddrs()) {
        (_, [_, ..]) => Err(BadAddress::Several("`hostaddr` beside its host")),
        ([_, _, ..], _) => Err(BadAddress::Several("several hosts")),
        ([host], []) => Ok(host),
        ([], []) => Err(BadAddress::Incomplete("host")),
    }
}

/// A URL without its `sslmode`, and that.
fn without_mode(url: &str) -> (String, Option<String>) {
    let Some((before, query)) = url.split_once('?') else { return (url.to_owned(), None) };
    let mode = query.split('&').find_map(|it| it.strip_prefix("sslmode=")).map(str::to_owned);
    let others: Vec<&str> = query.split('&').filter(|it| !it.starts_with("sslmode=")).collect();
    (if others.is_empty() { before.to_owned() } else { format!("{before}?{}", others.join("&")) }, mode)
}

/// Whether a host is this machine.
fn is_here(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => name == "localhost" || name.parse::<IpAddr>().is_ok_and(|it| it.is_loopback()),
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

fn shown(host: &Host, port: Option<u16>, database: &str) -> String {
    let port = port.unwrap_or(USUAL_PORT);
    match host {
        Host::Tcp(name) => format!("{name}:{port}/{database}"),
        #[cfg(unix)]
        Host::Unix(path) => format!("{}:{port}/{database}", path.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is shown of an address and how it is encrypted, or why it is none.
    #[track_caller]
    fn reads(url: &str, expected: &str) {
        let read = match Address::read(url) {
            Ok(address) => format!("{address} {:?}", address.config.get_ssl_mode()),
            Err(error) => error.to_string(),
        };
        assert_eq!(read, expected);
    }

    #[test]
    fn what_is_shown_has_no_password_and_other_machines_are_reached_encrypted() {
        reads("postgresql://ann:s3cret@db.example.com/answers", "db.example.com:5432/answers Require");
        reads("postgres://ann@db.example.com:6432/answers?sslmode=verify-full", "db.example.com:6432/answers Require");
        reads("postgresql://ann@db.example.com/answers?sslmode=disable", "db.example.com:5432/answers Disable");
        reads("postgresql://ann@127.0.0.1/answers", "127.0.0.1:5432/answers Disable");
        reads("postgresql://ann@localhost/answers?sslmode=require&connect_timeout=3", "localhost:5432/answers Require");
        reads("postgresql:///answers?host=/run/postgresql&user=ann", "/run/postgresql:5432/answers Disable");
        let address = Address::read("postgresql://ann:s3cret@host/answers").expect("an address");
        assert_eq!(format!("{address:?}"), "Address(host:5432/answers)");
    }

    #[test]
    fn what_is_no_address_is_not_repeated() {
        let usage = "write `postgresql://USER@HOST:PORT/DATABASE`";
        reads("mysql://ann:s3cret@host/answers", &format!("this is no address of a PostgreSQL server; {usage}"));
        reads("postgresql://ann:s3cret@host", &format!("the address names no database; {usage}"));
        reads("postgresql://host/answers", &format!("the address names no user; {usage}"));
        reads("postgresql://ann:s3cret@host/answers?nonsense=1", &format!("unknown option `nonsense`; {usage}"));
        let only =
            "and which of them is reached would decide whether the connection is encrypted; name one server by `HOST`";
        for several in ["localhost,db.example.com/answers", "localhost/answers?host=db.example.com"] {
            reads(&format!("postgresql://ann@{several}"), &format!("the address names several hosts, {only}"));
        }
        for elsewhere in ["localhost/answers?hostaddr=192.0.2.7", "localhost/answers?hostaddr=127.0.0.1,192.0.2.7"] {
            reads(
                &format!("postgresql://ann@{elsewhere}"),
                &format!("the address names `hostaddr` beside its host, {only}"),
            );
        }
        reads(
            "postgresql://ann@host/answers?sslmode=prefer",
            "`sslmode=prefer` is not accepted; use `require` (certificates are always checked) or `disable`",
        );
    }
}
