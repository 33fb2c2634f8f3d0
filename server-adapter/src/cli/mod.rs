//! From arguments to an exit code.

mod args;
mod failure;
mod import;
mod keys;
mod output;
mod serve;
mod signals;
mod store;

use std::ffi::OsString;
use std::process::ExitCode;

use self::args::Command;
use self::failure::Failure;
use self::output::{data, say};

const HELP: &str = include_str!("help.txt");

/// Runs the command that `arguments` ask for.
pub(crate) fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let done = args::parse(arguments).and_then(run);
    if let Err(failure) = &done {
        say!("deskfleet: {failure}");
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
