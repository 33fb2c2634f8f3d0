//! The command line of `deskfleet-provider`.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, CommandFactory, Parser, Subcommand};
use deskfleet::limits::{LEASE_SECONDS_MAX, TEXT_MAX};
use http::Uri;

/// Makes the actions happen that a deskfleet server has accepted
///
/// It asks the server for its outbox, carries out each action that no clock ends, and reports how it ended. Set `actions.driver` of the
/// server to `host`, or `actions.drivers` for some kinds of action. It keeps nothing: it may be stopped, or killed, and started again
/// at any moment.
///
/// Without --apply it prints what it would do, and ends.
#[derive(Debug, Parser)]
#[command(
    name = "deskfleet-provider",
    version,
    args_override_self = true,
    after_help = "Examples:\n  \
        deskfleet-provider aws --url http://127.0.0.1:8080 --key-file admin.key --region eu-central-1 --inventory-only\n  \
        deskfleet-provider aws --url http://127.0.0.1:8080 --key-file admin.key --region eu-central-1\n  \
        deskfleet-provider command --url http://127.0.0.1:8080 --key-file admin.key -- ./restart-desktop.sh\n  \
        deskfleet-provider webhook --url https://fleet.example.com --key-file admin.key --fleet emea --target https://hooks.example.com/desktops --secret-file hook.secret --apply\n\n\
        Text for people goes to standard error, data to standard output.\n\
        Exit codes: 0 done, 1 failed, 2 wrong usage."
)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: ProviderCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum ProviderCommand {
    /// Calls Amazon WorkSpaces, and keeps the inventory as it is there
    ///
    /// Credentials are looked for where the AWS command line looks: the environment, ~/.aws, `credential_process`, the container, the
    /// instance. server-adapter/provider/README.md has the rights that it needs.
    Aws(AwsArgs),
    /// Runs a program for each action
    ///
    /// The program reads one line of JSON on its standard input: id, action, workSpaceId, computeType, attempt. Exit code 0: the action has
    /// happened; 75: try again later; any other: it has failed, for the reason in the first line of standard error. Of the environment it
    /// sees PATH, HOME, LANG, TZ and TMPDIR.
    Command(CommandArgs),
    /// Posts each action to a web service, signed as Standard Webhooks says
    ///
    /// 200 or 204: the action has happened; 202: it is under way, and the service completes it at the server; 425, 429 and 503: try again
    /// later; other 5xx and 408: it may have been carried out; 401 and 403: everything pauses; any other: it has failed. `webhook-id` is the same for each attempt of an action.
    Webhook(WebhookArgs),
}

#[derive(Debug, Args)]
pub(super) struct AwsArgs {
    #[command(flatten)]
    pub(super) common: Common,
    /// The region; by default that of the environment or of the profile
    #[arg(long, value_name = "REGION")]
    pub(super) region: Option<String>,
    /// What the inventory calls the account: records of another one are left alone
    #[arg(long, value_name = "ID", value_parser = name)]
    pub(super) account: Option<String>,
    /// An endpoint in place of that of the region
    #[arg(long, value_name = "URL")]
    pub(super) endpoint: Option<String>,
    /// PEM file with the CAs that are trusted for the endpoint
    #[arg(long, value_name = "FILE")]
    pub(super) endpoint_ca: Option<PathBuf>,
    /// Calls a second
    #[arg(long, value_name = "COUNT", default_value_t = 2.0, value_parser = rate)]
    pub(super) rate: f64,
    /// Calls at once after a pause
    #[arg(long, value_name = "COUNT", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) burst: u32,
    /// Time between two scans of the whole inventory, and up to half as much again
    #[arg(long, value_name = "TIME", default_value = "60m", value_parser = time)]
    pub(super) scan_every: Duration,
    /// Lets a recovery reboot switch the running mode of a desktop that is always on, and back
    ///
    /// AWS stops no such desktop, so without this its recovery reboot fails. In between AWS bills it as one that stops by itself.
    #[arg(long)]
    pub(super) switch_running_mode: bool,
    /// Carries actions out and leaves the inventory alone
    #[arg(long)]
    pub(super) no_sync: bool,
    /// Keeps the inventory as it is there, and does nothing else
    ///
    /// It only describes desktops, so a role that can read is enough, and it leaves all actions alone.
    #[arg(long, conflicts_with_all = ["apply", "no_sync", "switch_running_mode"])]
    pub(super) inventory_only: bool,
}

#[derive(Debug, Args)]
pub(super) struct CommandArgs {
    #[command(flatten)]
    pub(super) common: Common,
    /// How long the program may run; then it is killed
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = time)]
    pub(super) timeout: Duration,
    /// The program and its arguments
    #[arg(required = true, last = true, value_name = "PROGRAM")]
    pub(super) program: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct WebhookArgs {
    #[command(flatten)]
    pub(super) common: Common,
    /// Where to post to: an address of http or https
    #[arg(long, value_name = "URL", value_parser = address)]
    pub(super) target: Uri,
    /// File with the secret: whsec_ and the base64 of 24 to 64 random bytes
    #[arg(long, value_name = "FILE")]
    pub(super) secret_file: PathBuf,
    /// Name of the fleet, which makes the numbers of its actions unique
    ///
    /// Two servers of one web service need different names, and so does one that restarts with an empty store or goes back to a backup.
    #[arg(long, value_name = "NAME")]
    pub(super) fleet: String,
    /// How long an answer may take
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = time)]
    pub(super) timeout: Duration,
}

#[derive(Debug, Args)]
pub(super) struct Common {
    /// Address of the deskfleet server
    #[arg(long, value_name = "URL", value_parser = server)]
    pub(super) url: String,
    /// File with an API key of the server, of the scope admin
    #[arg(long, value_name = "FILE")]
    pub(super) key_file: PathBuf,
    /// PEM file with the CAs that are trusted, in place of those of the system
    #[arg(long, value_name = "FILE")]
    pub(super) ca: Option<PathBuf>,
    /// Carries the actions out; without it they are only printed
    #[arg(long)]
    pub(super) apply: bool,
    /// Name in the outbox and the audit; by default that of the subcommand, with the region and the account of aws
    ///
    /// Two providers of one server have different names. An action belongs to the provider that began it.
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub(super) name: Option<String>,
    /// How long another process of this name waits for this one, where it is gone without a word
    ///
    /// Of the processes of one name one has the lease and carries the actions out. The others stand by.
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = lease)]
    pub(super) lease: Duration,
    /// Most actions that destroy (Rebuild, Restore, Terminate) begun in an hour
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    pub(super) max_destructive: u32,
    /// Calls at once
    #[arg(long, value_name = "COUNT", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(super) parallel: u16,
    /// Time between two looks at the outbox
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = time)]
    pub(super) every: Duration,
    /// The least time between a call and the end of its action, where the cloud was not seen at it
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = time)]
    pub(super) settle: Duration,
    /// Serves /livez and /metrics at this address
    #[arg(long, value_name = "ADDRESS")]
    pub(super) listen: Option<SocketAddr>,
    /// TOML file with options, in a table [provider] by their long names
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
}

impl ProviderCommand {
    pub(super) fn common(&self) -> &Common {
        match self {
            Self::Aws(args) => &args.common,
            Self::Command(args) => &args.common,
            Self::Webhook(args) => &args.common,
        }
    }

    /// The name of the subcommand.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Aws(_) => "aws",
            Self::Command(_) => "command",
            Self::Webhook(_) => "webhook",
        }
    }
}

/// A time such as `30s`, `500ms` or `10m`.
fn time(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let millis = match text.get(digits.len()..).unwrap_or_default() {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => 0,
    };
    let number: Option<u64> = digits.parse().ok();
    let time = number.and_then(|number| number.checked_mul(millis));
    let time = time.filter(|millis| (1..=86_400_000).contains(millis));
    time.map(Duration::from_millis)
        .ok_or_else(|| "write a time from 1ms to 24h, such as 30s".to_owned())
}

/// A time in which a process is not missed.
fn lease(text: &str) -> Result<Duration, String> {
    let lease = time(text).ok();
    let lease =
        lease.filter(|time| (2..=LEASE_SECONDS_MAX).contains(&time.as_secs().cast_signed()));
    lease.ok_or_else(|| "write a time from 2s to 1h, such as 20s".to_owned())
}

/// Calls a second.
fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok();
    rate.filter(|rate| (0.01..=1000.0).contains(rate))
        .ok_or_else(|| "write a number from 0.01 to 1000".to_owned())
}

/// A name that the outbox and the inventory take.
fn name(text: &str) -> Result<String, String> {
    if (1..=TEXT_MAX).contains(&text.chars().count()) {
        Ok(text.to_owned())
    } else {
        Err(format!("write a name of 1 to {TEXT_MAX} characters"))
    }
}

/// The address of a deskfleet server.
fn server(text: &str) -> Result<String, String> {
    let uri = address(text).ok();
    let has_user = |uri: &Uri| uri.authority().is_some_and(|of| of.as_str().contains('@'));
    if uri.is_some_and(|uri| uri.query().is_none() && !has_user(&uri)) {
        Ok(text.to_owned())
    } else {
        Err(
            "write the address of a server, without a user or a query, such as http://127.0.0.1:8080"
                .to_owned(),
        )
    }
}

fn address(text: &str) -> Result<Uri, String> {
    let uri: Uri = text.parse().map_err(|error| format!("{error}"))?;
    if matches!(uri.scheme_str(), Some("http" | "https")) && uri.authority().is_some() {
        Ok(uri)
    } else {
        Err("write an address such as https://hooks.example.com/desktops".to_owned())
    }
}

/// The arguments, with those of the file of `--config` before them: what is on the command line goes before the file.
///
/// # Errors
///
/// One sentence about the file.
pub(super) fn with_file(arguments: Vec<OsString>) -> Result<Vec<OsString>, String> {
    let Some(file) = config_of(&arguments) else {
        return Ok(arguments);
    };
    let place = file.display();
    let text =
        std::fs::read_to_string(&file).map_err(|error| format!("cannot read {place}: {error}"))?;
    let table: toml::Table = text.parse().map_err(|error| format!("{place}: {error}"))?;
    let Some(toml::Value::Table(options)) = table.get("provider") else {
        return Err(format!("{place} has no table [provider]"));
    };
    let mut from_file = Vec::new();
    let known = <Cli as CommandFactory>::command();
    let is_known = |long: &str| {
        let all = known
            .get_subcommands()
            .flat_map(clap::Command::get_arguments);
        all.into_iter().any(|of| of.get_long() == Some(long))
    };
    for (name, value) in options {
        let long = name.replace('_', "-");
        if !is_known(&long) {
            return Err(format!("{place}: there is no option {name}"));
        }
        let option = format!("--{}", name.replace('_', "-"));
        let value = match value {
            toml::Value::Boolean(true) => {
                from_file.push(option.into());
                continue;
            }
            toml::Value::Boolean(false) => continue,
            toml::Value::String(text) => text.clone(),
            toml::Value::Integer(number) => number.to_string(),
            toml::Value::Float(_)
            | toml::Value::Datetime(_)
            | toml::Value::Array(_)
            | toml::Value::Table(_) => {
                return Err(format!(
                    "{place}: provider.{name} is text, a number, true or false"
                ));
            }
        };
        from_file.push(format!("{option}={value}").into());
    }
    let mut arguments = arguments.into_iter();
    // The subcommand comes first.
    let head = arguments.next();
    Ok(head.into_iter().chain(from_file).chain(arguments).collect())
}

/// The file that `--config` names, before `--`.
fn config_of(arguments: &[OsString]) -> Option<PathBuf> {
    let mut arguments = arguments.iter().take_while(|argument| *argument != "--");
    while let Some(argument) = arguments.next() {
        if argument == "--config" {
            return arguments.next().map(PathBuf::from);
        }
        if let Some(file) = argument
            .to_str()
            .and_then(|text| text.strip_prefix("--config="))
        {
            return Some(Path::new(file).to_owned());
        }
    }
    None
}

#[cfg(test)]
#[path = "../../tests/texts/mod.rs"]
mod generated;

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &[&str]) -> Result<Cli, String> {
        let arguments = line.iter().map(OsString::from).collect();
        let arguments = with_file(arguments)?;
        let all = std::iter::once(OsString::from("deskfleet-provider")).chain(arguments);
        Cli::try_parse_from(all).map_err(|error| error.to_string())
    }

    #[test]
    fn command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn completions_and_manual_page_are_those_of_the_command_line() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/completions");
        generated::check(folder, "deskfleet-provider", Cli::command());
    }

    #[test]
    fn file_has_options_and_the_command_line_goes_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("provider.toml");
        let text = "[provider]\nurl = \"http://fleet\"\nkey_file = \"k\"\napply = true\nmax_destructive = 3\nparallel = 2\n";
        std::fs::write(&file, text).unwrap();
        let config = format!("--config={}", file.display());
        let cli = parsed(&["command", &config, "--parallel", "5", "--", "true"]).unwrap();
        let common = cli.command.common();
        assert_eq!((common.url.as_str(), common.apply), ("http://fleet", true));
        assert_eq!((common.max_destructive, common.parallel), (3, 5));
        std::fs::write(&file, "[provider]\nurl = [1]\n").unwrap();
        let wrong = parsed(&["command", &config, "--", "true"]).unwrap_err();
        assert!(
            wrong.ends_with("provider.url is text, a number, true or false"),
            "{wrong}"
        );
    }

    #[test]
    fn times_have_a_unit_and_bounds() {
        assert_eq!(time("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(time("10m"), Ok(Duration::from_secs(600)));
        for wrong in [
            "",
            "5",
            "s",
            "0s",
            "25h",
            "-1s",
            "1d",
            "99999999999999999999h",
        ] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
