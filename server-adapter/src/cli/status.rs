//! `status`: what is wrong now, for people and for monitoring.

use std::fmt;
use std::process::ExitCode;

use clap::Args;
use deskfleet::{Condition, Timestamp};
use serde::Deserialize;

use super::client::Client;
use super::configuration::{Configuration, Overrides};
use super::failure::Failure;
use super::output::{data, say};
use super::server_args::ServerArgs;
use super::setting_args::StoreFile;
use super::store::open_read_only;

const PATH: &str = "/query/conditions";
const WHEN_LOCKED: &str =
    "If that is a running server, ask it: --url http://HOST:PORT --key-file FILE";

/// The exit code where the conditions cannot be read.
pub(super) const UNKNOWN: u8 = 3;

/// The options of `status`.
#[derive(Debug, PartialEq, Eq, Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    store: StoreFile,
}

impl StatusArgs {
    /// The configuration of the command.
    pub(crate) fn overrides(&self) -> Overrides {
        self.store.overrides()
    }
}

/// A condition, from either source.
#[derive(Deserialize)]
pub(super) struct Shown {
    pub(super) code: String,
    severity: String,
    since: Timestamp,
    text: String,
    count: Option<u64>,
    pub(super) subjects: Vec<String>,
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            code,
            severity,
            since,
            text,
            count,
            subjects,
        } = self;
        write!(f, "{severity} {code} since {since}: {text}")?;
        let Some(count) = count else {
            return Ok(());
        };
        let named = subjects.join(", ");
        let more = count.saturating_sub(subjects.len() as u64);
        match (named.is_empty(), more) {
            (true, _) => write!(f, " ({count})"),
            (false, 0) => write!(f, " ({count}: {named})"),
            (false, _) => write!(f, " ({count}: {named}, ...)"),
        }
    }
}

impl From<Condition> for Shown {
    fn from(condition: Condition) -> Self {
        Self {
            code: condition.code,
            severity: condition.severity.as_str().to_owned(),
            since: condition.since,
            text: condition.text,
            count: condition.count,
            subjects: condition.subjects,
        }
    }
}

/// Prints one line for each condition. The exit codes are those of monitoring plugins.
pub(crate) fn run(args: &StatusArgs, configuration: &Configuration) -> ExitCode {
    ExitCode::from(match print(args, configuration) {
        Ok(worst) => worst,
        Err(failure) => {
            say!("deskfleet: {failure}");
            UNKNOWN
        }
    })
}

/// The conditions of a running server.
pub(super) fn conditions(client: &Client) -> Result<Vec<Shown>, Failure> {
    #[derive(Deserialize)]
    struct Page {
        rows: Vec<Shown>,
    }
    let body = client.get(PATH)?;
    let failed = |error| Failure::caused("the server's response is no list of conditions", &error);
    let page: Page = serde_json::from_slice(&body).map_err(failed)?;
    Ok(page.rows)
}

/// Returns the exit code of the worst condition.
fn print(args: &StatusArgs, configuration: &Configuration) -> Result<u8, Failure> {
    let all = if let Some(client) = args.server.client()? {
        conditions(&client)?
    } else {
        let engine = open_read_only(configuration, WHEN_LOCKED)?;
        let all = engine.conditions().into_iter().map(Shown::from).collect();
        engine.close()?;
        all
    };
    let mut worst = 0;
    for condition in &all {
        worst = worst.max(match &*condition.severity {
            "critical" => 2,
            "warning" => 1,
            _ => 0,
        });
        data(condition)?;
    }
    if all.is_empty() {
        data("ok: nothing is wrong")?;
    }
    Ok(worst)
}
