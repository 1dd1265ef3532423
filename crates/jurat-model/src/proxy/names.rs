//! Names that programs may reach.

/// Names that programs may reach: `registry.npmjs.org`, `*.example.com` for everything below a name, and `host:8080` for another port than those of the web.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Names(Vec<Name>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Name {
    host: String,
    is_below: bool,
    port: Option<u16>,
}

impl Names {
    /// Reads names. What is no name is returned as the error.
    ///
    /// # Errors
    /// The first that is no name.
    pub fn read<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Names, String> {
        names.into_iter().map(|it| Name::read(it).ok_or_else(|| it.to_owned())).collect::<Result<_, _>>().map(Names)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a host may be reached at a port.
    pub fn allow(&self, host: &str, port: u16) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        self.0.iter().any(|it| it.allows(&host, port))
    }
}

impl Name {
    fn read(text: &str) -> Option<Name> {
        let (host, port) = match text.split_once(':') {
            Some((host, port)) => (host, Some(port.parse().ok()?)),
            None => (text, None),
        };
        let (host, is_below) = match host.strip_prefix("*.") {
            Some(host) => (host, true),
            None => (host, false),
        };
        let is_label =
            |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_'));
        let is_name = host.split('.').all(is_label);
        is_name.then(|| Name { host: host.to_ascii_lowercase(), is_below, port })
    }

    fn allows(&self, host: &str, port: u16) -> bool {
        let is_host = if self.is_below {
            host.strip_suffix(&self.host).is_some_and(|it| it.len() > 1 && it.ends_with('.'))
        } else {
            host == self.host
        };
        is_host && self.port.map_or(matches!(port, 80 | 443), |it| it == port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn allowed(names: &[&str], yes: &[(&str, u16)], no: &[(&str, u16)]) {
        let names = Names::read(names.iter().copied()).expect("they are names");
        for (host, port) in yes {
            assert!(names.allow(host, *port), "{host}:{port}");
        }
        for (host, port) in no {
            assert!(!names.allow(host, *port), "{host}:{port}");
        }
    }

    #[test]
    fn a_name_is_itself_on_the_ports_of_the_web() {
        let others = [
            ("registry.npmjs.org", 22),
            ("npmjs.org", 443),
            ("evil-registry.npmjs.org", 443),
            ("registry.npmjs.org.evil", 443),
        ];
        allowed(&["registry.npmjs.org"], &[("registry.npmjs.org", 443), ("REGISTRY.npmjs.org.", 80)], &others);
    }

    #[test]
    fn a_star_is_what_is_below_and_not_the_name() {
        let no = [("example.com", 443), ("badexample.com", 443), (".example.com", 443)];
        allowed(&["*.example.com"], &[("a.example.com", 443), ("a.b.example.com", 443)], &no);
    }

    #[test]
    fn a_port_is_that_port() {
        allowed(&["localhost:8080"], &[("localhost", 8080)], &[("localhost", 80), ("localhost", 443)]);
    }

    #[test]
    fn what_is_no_name_is_said() {
        for text in ["", "*", "http://x", "a b", "x:y", "x..y", "*.*"] {
            assert_eq!(Names::read([text]), Err(text.to_owned()));
        }
    }
}
