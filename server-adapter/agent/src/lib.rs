//! `deskfleet-agent`: sends what a desktop measures to a deskfleet server, and keeps it while the server is away.
//!
//! | file or folder | holds |
//! |---|---|
//! | `running.rs` | the loop: what is due, and what the machine, the sessions and the spool have to do with it |
//! | `machine/`, `sessions/` | what is measured |
//! | `records.rs`, `utc.rs` | the records as the server reads them |
//! | `spool/` | pending records, in files |
//! | `delivery.rs`, `server.rs` | sending: when, how much, and what a response means |
//! | `schedule.rs` | the moments of each agent |
//! | `settings/`, `command_line.rs` | the settings and where they come from |
//! | `report.rs` | what scripts report through the agent |
//! | `swarm.rs` | many synthetic agents in one process |

mod command_line;
mod delivery;
mod log_line;
mod machine;
mod permissions;
mod records;
mod report;
mod running;
mod schedule;
mod server;
mod sessions;
mod settings;
mod spool;
mod swarm;
mod utc;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use self::command_line::Action;
use self::records::Record;
use self::server::Target;
use self::settings::Settings;

/// Runs the command line; returns its exit code.
pub fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let matches = match command_line::command().try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) => {
            // Nobody may be reading; that is no failure.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let environment = std::env::vars_os().filter_map(|(name, value)| {
        let name = name.to_str()?.to_owned();
        Some((name, value.to_string_lossy().into_owned()))
    });
    let file = command_line::config(&matches);
    let settings = match Settings::load(
        file.as_deref(),
        environment,
        command_line::options(&matches),
    ) {
        Ok(settings) => settings,
        Err(wrong) => return fail(&wrong, 2),
    };
    match run(&settings, &command_line::action(&matches)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => fail(&why, 1),
    }
}

/// Says what is wrong, each thing on a line.
fn fail(wrong: &str, code: u8) -> ExitCode {
    for line in wrong.lines() {
        log_line::say(&format!("deskfleet-agent: {line}"));
    }
    ExitCode::from(code)
}

fn run(settings: &Settings, action: &Action) -> Result<(), String> {
    match action {
        Action::Run => running::run(settings, target(settings)?),
        Action::Once => running::run_once(settings, target(settings)?),
        Action::DryRun => {
            let records = running::measure_once(settings)?;
            let text: String = records
                .iter()
                .map(Record::line)
                .map(|line| line + "\n")
                .collect();
            let written = std::io::stdout().write_all(text.as_bytes());
            written.map_err(|error| format!("cannot write to standard output: {error}"))
        }
        Action::Report(report) => report::run(settings, report),
        Action::Swarm(swarm) => swarm::run(settings, &target(settings)?, *swarm),
        Action::Inventory(agents) => swarm::print_inventory(*agents),
    }
}

fn target(settings: &Settings) -> Result<Target, String> {
    let url = settings.url.clone();
    Ok(Target {
        url: url.ok_or("name the server with --url, such as --url http://127.0.0.1:8080")?,
        key_file: settings.key_file.clone(),
        ca: settings.ca.clone(),
    })
}
