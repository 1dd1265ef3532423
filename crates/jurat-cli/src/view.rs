//! `jurat view`: runs as pages in a browser.

use std::io::{self, Write};
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::Args;
use jurat_view::route::{Compare, Route, Runs};
use jurat_view::{Library, Options, Server};

use crate::exit::Exit;
use crate::failure::{Failure, exit};
use crate::interrupt::asked_to_end;
use crate::run_name::run_file;

/// Opens runs in a browser: tables of cases, verdicts with everything they rest on, runs side by side
///
/// Prints an address and serves it, to this machine alone, until Ctrl-C. The address holds a key: without it nothing is shown. To look at runs of another
/// machine, forward its port: `ssh -L 7411:127.0.0.1:7411 HOST`.
#[derive(Args)]
pub(crate) struct View {
    /// The runs: files, beginnings of their names, `latest`, or directories of shards, also while they run; one is shown, several are compared, the first is the base [default: all runs of the project]
    runs: Vec<String>,
    /// Port to listen on; 0 takes any that is free [default: 7411, or the next that is free up to 7420]
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Open the address in the browser of this system
    #[arg(long)]
    open: bool,
    /// File that labels are read from and added to [default: `labels.jsonl` beside the suite of a run, else in the directory of the project]
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Name of the person who labels [default: the name of the user]
    #[arg(long = "as", value_name = "NAME")]
    annotator: Option<String>,
    /// Accept no labels
    #[arg(long)]
    read_only: bool,
    /// Address to listen on; one that other machines reach needs `--origin`
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: IpAddr,
    /// Origin under which the server is reached, such as `https://jurat.example.org`; may be repeated
    #[arg(long = "origin", value_name = "URL")]
    origins: Vec<String>,
    /// Print the address as JSON
    #[arg(long)]
    json: bool,
}

impl View {
    pub(crate) fn run(&self) -> Exit {
        exit(self.view())
    }

    fn view(&self) -> Result<Exit, Failure> {
        let mut library = Library::new(".".as_ref(), []);
        let files = self.runs.iter().map(|it| run_file(it)).collect::<Result<Vec<_>, _>>()?;
        let ids: Vec<String> = files.into_iter().map(|it| library.add(it)).collect();
        let options = Options {
            port: self.port,
            host: self.host,
            origins: self.origins.clone(),
            read_only: self.read_only,
            labels: self.labels.clone(),
            annotator: self.annotator.clone().filter(|it| !it.is_empty()).unwrap_or_else(user),
        };
        let server = Server::bind(library, &options).map_err(|error| Failure::Reason(error.to_string()))?;
        let url = server.url(&first_page(&ids));
        let mut out = io::stdout().lock();
        if self.json {
            writeln!(out, "{{\"version\":1,\"url\":\"{url}\"}}")?;
        } else {
            writeln!(out, "{url}")?;
        }
        out.flush()?;
        drop(out);
        if self.open {
            open_browser(&url)?;
        }
        server.run(asked_to_end()).map_err(|error| Failure::Reason(error.to_string()))?;
        Ok(Exit::Good)
    }
}

/// The name of the user, as the system has it.
fn user() -> String {
    let name = ["USER", "LOGNAME", "USERNAME"].iter().find_map(|it| std::env::var(it).ok().filter(|it| !it.is_empty()));
    name.unwrap_or_else(|| "unnamed".to_owned())
}

/// What is shown of some runs: all, one, or several beside each other.
fn first_page(ids: &[String]) -> Route {
    match ids {
        [] => Route::Runs(Runs::default()),
        [one] => Route::overview(one),
        [base, new @ ..] => Route::Compare(Compare { base: base.clone(), new: new.to_vec(), ..Compare::default() }),
    }
}

/// Has the system open an address.
fn open_browser(url: &str) -> Result<(), Failure> {
    let (program, before): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/c", "start", ""]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(program);
    command.args(before).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        Ok(_) => Ok(()),
        Err(error) => Ok(writeln!(io::stderr(), "no browser was opened: `{program}`: {error}")?),
    }
}
