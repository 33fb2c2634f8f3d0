//! The command line.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, value_parser};

use super::report::{ACTIVITIES, Report, STARTUP};
use super::settings::SETTINGS;
use super::swarm::Swarm;

/// What to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Measure and send until the end of the process.
    Run,
    /// Measure once, and send that and all pending records.
    Once,
    /// Print what would be sent.
    DryRun,
    Report(Report),
    Swarm(Swarm),
    /// Print the desktops of a swarm of this many agents.
    Inventory(usize),
}

/// The command line, for parsing, help, completions and the manual page.
pub(crate) fn command() -> Command {
    let flag = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
    Command::new("deskfleet-agent")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Sends what this desktop measures to a deskfleet server")
        .long_about(
            "Sends what this desktop measures to a deskfleet server\n\n\
             It sends the load every 5 minutes, the 50 names of processes that use most every 15, each boot, and logons, logoffs, locks \
             and disconnects where the system shows them. It sends no command lines, no titles of windows and no names of files. While \
             the server is away, records stay in a folder, for three weeks by default.\n\n\
             A setting comes from an option, else from the environment (DESKFLEET_AGENT_URL is --url), else from the file of --config, \
             else it has its default.",
        )
        .after_help(
            "Examples:\n  \
             deskfleet-agent --url http://127.0.0.1:8080 --key-file agent.key\n  \
             deskfleet-agent --once --dry-run\n  \
             deskfleet-agent report logon --user jdoe --profile-ms 1200\n\n\
             Text for people goes to standard error, data to standard output.\n\
             Exit codes: 0 done, 1 failed, 2 wrong usage.",
        )
        .subcommand_negates_reqs(true)
        .args(setting_args())
        .arg(flag("once").help("Measure once, send that and all pending records, and end"))
        .arg(
            flag("dry-run")
                .requires("once")
                .help("With --once: print what would be sent, and send nothing"),
        )
        .subcommand(report_command())
        .subcommand(swarm_command())
}

fn report_command() -> Command {
    let millis = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("MILLISECONDS")
            .value_parser(value_parser!(i32).range(0..=86_400_000))
            .help(help)
    };
    let words = ACTIVITIES.iter().map(|(word, _)| *word).chain([STARTUP]);
    Command::new("report")
        .about("Reports what a script knows, through the running agent")
        .long_about(
            "Reports what a script knows, through the running agent\n\n\
             For PAM, logon scripts and Task Scheduler. It writes into the spool of the agent, and so must be run as its user or as root.",
        )
        .after_help(
            "Examples:\n  \
             deskfleet-agent report lock --user jdoe\n  \
             deskfleet-agent report startup --user jdoe --profile-ms 1200 --group-policy-ms 2500 --shell-ms 900",
        )
        .arg(
            Arg::new("what")
                .required(true)
                .value_name("WHAT")
                .value_parser(words.collect::<Vec<_>>())
                .help("What happened"),
        )
        .arg(
            Arg::new("user")
                .long("user")
                .value_name("NAME")
                .help("The user; by default that of the environment variables PAM_USER, USERNAME or USER"),
        )
        .arg(millis("profile-ms", "Time to load the profile"))
        .arg(millis("group-policy-ms", "Time to apply group policy"))
        .arg(millis("shell-ms", "Time to start the shell"))
        .arg(millis("total-ms", "Time of the whole logon; by default the sum of the others"))
        .args(setting_args().filter(|arg| ["spool", "instance", "config"].contains(&arg.get_id().as_str())))
}

fn swarm_command() -> Command {
    let count = |name: &'static str, default: &'static str, max: i64| {
        Arg::new(name)
            .long(name)
            .value_name("COUNT")
            .default_value(default)
            .value_parser(value_parser!(u32).range(..=max))
    };
    let names = ["url", "key_file", "ca", "config"];
    Command::new("swarm")
        .about("Sends what many synthetic desktops measure, for sizing a server")
        .long_about(
            "Sends what many synthetic desktops measure, for sizing a server\n\n\
             Their records stay in the server as those of real desktops do: use a server of its own. The number of open files must be \
             larger than --connections (ulimit -n).",
        )
        .after_help(
            "Examples:\n  \
             deskfleet-agent swarm --agents 5000 --inventory | deskfleet import - --url http://127.0.0.1:8080 --key-file admin.key\n  \
             deskfleet-agent swarm --agents 5000 --minutes 10 --url http://127.0.0.1:8080 --key-file agent.key",
        )
        .arg(count("agents", "5000", 100_000).help("Agents"))
        .arg(count("minutes", "10", 1440).help("Minutes in which they measure; then they send what is pending, for 10 minutes at most"))
        .arg(count("backlog-days", "0", 7).help("Days for which each was offline at the start, and has kept its records"))
        .arg(count("connections", "500", 10_000).help("Agents that send at once"))
        .arg(
            Arg::new("inventory")
                .long("inventory")
                .action(ArgAction::SetTrue)
                .help("Print the desktops for an import, and send nothing"),
        )
        .args(setting_args().filter(move |arg| names.contains(&arg.get_id().as_str())))
}

/// An option for each setting, and for their file.
fn setting_args() -> impl Iterator<Item = Arg> {
    let settings = SETTINGS.iter().map(|setting| {
        Arg::new(setting.name)
            .long(setting.long)
            .value_name(setting.value)
            .value_hint(hint(setting.value))
            .help(setting.help)
    });
    let config = Arg::new("config")
        .long("config")
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .help("TOML file with settings; by default deskfleet-agent.toml, if there is one");
    settings.chain([config])
}

fn hint(value: &str) -> ValueHint {
    match value {
        "FILE" => ValueHint::FilePath,
        "FOLDER" => ValueHint::DirPath,
        "URL" => ValueHint::Url,
        _ => ValueHint::Other,
    }
}

/// What the arguments ask for.
pub(crate) fn action(matches: &ArgMatches) -> Action {
    let report = match matches.subcommand() {
        Some(("swarm", swarm)) => return swarm_action(swarm),
        Some((_, report)) => report,
        None => {
            return match (matches.get_flag("once"), matches.get_flag("dry-run")) {
                (_, true) => Action::DryRun,
                (true, false) => Action::Once,
                (false, false) => Action::Run,
            };
        }
    };
    let millis = |name| report.get_one(name).copied();
    Action::Report(Report {
        what: report
            .get_one::<String>("what")
            .cloned()
            .unwrap_or_default(),
        user: report.get_one("user").cloned(),
        profile_ms: millis("profile-ms"),
        group_policy_ms: millis("group-policy-ms"),
        shell_ms: millis("shell-ms"),
        total_ms: millis("total-ms"),
    })
}

fn swarm_action(matches: &ArgMatches) -> Action {
    let count = |name| matches.get_one::<u32>(name).copied().unwrap_or_default();
    let size = |name| usize::try_from(count(name)).unwrap_or(usize::MAX);
    if matches.get_flag("inventory") {
        return Action::Inventory(size("agents"));
    }
    Action::Swarm(Swarm {
        agents: size("agents"),
        minutes: count("minutes"),
        backlog_days: count("backlog-days"),
        connections: size("connections").max(1),
    })
}

/// The settings that are given as options, of the command or of its subcommand.
pub(crate) fn options(matches: &ArgMatches) -> impl Iterator<Item = (&'static str, String)> {
    let matches = matches.subcommand().map_or(matches, |(_, matches)| matches);
    SETTINGS.iter().filter_map(|setting| {
        let value = matches.try_get_one::<String>(setting.name).ok().flatten()?;
        Some((setting.name, value.clone()))
    })
}

/// The file of `--config`.
pub(crate) fn config(matches: &ArgMatches) -> Option<PathBuf> {
    let matches = matches.subcommand().map_or(matches, |(_, matches)| matches);
    matches.try_get_one("config").ok().flatten().cloned()
}

#[cfg(test)]
#[path = "../../tests/texts/mod.rs"]
mod generated;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_is_well_formed() {
        command().debug_assert();
    }

    #[test]
    fn completions_and_manual_page_are_those_of_the_command_line() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/completions");
        generated::check(folder, "deskfleet-agent", command());
    }

    #[test]
    fn options_of_a_subcommand_are_settings_too() {
        let arguments = [
            "deskfleet-agent",
            "report",
            "lock",
            "--spool",
            "s",
            "--user",
            "jdoe",
        ];
        let matches = command().try_get_matches_from(arguments).unwrap();
        assert_eq!(
            options(&matches).collect::<Vec<_>>(),
            [("spool", "s".to_owned())]
        );
        let Action::Report(report) = action(&matches) else {
            panic!("no report");
        };
        assert_eq!(
            (report.what.as_str(), report.user.as_deref()),
            ("lock", Some("jdoe"))
        );
    }
}
