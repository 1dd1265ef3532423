//! The viewer over large runs: how long pages take, from a request to their last byte, and what memory the server holds.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use super::figure::{Figure, Target, Unit, grouped};
use super::jurat::run_file;
use super::{Kit, Lines};
use crate::rounds::least;
use chores::chore::Failure;

/// The most milliseconds of the first page, from the start of the program, and of others.
const MOST_FIRST_MS: f64 = 1_000.0;
const MOST_NEXT_MS: f64 = 100.0;
const MOST_FILTER_MS: f64 = 150.0;
const MOST_SORT_MS: f64 = 300.0;
const MOST_SEARCH_MS: f64 = 1_000.0;
const MOST_CASE_MS: f64 = 100.0;
const MOST_COMPARE_MS: f64 = 1_000.0;
/// The most megabytes that the server holds.
const MOST_MB: f64 = 150.0;

/// How often a page is asked for; the first time it reads its columns, so the least is that of a reader who looks around.
const ROUNDS: usize = 3;

/// A page: what it is called, its address below the run, what must be in it, and the most milliseconds.
struct Page {
    name: &'static str,
    address: String,
    shows: &'static str,
    most_ms: f64,
}

pub(super) fn measure(kit: &Kit, lines: &mut Lines) {
    let n_rows = if kit.is_quick { 100_000 } else { 1_000_000 };
    let name = format!("viewer, {} cases with ten tasks", grouped(n_rows));
    lines.add(&name, records(kit, n_rows, &name));
    let n_calls = if kit.is_quick { 10_000 } else { 100_000 };
    let name = format!("viewer, {} calls of a judge", grouped(n_calls));
    lines.add(&name, judges(kit, n_calls, &name));
}

fn records(kit: &Kit, n_rows: u64, name: &str) -> Result<Vec<Figure>, Failure> {
    eprintln!("{name}: running it");
    let data = kit.yardstick.records(kit.scratch.directory("viewed")?, "nested", n_rows, 10)?;
    kit.jurat.judge(&kit.yardstick, &data)?;
    let page = |name, address: &str, shows, most_ms| Page { name, address: address.to_owned(), shows, most_ms };
    let mut pages = vec![
        page("next page of cases", "/cases?from=100", "of 1", MOST_NEXT_MS),
        page("last page of cases", &format!("/cases?from={}", n_rows - 100), "case", MOST_NEXT_MS),
        page("filter by verdict", "/cases?q=verdict:failed", "✗", MOST_FILTER_MS),
        page("filter by a task", "/cases?q=task:says_when%3Dfailed", "✗", MOST_FILTER_MS),
        page("filter by two tasks", "/cases?q=task:says_when%3Dfailed+-verdict:passed", "✗", MOST_FILTER_MS),
        page("filter by time", "/cases?q=took%3E1us", "case", MOST_FILTER_MS),
        page("filter by id", "/cases?q=id:*7", "case", MOST_FILTER_MS),
        page("order by time", "/cases?sort=took&dir=desc", "case", MOST_SORT_MS),
        page(
            "order by time, a page far behind",
            &format!("/cases?sort=took&from={}", n_rows / 2),
            "case",
            MOST_SORT_MS,
        ),
        page("order by id", "/cases?sort=id&dir=desc", "case", MOST_SORT_MS),
        page("order by verdict", "/cases?sort=verdict", "✗", MOST_SORT_MS),
        page("overview", "", "cases", MOST_FIRST_MS),
    ];
    let found = format!("/cases?q=%22{}%22", data.middle);
    pages.push(page("case page", &format!("/cases/{}?q=verdict:passed", data.middle), "Evidence", MOST_CASE_MS));
    pages.push(page("text that most rows have, first page", "/cases?q=the", "found", MOST_SEARCH_MS));
    let mut figures = visit(kit, &data.directory, name, &pages)?;
    figures.push(searched(kit, &data.directory, name, &found)?);
    figures.push(compared(kit, &data.directory, name)?);
    Ok(figures)
}

/// A run whose judge is a script.
fn judges(kit: &Kit, n_calls: u64, name: &str) -> Result<Vec<Figure>, Failure> {
    eprintln!("{name}: running it");
    let directory = kit.scratch.directory("judged-by-script")?;
    let mut rows = String::new();
    for ix in 0..n_calls {
        // Writing to memory cannot fail.
        let _ = writeln!(rows, "{{\"id\": \"q{ix:06}\", \"answer\": \"answer {ix} to a question about refunds\"}}");
    }
    let reply = "{\"reply\": \"yes\", \"usage\": {\"input\": 40, \"output\": 2}, \"times\": \"*\"}\n";
    let suite = "records: rows.jsonl\nmodels: { judge: script/replies.jsonl }\ntasks:\n  - { id: polite, judge: { prompt: 'Is this polite? ${answer}' }, operator: contains, expected_value: 'yes' }\n";
    for (file, text) in [("rows.jsonl", rows.as_str()), ("replies.jsonl", reply), ("suite.yaml", suite)] {
        fs::write(directory.join(file), text).map_err(|it| Failure::new(format!("cannot write {file}: {it}")))?;
    }
    kit.jurat.ask(&kit.yardstick, &directory, 50)?;
    let page = |name, address: &str, shows, most_ms| Page { name, address: address.to_owned(), shows, most_ms };
    let middle = format!("/cases/q{:06}", n_calls / 2);
    let pages = [
        page("next page of cases", "/cases?from=100", "q0001", MOST_NEXT_MS),
        page("filter by tokens", "/cases?q=tokens%3E10", "q0000", MOST_FILTER_MS),
        page("order by cost", "/cases?sort=cost&dir=desc", "case", MOST_SORT_MS),
        page("order by latency", "/cases?sort=latency&dir=desc", "case", MOST_SORT_MS),
        page("case page", &middle, "Is this polite?", MOST_CASE_MS),
        page("cost", "/cost", "By task", MOST_SORT_MS),
    ];
    visit(kit, &directory, name, &pages)
}

/// Measures pages of the latest run of a directory, and the memory of the server afterwards.
fn visit(kit: &Kit, directory: &Path, name: &str, pages: &[Page]) -> Result<Vec<Figure>, Failure> {
    let started = Instant::now();
    let server = Server::start(kit.jurat.path(), directory, &[])?;
    server.get(&format!("{}/cases", server.run), "case")?;
    let first = started.elapsed().as_secs_f64() * 1e3;
    let figure = |what: &str, ms: f64, most: f64| {
        Figure::new(format!("{name}: {what}"), ms, Unit::Milliseconds).target(Target::AtMost(most))
    };
    let mut figures = vec![figure("start to first page of cases", first, MOST_FIRST_MS)];
    for page in pages {
        let address = format!("{}{}", server.run, page.address);
        let times: Result<Vec<f64>, Failure> =
            (0..ROUNDS).map(|_| server.get(&address, page.shows).map(|it| it.0)).collect();
        let times = times?;
        let cold = format!("first time {:.0} ms", times[0]);
        figures.push(figure(page.name, least(&times), page.most_ms).note(cold));
    }
    let peak = Figure::new(format!("{name}: peak memory of the server"), server.peak_mb()?, Unit::Megabytes);
    figures.push(peak.target(Target::AtMost(MOST_MB)));
    Ok(figures)
}

/// How long it takes until a search over all rows has found a text that one row has, answer by answer.
fn searched(kit: &Kit, directory: &Path, name: &str, address: &str) -> Result<Figure, Failure> {
    let server = Server::start(kit.jurat.path(), directory, &[])?;
    let (mut scan, mut slowest, started) = (0, 0.0_f64, Instant::now());
    loop {
        let (ms, page) = server
            .get(&format!("{}{}&scan={scan}", server.run, address.replace("/cases?", "/cases.json?")), "version")?;
        slowest = slowest.max(ms);
        let page: Value = serde_json::from_str(&page).map_err(|it| Failure::new(format!("no JSON: {it}")))?;
        let is_found = page["cases"].as_array().is_some_and(|it| !it.is_empty());
        match page["search"]["next"].as_u64().filter(|_| !is_found) {
            Some(next) => scan = next,
            None if is_found => break,
            None => return Err(Failure::new("a search does not find a text that is there")),
        }
    }
    let ms = started.elapsed().as_secs_f64() * 1e3;
    let figure = Figure::new(format!("{name}: text that one row in the middle has"), ms, Unit::Milliseconds);
    Ok(figure.target(Target::AtMost(2.0 * MOST_SEARCH_MS)).note(format!("slowest answer {slowest:.0} ms")))
}

/// Two runs beside each other.
fn compared(kit: &Kit, directory: &Path, name: &str) -> Result<Figure, Failure> {
    let file = |it: &Path| run_file(it).ok_or_else(|| Failure::new("there is no run file"));
    let base = file(directory)?.to_string_lossy().into_owned();
    let other = kit.scratch.directory("viewed-too")?;
    let n_rows = if kit.is_quick { 100_000 } else { 1_000_000 };
    let data = kit.yardstick.records(other.clone(), "nested", n_rows, 12)?;
    kit.jurat.judge(&kit.yardstick, &data)?;
    let new = file(&other)?.to_string_lossy().into_owned();
    let started = Instant::now();
    let server = Server::start(kit.jurat.path(), directory, &[&base, &new])?;
    let first = server.first.clone();
    server.get(&first, "✗")?;
    let ms = started.elapsed().as_secs_f64() * 1e3;
    let memory = format!("{:.0} MB", server.peak_mb()?);
    let figure = Figure::new(format!("{name}: start to comparison of two runs"), ms, Unit::Milliseconds);
    Ok(figure.target(Target::AtMost(MOST_COMPARE_MS)).note(memory))
}

/// A `jurat view` that answers.
struct Server {
    process: Child,
    host: String,
    key: String,
    /// The address of the page that it names.
    first: String,
    /// That of the latest run.
    run: String,
}

impl Server {
    fn start(jurat: &Path, directory: &Path, runs: &[&str]) -> Result<Server, Failure> {
        let failed = |it: std::io::Error| Failure::new(format!("the viewer cannot be started: {it}"));
        let mut command = Command::new(jurat);
        command.current_dir(directory).arg("view").args(runs).args(["--port", "0", "--json"]);
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(failed)?;
        let mut line = String::new();
        let out = process.stdout.take().ok_or_else(|| Failure::new("the viewer has no output"))?;
        BufReader::new(out).read_line(&mut line).map_err(failed)?;
        let said: Value =
            serde_json::from_str(&line).map_err(|it| Failure::new(format!("the viewer said `{line}`: {it}")))?;
        let url = said["url"].as_str().unwrap_or_default();
        let (address, key) = url.split_once("key=").ok_or_else(|| Failure::new("the viewer named no key"))?;
        let rest = address.strip_prefix("http://").unwrap_or(address);
        let (host, first) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let first = first.trim_end_matches(['?', '&']).to_owned();
        let mut server = Server { process, host: host.to_owned(), key: key.to_owned(), first, run: String::new() };
        if runs.is_empty() {
            server.run = server.latest()?;
        }
        Ok(server)
    }

    /// Where the latest run is.
    fn latest(&self) -> Result<String, Failure> {
        let answer = self.ask("/runs/latest")?;
        let location = answer
            .lines()
            .find_map(|it| it.to_ascii_lowercase().starts_with("location:").then(|| it[9..].trim().to_owned()));
        location.ok_or_else(|| Failure::new("the viewer does not know the latest run"))
    }

    /// Asks for an address: milliseconds until its last byte, and the page.
    fn get(&self, address: &str, shows: &str) -> Result<(f64, String), Failure> {
        let started = Instant::now();
        let answer = self.ask(address)?;
        let ms = started.elapsed().as_secs_f64() * 1e3;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        if !head.starts_with("HTTP/1.1 200") || !body.contains(shows) {
            let status = head.lines().next().unwrap_or_default();
            return Err(Failure::new(format!("`{address}` does not show `{shows}`: {status}")));
        }
        Ok((ms, body.to_owned()))
    }

    fn ask(&self, address: &str) -> Result<String, Failure> {
        let failed = |it: std::io::Error| Failure::new(format!("the viewer does not answer: {it}"));
        let mut stream = TcpStream::connect(&self.host).map_err(failed)?;
        let Server { host, key, .. } = self;
        let request = format!(
            "GET {address} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).map_err(failed)?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).map_err(failed)?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }

    /// The most memory that it held.
    fn peak_mb(&self) -> Result<f64, Failure> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()));
        let status = status.map_err(|it| Failure::new(format!("the memory of the viewer is not known: {it}")))?;
        let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|it| it.trim().trim_end_matches("kB").trim().parse::<f64>().ok());
        kilobytes.map(|it| it / 1024.0).ok_or_else(|| Failure::new("the memory of the viewer is not known"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
