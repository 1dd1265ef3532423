//! Ports for servers that must be given one.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicU16, Ordering};

/// The first port that is chosen. The system gives clients and listeners without a port of their own only ports from 32,768.
const FIRST: u16 = 10_000;

/// How many ports there are to choose from.
const MANY: u16 = 20_000;

/// A port of 127.0.0.1 that stays free until the server listens.
///
/// A port that the system chose and that was closed again may be given to the next test, whose server then answers in place of ours.
pub fn reserved_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Processes that run at the same time begin at different places.
    let start = (std::process::id() % 200) as u16 * 100;
    loop {
        let port = FIRST + (start + NEXT.fetch_add(1, Ordering::Relaxed) % MANY) % MANY;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_ports_differ_and_are_not_given_to_others() {
        let (one, two) = (reserved_port(), reserved_port());
        assert_ne!(one, two);
        let given = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").expect("Linux has it");
        let first: u16 = given.split_whitespace().next().and_then(|it| it.parse().ok()).expect("two numbers");
        assert!(one < first && two < first, "{one}, {two}: {given}");
    }
}
