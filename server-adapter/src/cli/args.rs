//! The command line. Every value is checked before a command begins.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueHint};
use deskfleet::Timestamp;

use super::configuration::{Overrides, is_node_name};
use super::double::DoubleArgs;
use super::export_args::{ExportArgs, time};
use super::keys::KeysCommand;
use super::server_args::{NodeArgs, ServerArgs};
use super::setting_args::{SettingArgs, StoreFile};
use super::status::StatusArgs;
use super::telemetry::TelemetryCommand;
use super::texts::Shell;

/// Inventory, lifecycle actions and telemetry of virtual desktops
#[derive(Debug, PartialEq, Eq, Parser)]
#[command(
    name = "deskfleet",
    version,
    override_usage = "deskfleet [COMMAND] [OPTIONS]",
    after_help = "Without a command: serve. `deskfleet COMMAND --help` has the options and examples of a command.\n\n\
        Text for people goes to standard error, data to standard output.\n\
        Exit codes: 0 done, 1 failed, 2 wrong usage; those of `status` are in its help."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum Command {
    /// Serves a store over HTTP
    ///
    /// A new store gets a first admin key, which is printed once. With it, and whenever standard output is a terminal, a link to the
    /// console is printed; it signs a browser in once, within 30 minutes.
    #[command(after_help = "Examples:\n  \
        deskfleet                            serve deskfleet.redb at 127.0.0.1:8080\n  \
        deskfleet --memory --demo            try it with a demo fleet, in memory\n  \
        deskfleet serve --listen 0.0.0.0:80 --host fleet.example.com --backups /var/backups")]
    Serve(ServeArgs),
    /// Prints the settings in force, where each comes from, and what it takes
    ///
    /// The output is a file for --config. A setting comes from the command line, else from the environment
    /// (`DESKFLEET_LIMITS__QUEUE_RECORDS` is `limits.queue_records`), else from the file, else it has its default.
    ///
    /// Write the output to another file than the one in force: the shell empties that before this command can read it.
    #[command(after_help = "Examples:\n  \
        deskfleet config > new.toml && mv new.toml deskfleet.toml\n  \
        deskfleet config --config /etc/deskfleet.toml --set limits.queue_records=50000")]
    Config(SettingArgs),
    /// Creates and changes workspaces from a file
    ///
    /// The file may be NDJSON, a JSON array, a saved response of `GetAllWorkSpaces`, or CSV whose first line names the fields. What a
    /// record leaves out stays as it is; null in JSON removes a value. An empty cell of CSV leaves its field as it is, so that CSV can
    /// hold neither null nor empty text.
    #[command(after_help = "Examples:\n  \
        deskfleet import fleet.ndjson --create\n  \
        deskfleet import fleet.csv --url http://127.0.0.1:8080 --key-file admin.key\n  \
        generate-fleet | deskfleet import -")]
    Import(ImportArgs),
    /// Writes telemetry, the workspaces or the audit of a store or of a running server
    ///
    /// Telemetry is ordered by day, within a day by instance, and within that by time. In CSV a process report takes a line for each
    /// process.
    ///
    /// In CSV of workspaces and the audit, null and empty text are an empty cell, which import leaves unchanged: to keep them, use NDJSON. Cells
    /// that a spreadsheet would take for a formula get a leading apostrophe; but workspaces are written as they are, so that they
    /// can be imported.
    #[command(after_help = "Examples:\n  \
        deskfleet export workspaces > fleet.ndjson\n  \
        deskfleet export stats --from -7d --format csv --output stats.csv\n  \
        deskfleet export processes --from 2026-11-20 --to 2026-11-21 --instance ws-8k2m4n6p1\n  \
        deskfleet export stats --from -30d --format parquet --output lake\n  \
        deskfleet export audit --url http://127.0.0.1:8080 --key-file admin.key")]
    Export(ExportArgs),
    /// Issues, lists and revokes API keys
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Prints what is wrong now, the worst first
    ///
    /// With the fleet, the store and the server: desktops that are broken or silent, actions that nobody carries out, slow logons, a full disk, an
    /// old backup. The exit code is 2 where something is critical, 1 where there is a warning, 3 where that cannot be found out or an option is wrong, else 0. With --url it takes a key of scope read.
    #[command(after_help = "Example:\n  \
        deskfleet status --url http://127.0.0.1:8080 --key-file collector.key")]
    Status(StatusArgs),
    /// Removes telemetry
    #[command(subcommand)]
    Telemetry(TelemetryCommand),
    /// Looks after the nodes of a fleet
    #[command(subcommand)]
    Cluster(ClusterCommand),
    /// Reads the whole store and reports what is wrong with it
    Check {
        #[command(flatten)]
        store: StoreFile,
    },
    /// Writes a consistent copy of the store to a new file
    ///
    /// While a server has the store, send it SIGUSR1 instead: see `deskfleet serve --help`, --backups.
    Backup {
        /// The file to write; it must not exist yet
        #[arg(value_name = "DEST")]
        destination: PathBuf,
        #[command(flatten)]
        store: StoreFile,
    },
    /// Puts a copy in the place of the store, and keeps the old one under a name with the time
    ///
    /// The copy is checked first. The new file has the owner and the mode of the old one. Stop the server before.
    #[command(after_help = "Example:\n  \
        deskfleet restore backups/deskfleet-2026-11-20T08-00-00.000Z.redb --data /var/lib/deskfleet/deskfleet.redb")]
    Restore {
        /// A copy that a server or `deskfleet backup` has written; it stays as it is
        #[arg(value_name = "COPY", value_hint = ValueHint::FilePath)]
        copy: PathBuf,
        #[command(flatten)]
        store: StoreFile,
    },
    /// Gives unused pages of the store's file back to the file system
    Compact {
        #[command(flatten)]
        store: StoreFile,
    },
    /// Serves a test double of the service in memory, with faults
    ///
    /// Its clock stands until it is advanced. Standard output has one line of JSON with the address and an admin key. The rules, and the
    /// requests below /double/ that advance the clock, add rules and return the journal, are in server-adapter/docs/double.md.
    #[command(after_help = "Examples:\n  \
        deskfleet double --rules faults.json --desktops 20\n  \
        curl -d '{\"milliseconds\":60000}' http://127.0.0.1:8080/double/advance")]
    Double(DoubleArgs),
    /// Prints the completions of a shell
    #[command(after_help = "Examples:\n  \
        deskfleet completions bash > /etc/bash_completion.d/deskfleet\n  \
        deskfleet completions zsh > /usr/local/share/zsh/site-functions/_deskfleet\n  \
        deskfleet completions fish > ~/.config/fish/completions/deskfleet.fish")]
    Completions { shell: Shell },
    /// Prints the manual page
    #[command(after_help = "Example:\n  \
        deskfleet man > /usr/local/share/man/man1/deskfleet.1")]
    Man,
}

#[derive(Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum ClusterCommand {
    /// Makes the file of a node, or a copy of it, a store of its own that is served without a log
    ///
    /// It has what the node had applied, and is no node from then on. Stop the node first, or take a backup of it. Only in a deskfleet
    /// that was built with the feature `postgres` or `nats`.
    #[command(after_help = "Example:\n  \
        deskfleet cluster leave copy.redb && deskfleet serve --data copy.redb")]
    Leave {
        /// The file of the store
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Makes the file of a node from an archive of the log, as of a time
    ///
    /// It begins with a backup of any node or, where the archive begins with the first entry of the log, with nothing, and applies what was
    /// archived after that. The file can go on as a node where the log still has the next entry; `deskfleet cluster leave` makes it a store
    /// of its own, with which a new fleet can begin. Only in a deskfleet that was built with the feature `postgres` or `nats`.
    #[command(after_help = "Examples:\n  \
        deskfleet cluster restore --archive /mnt/archive --data new.redb\n  \
        deskfleet cluster restore --archive /mnt/archive --from backup.redb --until 2026-11-29T09:59:00Z --data new.redb")]
    Restore(RestoreArgs),
    /// Prints the nodes of a fleet, how far each is, and what is wrong
    ///
    /// Asks one node with an admin key, and reports what all of them said last. The exit code is 1 where something is wrong: a node is
    /// silent for a minute or applies nothing more, two nodes differ, or not all know the same rules. What a node only warns of is a line `warning:`. Only in a
    /// deskfleet that was built with the feature `postgres` or `nats`.
    #[command(after_help = "Example:\n  \
        deskfleet cluster status --url http://127.0.0.1:8080 --key-file admin.key")]
    Status {
        /// The answer of the server, as one line of JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        peer: NodeArgs,
    },
    /// Prints what is wrong with a fleet, with the commands to type
    ///
    /// Asks one node with an admin key: the conditions of that node, and what all nodes said last. The commands are for machines that are set up
    /// as in the documents. The exit code is 1 where something is wrong. Only in a deskfleet that was built with the feature `postgres` or
    /// `nats`.
    #[command(after_help = "Example:\n  \
        deskfleet cluster doctor --url http://127.0.0.1:8080 --key-file admin.key")]
    Doctor {
        #[command(flatten)]
        peer: NodeArgs,
    },
    /// Prints the settings that hold on all nodes of a fleet, or changes some
    ///
    /// They are those of actions, of retention, and how many events are kept. A change holds on each node at once, without a restart; a node whose
    /// own configuration says otherwise warns of that. It takes an admin key. Only in a deskfleet that was built with the feature `postgres` or
    /// `nats`.
    #[command(after_help = "Example:\n  \
        deskfleet cluster settings retention_days.stats=14 --url http://127.0.0.1:8080 --key-file admin.key")]
    Settings {
        /// A setting, and the value that all nodes shall have; the others stay
        #[arg(value_name = "NAME=VALUE", value_parser = fleet_setting)]
        changes: Vec<(String, serde_json::Value)>,
        #[command(flatten)]
        peer: NodeArgs,
    },
    /// Ends an upgrade: all nodes write by the newest rules from here on
    ///
    /// Refused while a node on the list does not know them. It takes an admin key. Only in a deskfleet that was built with the feature `postgres`
    /// or `nats`.
    #[command(after_help = "Example:\n  \
        deskfleet cluster finalize --url http://127.0.0.1:8080 --key-file admin.key")]
    Finalize {
        #[command(flatten)]
        peer: NodeArgs,
    },
    /// Takes a node that is gone for good off the list
    ///
    /// The log is no longer kept for it. It takes an admin key. A node that runs reports itself again. Only in a deskfleet that was built
    /// with the feature `postgres` or `nats`.
    #[command(after_help = "Example:\n  \
        deskfleet cluster forget node-3 --url http://127.0.0.1:8080 --key-file admin.key")]
    Forget {
        /// The name of the node, as `deskfleet cluster status` prints it
        #[arg(value_name = "NODE", value_parser = node_name)]
        node: String,
        #[command(flatten)]
        peer: NodeArgs,
    },
}

/// The options of `cluster restore`.
#[derive(Debug, PartialEq, Eq, Args)]
pub(crate) struct RestoreArgs {
    /// The folder with the archive, or a copy of it
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) archive: PathBuf,
    /// A backup of a node, to begin with
    #[arg(long, value_name = "BACKUP", value_hint = ValueHint::FilePath)]
    pub(crate) from: Option<PathBuf>,
    /// The time of the last entry that is applied, such as 2026-11-29T09:59:00Z or -1h; by default all are
    #[arg(long, value_name = "TIME", value_parser = time, allow_hyphen_values = true)]
    pub(crate) until: Option<Timestamp>,
    /// The file to make
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) data: PathBuf,
}

/// The options of `import`.
#[derive(Debug, PartialEq, Eq, Args)]
pub(crate) struct ImportArgs {
    /// The file to read; - for standard input
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    #[command(flatten)]
    pub(crate) store: StoreFile,
    /// Make the store where there is none
    #[arg(long, conflicts_with = "url")]
    pub(crate) create: bool,
    /// Write nothing, and report what would be done and which name means which field
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// The options of `serve`.
#[derive(Debug, PartialEq, Eq, Args)]
pub(crate) struct ServeArgs {
    // First: those below are under headings.
    /// Load a demo fleet with telemetry into an empty store
    #[arg(long)]
    pub(crate) demo: bool,
    #[command(flatten)]
    settings: SettingArgs,
    /// Make the settings that all nodes share, `actions` and `retention_days`, those of this node
    #[arg(long, help_heading = "Several nodes")]
    pub(crate) configure_fleet: bool,
}

impl Command {
    /// What the command line says about the configuration; `None` for a command that needs none.
    pub(crate) fn overrides(&self) -> Option<Overrides> {
        Some(match self {
            Self::Serve(args) => args.settings.overrides(),
            Self::Config(args) => args.overrides(),
            Self::Import(args) => args.store.overrides(),
            Self::Export(args) => args.store.overrides(),
            Self::Check { store }
            | Self::Backup { store, .. }
            | Self::Restore { store, .. }
            | Self::Compact { store } => store.overrides(),
            Self::Keys(command) => command.overrides(),
            Self::Status(args) => args.overrides(),
            Self::Telemetry(command) => command.overrides(),
            Self::Cluster(_) | Self::Double(_) | Self::Completions { .. } | Self::Man => {
                return None;
            }
        })
    }
}

/// Parses `arguments`, without the program's name. Without a command they are those of `serve`.
pub(crate) fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Command, clap::Error> {
    let mut arguments = arguments.peekable();
    let is_option = |argument: &OsString| argument.as_encoded_bytes().starts_with(b"-");
    let of_all = ["-h", "--help", "-V", "--version"];
    let serves = arguments
        .peek()
        .is_none_or(|first| is_option(first) && !of_all.iter().any(|option| first == option));
    let command = serves.then(|| OsString::from("serve"));
    let line = [OsString::from("deskfleet")]
        .into_iter()
        .chain(command)
        .chain(arguments);
    let command = Cli::try_parse_from(line)?.command;
    if let Command::Export(args) = &command
        && let Some(conflict) = args.conflict()
    {
        // The usage that it prints is that of the command.
        let mut cli = Cli::command();
        cli.build();
        let error = match cli.find_subcommand_mut("export") {
            Some(export) => export.error(ErrorKind::ArgumentConflict, conflict),
            None => cli.error(ErrorKind::ArgumentConflict, conflict),
        };
        return Err(error);
    }
    Ok(command)
}

/// A value is text unless it is a number, `true` or `false`.
fn fleet_setting(text: &str) -> Result<(String, serde_json::Value), &'static str> {
    let (name, value) = text.split_once('=').ok_or("no `=`")?;
    let value = serde_json::from_str(value)
        .ok()
        .filter(|value: &serde_json::Value| value.is_number() || value.is_boolean())
        .unwrap_or_else(|| value.into());
    Ok((name.to_owned(), value))
}

fn node_name(text: &str) -> Result<String, &'static str> {
    let is_name = is_node_name(text);
    is_name
        .then(|| text.to_owned())
        .ok_or("the names of nodes are letters, digits, `-`, `_` and `.`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command, clap::Error> {
        parse(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn options_without_a_command_are_those_of_serve() {
        for line in ["", "--demo", "--memory --listen [::1]:0"] {
            let expected = parsed(&format!("serve {line}")).unwrap();
            assert!(matches!(expected, Command::Serve(_)));
            assert_eq!(parsed(line).unwrap(), expected, "{line}");
        }
        let overrides = parsed("").unwrap().overrides();
        assert_eq!(overrides, Some(Overrides::default()));
    }

    #[test]
    fn wrong_usage_is_an_error() {
        for line in [
            "surf",
            "serve now",
            "--bogus",
            "--memory --data d",
            "--listen nowhere",
            "--listen",
            "--host https://fleet.example",
            "--host fleet.example:80",
            "--connections 0",
            "--connections-per-source 0",
            "check --connections-per-source 9",
            "check --host fleet.example",
            "import",
            "import a b",
            "import a --memory",
            "check --scope read",
            "backup",
            "keys",
            "keys issue --name n",
            "keys issue --scope read",
            "keys issue --name= --scope read",
            "keys issue --name n --scope root",
            "keys issue --name n --scope read --expires tomorrow",
            "keys revoke",
            "keys revoke one",
            "cluster",
            "cluster status",
            "cluster restore --data d",
            "cluster restore --archive a",
            "cluster restore --archive a --data d --until yesterday",
            "cluster status --url postgres://db",
            "cluster forget --url http://n:80",
            "cluster forget a/b --url http://n:80",
            "export workspaces --from -1d",
            "export audit --instance ws-1",
            "export stats --from yesterday",
            "export stats --from -1h --to -2h",
            "export stats --format xml",
            "double --desktops 100001",
            "double --seed x",
            "double --listen nowhere",
        ] {
            let error = parsed(line).expect_err(line);
            assert_eq!(error.exit_code(), 2, "{line}");
            let message = error.to_string();
            let of_rust = ["digit found", "non-zero", "empty string"];
            assert!(
                !of_rust.iter().any(|words| message.contains(words)),
                "{message}"
            );
        }
    }
}
