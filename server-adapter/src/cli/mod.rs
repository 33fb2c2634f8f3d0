//! From arguments to an exit code.

mod args;
mod backups;
mod client;
mod client_body;
mod client_files;
mod client_socket;
#[cfg(feature = "tls")]
mod client_tls;
#[cfg(feature = "cluster")]
mod cluster;
mod cluster_args;
#[cfg(feature = "cluster")]
mod cluster_restore;
mod configuration;
#[cfg(feature = "console")]
mod console_link;
#[cfg(feature = "cluster")]
mod doctor;
mod double;
mod export;
mod export_args;
mod export_file;
mod export_rows;
mod export_source;
mod failure;
mod import;
#[cfg(feature = "cluster")]
mod join;
mod keys;
#[cfg(feature = "cluster")]
mod node;
mod origin;
mod output;
#[cfg(feature = "parquet")]
mod parquet;
mod progress_line;
mod reload;
mod restore;
mod serve;
mod server_args;
mod server_url;
mod setting_args;
mod signals;
mod start_keys;
mod status;
mod store;
mod systemd;
mod telemetry;
mod texts;

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use deskfleet_server::{LogFormat, LogQueue};

use self::args::Command;
use self::configuration::Configuration;
use self::failure::Failure;
use self::output::{data, say};

/// Time for the last log lines of a server.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Runs the command that `arguments` ask for.
pub(crate) fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.collect();
    let wrong = wrong_usage(&arguments);
    let command = match args::parse(arguments.into_iter()) {
        Ok(command) => command,
        Err(error) => return print(&error, wrong),
    };
    let loaded = command.overrides().as_ref().map(Configuration::load);
    let serves = matches!(command, Command::Serve(_));
    let configuration = match loaded.transpose() {
        Ok(configuration) => configuration.unwrap_or_default(),
        Err(invalid) if serves && invalid.log_format == LogFormat::Json => {
            let log = LogQueue::stderr();
            log.set_json(true);
            log.error(&invalid.to_string());
            log.flush(LAST_WORDS);
            return ExitCode::from(2);
        }
        Err(invalid) => {
            say!("{invalid}");
            return ExitCode::from(wrong);
        }
    };
    if serves {
        // Lines before the server runs, and that about why it does not, are in its form too.
        let format = configuration.settings.server.log_format;
        LogQueue::stderr().set_json(format == LogFormat::Json);
    }
    let done = signals::ignore_file_limits()
        .map_err(|error| Failure::caused("cannot catch signals", &error))
        .and_then(|()| run(command, &configuration));
    match &done {
        Err(failure) if serves => LogQueue::stderr().error(&format!("deskfleet: {failure}")),
        Err(failure) => say!("deskfleet: {failure}"),
        Ok(_) => {}
    }
    if serves {
        LogQueue::stderr().flush(LAST_WORDS);
    }
    done.unwrap_or(ExitCode::FAILURE)
}

/// The exit code for what cannot be asked for. To monitoring 2 means critical, so `status` has the code of what is not known.
fn wrong_usage(arguments: &[OsString]) -> u8 {
    let is_command = |argument: &&OsString| !argument.as_encoded_bytes().starts_with(b"-");
    let command = arguments.iter().find(is_command);
    if command.is_some_and(|command| command == "status") {
        status::UNKNOWN
    } else {
        2
    }
}

/// Prints help and version on standard output, what is wrong with the arguments on standard error.
fn print(outcome: &clap::Error, wrong: u8) -> ExitCode {
    let text = outcome.render().to_string();
    if outcome.use_stderr() {
        say!("{}", text.trim_end());
        return ExitCode::from(wrong);
    }
    match data(text.trim_end()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn run(command: Command, configuration: &Configuration) -> Result<ExitCode, Failure> {
    let done = match command {
        Command::Serve(args) => serve::run(configuration, &args),
        Command::Config(_) => configuration.print(),
        Command::Import(args) => import::run(&args, configuration),
        Command::Export(args) => export::run(args, configuration),
        Command::Completions { shell } => texts::print_completions(shell),
        Command::Man => texts::print_man_page(),
        Command::Keys(command) => keys::run(command, configuration),
        Command::Telemetry(command) => telemetry::run(command, configuration),
        Command::Double(args) => double::run(&args),
        Command::Cluster(command) => cluster::run(command),
        Command::Check { .. } => store::check(configuration),
        Command::Backup { destination, .. } => store::backup(&destination, configuration),
        Command::Restore { copy, .. } => restore::run(&copy, configuration),
        Command::Compact { .. } => store::compact(configuration),
        Command::Status(args) => return Ok(status::run(&args, configuration)),
    };
    done.map(|()| ExitCode::SUCCESS)
}

#[cfg(not(feature = "cluster"))]
mod cluster {
    use super::args::ClusterCommand;
    use super::failure::Failure;

    pub(super) fn run(_: ClusterCommand) -> Result<(), Failure> {
        let message = "this deskfleet knows nothing of several nodes: it was built without the features `postgres` and `nats`";
        Err(Failure(message.to_owned()))
    }
}
