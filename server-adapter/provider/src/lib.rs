//! `deskfleet-provider`: makes the actions happen that a deskfleet server has accepted, in a cloud, by a program or by a web service.
//!
//! It talks only to the operator surface of the server, and keeps nothing: the outbox says what is to do and which attempts there were.

mod amazon;
mod args;
pub mod aws;
mod calls;
mod cap;
mod command;
mod driving;
mod fleet;
mod kind;
mod lease;
mod listening;
mod log_line;
mod memory;
mod sleep;
mod status;
mod step;
mod sync;
mod trace;
mod webhook;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;
use std::time::{Duration, SystemTime};

use clap::Parser as _;
use deskfleet::{Action, Timestamp};
use deskfleet_server::LogQueue;

use self::amazon::Amazon;
use self::args::{AwsArgs, Cli, Common, ProviderCommand, WebhookArgs};
use self::aws::client::{Client, Settings};
use self::aws::credentials::{CredentialsCache, Environment};
use self::cap::Cap;
use self::driving::{Driving, Pace};
use self::fleet::{Fleet, Pending, Refusal};
use self::kind::Kind;
use self::lease::Wanted;
use self::sleep::sleep;
use self::status::Status;
use self::sync::Sync;
use self::webhook::Webhook;
use deskfleet_client::backoff::{pause, random};

/// Time for the last log lines.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Actions that are printed, of each kind.
const PRINTED: usize = 20;
/// The least time between two attempts to reach the server at the start.
const FLEET_PAUSE: Duration = Duration::from_secs(1);

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

fn run(command: &ProviderCommand) -> Result<(), String> {
    let common = command.common();
    let fleet = Fleet::new(&common.url, &common.key_file, common.ca.as_deref())?;
    if let ProviderCommand::Aws(args) = command
        && args.inventory_only
    {
        return keep_inventory(common, fleet, Arc::new(amazon(args)?), args.scan_every);
    }
    let mut name = command.kind().to_owned();
    let (kind, amazon): (Arc<dyn Kind>, _) = match command {
        ProviderCommand::Aws(args) => {
            let amazon = Arc::new(amazon(args)?);
            let kind = Arc::clone(&amazon);
            // One for each account and region.
            for part in [Some(amazon.client.region()), args.account.as_deref()] {
                name.extend(part.into_iter().flat_map(|part| ["-", part]));
            }
            (kind, (!args.no_sync).then_some((amazon, args.scan_every)))
        }
        ProviderCommand::Command(args) => {
            let program = command::Program {
                line: args.program.clone(),
                time: args.timeout,
            };
            program.check()?;
            (Arc::new(program), None)
        }
        ProviderCommand::Webhook(args) => (Arc::new(webhook(args)?), None),
    };
    let name = common.name.clone().unwrap_or(name);
    if !common.apply {
        let amazon = amazon.as_ref().map(|(amazon, _)| &**amazon);
        return plan(&fleet, &name, amazon, common.max_destructive);
    }
    drive(common, &fleet, kind, name, amazon)
}

fn amazon(args: &AwsArgs) -> Result<Amazon, String> {
    let environment = Environment::of_process();
    let region = match &args.region {
        Some(region) => Some(region.clone()),
        None => environment.region().map_err(|error| error.to_string())?,
    };
    let region = region.ok_or("name the region with --region, or set AWS_REGION")?;
    let settings = Settings {
        endpoint: args.endpoint.clone(),
        ca: args.endpoint_ca.clone(),
        per_second: args.rate,
        burst: args.burst,
        ..Settings::in_region(&region)
    };
    let client = Client::new(settings, CredentialsCache::new(environment));
    Ok(Amazon {
        client: client.map_err(|error| error.to_string())?,
        account: args.account.clone(),
        answers_within: args.common.settle * 2,
        switches_mode: args.switch_running_mode,
    })
}

fn webhook(args: &WebhookArgs) -> Result<Webhook, String> {
    let webhook = Webhook::new(
        args.target.clone(),
        &args.secret_file,
        args.fleet.clone(),
        args.timeout,
        args.common.ca.as_deref(),
    );
    webhook.map_err(|error| error.to_string())
}

/// Prints what would be begun.
fn plan(
    fleet: &Fleet,
    name: &str,
    amazon: Option<&Amazon>,
    max_destructive: u32,
) -> Result<(), String> {
    let pending = fleet.pending().map_err(|refusal| refusal.to_string())?;
    check_simulated(&fleet.simulated().map_err(|refusal| refusal.to_string())?)?;
    let ours = |action: &&Pending| action.provider.as_ref().is_none_or(|by| by == name);
    let ours: Vec<&Pending> = pending.iter().filter(ours).collect();
    let mut out = String::new();
    if let Some(amazon) = amazon {
        out = sync::plan(fleet, amazon)?;
    }
    let _ = writeln!(out, "{} actions that no clock ends", ours.len());
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
    let destructive = |of: &&&Pending| of.action().is_some_and(step::is_destructive);
    let destructive = ours.iter().filter(destructive).count();
    if destructive > usize::try_from(max_destructive).unwrap_or(usize::MAX) {
        let _ = writeln!(
            out,
            "{destructive} of them destroy, of which {max_destructive} would begin within an hour (--max-destructive)"
        );
    }
    out.push_str(
        "Nothing was begun: that takes --apply. What is on hold by then, or not shown by the cloud, is not begun.\n",
    );
    let written = io::Write::write_all(&mut io::stdout(), out.as_bytes());
    written.map_err(|error| format!("cannot write to standard output: {error}"))
}

/// Asks the server until it answers; `None` at a stop.
///
/// # Errors
///
/// What it refuses, such as the key.
fn until_found<T>(
    status: &Status,
    stop: &AtomicBool,
    ask: impl Fn() -> Result<T, Refusal>,
) -> Result<Option<T>, String> {
    let mut failures = 0;
    loop {
        match ask() {
            Ok(answer) => return Ok(Some(answer)),
            Err(refusal @ Refusal::Problem { .. }) => return Err(refusal.about_the_key()),
            Err(refusal) => status.fleet_lost(&refusal),
        }
        failures += 1;
        if !sleep(pause(failures, Some(FLEET_PAUSE), random()), stop) {
            return Ok(None);
        }
    }
}

/// Keeps the inventory as the cloud shows it, and leaves all actions alone.
fn keep_inventory(
    common: &Common,
    fleet: Fleet,
    amazon: Arc<Amazon>,
    every: Duration,
) -> Result<(), String> {
    let status = Arc::new(Status::default());
    let stop = Arc::new(AtomicBool::new(false));
    listening::start(common.listen, &status, &stop).map_err(|error| error.to_string())?;
    if until_found(&status, &stop, || fleet.pending())?.is_none() {
        return Ok(());
    }
    log_line::say(&format!(
        "deskfleet-provider {}: keeping the inventory of {} as the cloud shows {}; all actions are left alone",
        env!("CARGO_PKG_VERSION"),
        common.url,
        amazon.client.region()
    ));
    Sync::new(fleet, amazon, status, every).run(&stop);
    log_line::say("deskfleet-provider: stopped");
    Ok(())
}

/// Refuses to drive where the server simulates all actions, and says which it simulates otherwise.
fn check_simulated(simulated: &[String]) -> Result<(), String> {
    if simulated.len() == Action::ALL.len() {
        return Err(
            "the clock of the server ends all actions, so there is nothing to carry out: set actions.driver of the server to host, or \
             actions.drivers for some kinds of action; a provider for aws can keep the inventory alone with --inventory-only"
                .to_owned(),
        );
    }
    if !simulated.is_empty() {
        log_line::say(&format!(
            "left to the clock of the server, which simulates them: {}",
            simulated.join(", ")
        ));
    }
    Ok(())
}

fn drive(
    common: &Common,
    fleet: &Fleet,
    kind: Arc<dyn Kind>,
    name: String,
    synced: Option<(Arc<Amazon>, Duration)>,
) -> Result<(), String> {
    let failed = |error: io::Error| error.to_string();
    let (status, stop) = (Arc::<Status>::default(), Arc::<AtomicBool>::default());
    listening::start(common.listen, &status, &stop).map_err(failed)?;
    let wanted = Wanted {
        fleet: fleet.within(common.lease / lease::ATTEMPTS, common.ca.as_deref())?,
        name: name.clone(),
        time: common.lease,
    };
    let Some(taken_at) = wanted.wait(&status, &stop)? else {
        return Ok(());
    };
    let lease = wanted.keep(&status, &stop).map_err(failed)?;
    let driven = drive_with_lease(
        common,
        fleet,
        kind,
        (name, taken_at),
        synced,
        (&status, &stop),
    );
    if lease.give_back() {
        return Err(
            "another process of this name has the lease now: this one was frozen, cut off, or started where the server knew no leases. What was begun \
             goes on there; started again, this one stands by"
                .to_owned(),
        );
    }
    driven
}

/// Says which other providers have begun actions.
fn say_others(pending: &[Pending], name: &str) {
    let others: BTreeSet<&str> = pending
        .iter()
        .filter_map(|of| of.provider.as_deref())
        .collect();
    for other in others.into_iter().filter(|other| *other != name) {
        log_line::say(&format!(
            "actions that the provider {other} has begun are left to it; start one with --name {other} where it runs no more"
        ));
    }
}

/// Drives until `stop`. What was begun before is counted once this process has the lease: until then another one begins more.
fn drive_with_lease(
    common: &Common,
    fleet: &Fleet,
    kind: Arc<dyn Kind>,
    (name, taken_at): (String, Timestamp),
    synced: Option<(Arc<Amazon>, Duration)>,
    (status, stop): (&Arc<Status>, &Arc<AtomicBool>),
) -> Result<(), String> {
    let failed = |error: io::Error| error.to_string();
    let hour = Timestamp::from(SystemTime::now()).plus_seconds(-3600);
    let all = Action::ALL.iter().copied();
    let destructive = all.filter(|action| step::is_destructive(*action));
    let asked = || {
        Ok((
            fleet.ended(&name, destructive.clone(), hour)?,
            fleet.pending()?,
            fleet.simulated()?,
        ))
    };
    let Some((mut begun, pending, simulated)) = until_found(status, stop, asked)? else {
        return Ok(());
    };
    check_simulated(&simulated)?;
    let recent = pending.iter().filter(|of| {
        of.provider.as_ref() == Some(&name)
            && of.action().is_some_and(step::is_destructive)
            && of.note.as_deref() != Some(fleet::REFUSED)
    });
    begun.extend(
        recent
            .filter_map(|of| of.last_attempt_at)
            .filter(|at| *at >= hour),
    );
    let pace = Pace {
        every: common.every,
        least: common.settle,
    };
    let cap = Cap::new(common.max_destructive, begun);
    log_line::say(&format!(
        "deskfleet-provider {}: driving the actions of {} as {name}, {} of them now; this process is {}",
        env!("CARGO_PKG_VERSION"),
        common.url,
        pending.len(),
        fleet.instance()
    ));
    say_others(&pending, &name);
    let threads = usize::from(common.parallel);
    if let Some((amazon, every)) = synced {
        let sync = Sync::new(fleet.clone(), amazon, Arc::clone(status), every);
        let stop = Arc::clone(stop);
        let thread = Builder::new().name("deskfleet-sync".into());
        thread.spawn(move || sync.run(&stop)).map_err(failed)?;
    }
    let driving = Driving::new(
        fleet.clone(),
        kind,
        name,
        pace,
        (cap, threads),
        Arc::clone(status),
    );
    let mut driving = driving.map_err(failed)?;
    driving.leave_to_the_other(&pending, taken_at);
    driving.run(stop);
    if !stop.load(Ordering::Relaxed) {
        return Err("the loop ended".to_owned());
    }
    log_line::say(
        "deskfleet-provider: stopped; what was begun goes on, and the next start finds it",
    );
    Ok(())
}
