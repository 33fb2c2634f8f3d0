//! From arguments to an exit code.

mod args;
mod backups;
mod failure;
mod import;
mod keys;
mod output;
mod serve;
mod signals;
mod store;

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use deskfleet_server::LogQueue;

use self::args::Command;
use self::failure::Failure;
use self::output::{data, log, say};

const HELP: &str = include_str!("help.txt");

/// Time for the last log lines of a server.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Runs the command that `arguments` ask for.
pub(crate) fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let command = args::parse(arguments);
    let serves = matches!(command, Ok(Command::Serve(_)));
    let done = command.and_then(run);
    match &done {
        Err(failure) if serves => log!("deskfleet: {failure}"),
        Err(failure) => say!("deskfleet: {failure}"),
        Ok(()) => {}
    }
    if serves {
        LogQueue::stderr().flush(LAST_WORDS);
    }
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Failed(_)) => ExitCode::from(1),
        Err(Failure::Usage(_)) => ExitCode::from(2),
    }
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Help => data(HELP.trim_end()),
        Command::Version => data(concat!("deskfleet ", env!("CARGO_PKG_VERSION"))),
        Command::Serve(args) => serve::run(&args),
        Command::Import { file, data } => import::run(&file, &data),
        Command::IssueKey { key, data } => keys::issue(key, &data),
        Command::ListKeys { data } => keys::list(&data),
        Command::RevokeKey { id, data } => keys::revoke(id, &data),
        Command::Check { data } => store::check(&data),
        Command::Backup { destination, data } => store::backup(&destination, &data),
        Command::Compact { data } => store::compact(&data),
    }
}
