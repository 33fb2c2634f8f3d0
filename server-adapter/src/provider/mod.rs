//! `deskfleet-provider`: makes the actions happen that a deskfleet server has accepted, in a cloud, by a program or by a web service.
//!
//! It talks only to the operator surface of the server, and keeps nothing: the outbox says what is to do and which attempts there were.

mod args;
mod backoff;
mod calls;
mod cap;
mod command;
mod driving;
mod fleet;
mod http;
mod kind;
mod listening;
mod status;
mod step;
mod trace;
mod webhook;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use clap::Parser as _;
use deskfleet::{Action, Timestamp};

use crate::LogQueue;

use self::args::{Cli, Command, Common};
use self::cap::Cap;
use self::driving::{Driving, Pace};
use self::fleet::{Fleet, Pending};
use self::kind::Kind;
use self::status::Status;

/// Time for the last log lines.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// The least time between a call and the end of its action, where the state that it goes through was not seen.
const LEAST: Duration = Duration::from_secs(60);
/// Actions that are printed, of each kind.
const PRINTED: usize = 20;

/// Runs the command line, without the name of the program; returns its exit code.
pub fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let fail = |why: &str, code| {
        LogQueue::stderr().line(&format!("deskfleet-provider: {why}"));
        LogQueue::stderr().flush(LAST_WORDS);
        ExitCode::from(code)
    };
    let arguments = match args::with_file(arguments.collect()) {
        Ok(arguments) => arguments,
        Err(why) => return fail(&why, 2),
    };
    let name = OsString::from("deskfleet-provider");
    let cli = match Cli::try_parse_from(std::iter::once(name).chain(arguments)) {
        Ok(cli) => cli,
        Err(error) => {
            // Nobody may be reading; that is no failure.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let result = run(&cli.command);
    LogQueue::stderr().flush(LAST_WORDS);
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => fail(&why, 1),
    }
}

fn run(command: &Command) -> Result<(), String> {
    let common = command.common();
    let fleet = Fleet::new(&common.url, &common.key_file, common.ca.as_deref())?;
    let name = common.name.clone();
    let name = name.unwrap_or_else(|| command.kind().to_owned());
    if !common.apply {
        return plan(&fleet, &name);
    }
    let kind = kind(command)?;
    drive(common, fleet, kind, name)
}

fn kind(command: &Command) -> Result<Arc<dyn Kind>, String> {
    Ok(match command {
        Command::Command(args) => Arc::new(command::Program {
            line: args.program.clone(),
            time: args.timeout,
        }),
        Command::Webhook(args) => {
            let webhook = webhook::Webhook::new(
                args.target.clone(),
                &args.secret_file,
                args.fleet.clone(),
                args.timeout,
                args.common.ca.as_deref(),
            );
            Arc::new(webhook.map_err(|error| error.to_string())?)
        }
    })
}

/// Prints what would be begun.
fn plan(fleet: &Fleet, name: &str) -> Result<(), String> {
    let pending = fleet.pending().map_err(|refusal| refusal.to_string())?;
    let ours = |action: &&Pending| action.provider.as_ref().is_none_or(|by| by == name);
    let ours: Vec<&Pending> = pending.iter().filter(ours).collect();
    let mut out = format!("{} actions that no clock ends\n", ours.len());
    for kind in Action::ALL {
        let of_kind: Vec<_> = ours
            .iter()
            .filter(|of| of.action() == Some(*kind))
            .collect();
        if of_kind.is_empty() {
            continue;
        }
        let _ = writeln!(out, "{kind}: {}", of_kind.len());
        for action in of_kind.iter().take(PRINTED) {
            let attempts = action.attempts;
            let id = action.workspace_id.escape_debug();
            let number = action.id;
            let _ = writeln!(out, "  {id} (action {number}, attempts so far {attempts})");
        }
        if let Some(more) = of_kind.len().checked_sub(PRINTED).filter(|more| *more > 0) {
            let _ = writeln!(out, "  and {more} more");
        }
    }
    out.push_str("Nothing was begun: that takes --apply.\n");
    let written = io::Write::write_all(&mut io::stdout(), out.as_bytes());
    written.map_err(|error| format!("cannot write to standard output: {error}"))
}

fn drive(common: &Common, fleet: Fleet, kind: Arc<dyn Kind>, name: String) -> Result<(), String> {
    let failed = |error: io::Error| error.to_string();
    let status = Arc::new(Status::default());
    let stop = Arc::new(AtomicBool::new(false));
    listening::start(common.listen, &status, &stop).map_err(failed)?;
    let hour = Timestamp::from(SystemTime::now()).plus_seconds(-3600);
    let destructive = Action::ALL.iter().copied();
    let destructive = destructive.filter(|action| step::is_destructive(*action));
    let begun = fleet.ended(&name, destructive, hour);
    let mut begun = begun.map_err(|refusal| format!("{refusal}; the key is that of --key-file"))?;
    let pending = fleet.pending().map_err(|refusal| refusal.to_string())?;
    let recent = pending
        .iter()
        .filter(|of| of.action().is_some_and(step::is_destructive));
    begun.extend(
        recent
            .filter_map(|of| of.last_attempt_at)
            .filter(|at| *at >= hour),
    );
    let pace = Pace {
        every: common.every,
        least: LEAST,
    };
    let cap = Cap::new(common.max_destructive, begun);
    status::say(&format!(
        "deskfleet-provider {}: driving the actions of {} as {name}, {} of them now",
        env!("CARGO_PKG_VERSION"),
        common.url,
        pending.len()
    ));
    let threads = usize::from(common.parallel);
    let driving = Driving::new(fleet, kind, name, pace, (cap, threads), Arc::clone(&status));
    driving.map_err(failed)?.run(&stop);
    if !stop.load(Ordering::Relaxed) {
        return Err("the loop ended".to_owned());
    }
    status::say("deskfleet-provider: stopped; what was begun goes on, and the next start finds it");
    Ok(())
}
