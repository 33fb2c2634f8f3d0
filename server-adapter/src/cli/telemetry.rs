//! `telemetry remove`.

use clap::{Args, Subcommand};
use deskfleet::{RemovedTelemetry, Stream, TelemetrySelection, Timestamp};

use super::configuration::{Configuration, Overrides};
use super::export_args::time;
use super::failure::Failure;
use super::output::{data_json, say};
use super::server_args::ServerArgs;
use super::server_url::target;
use super::setting_args::StoreFile;
use super::store::open_existing;

const WHEN_LOCKED: &str =
    "If that is a running server, remove it there: --url http://HOST:PORT --key-file FILE";

#[derive(Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum TelemetryCommand {
    /// Removes telemetry, from a store or through a running server
    ///
    /// Removes the records that meet every given option, and what was made of them alone. What may belong to a workspace on litigation hold
    /// is kept and counted. It gives space back when the disk is full.
    #[command(after_help = "Examples:\n  \
        deskfleet telemetry remove --stream processes\n  \
        deskfleet telemetry remove --before -90d --url http://127.0.0.1:8080 --key-file admin.key\n  \
        deskfleet telemetry remove --instance ws-8k2m4n6p1")]
    Remove(RemoveArgs),
}

/// What to remove, and where.
#[derive(Debug, PartialEq, Eq, Args)]
#[command(group = clap::ArgGroup::new("selection").required(true).multiple(true))]
pub(crate) struct RemoveArgs {
    /// Records of this instance: the workspace id or computer name that they name, in any case and spelling
    #[arg(long, value_name = "INSTANCE", group = "selection", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    instance: Option<String>,
    /// Records of this stream: stats, activity, startup or processes
    #[arg(long, value_name = "STREAM", group = "selection", value_parser = stream)]
    stream: Option<Stream>,
    /// Records whose day (UTC) is before that of this time: a date-time, or a time before now such as `-30d`. The day of a record is that
    /// of the time it carries, or of its receipt where it carries none that is believed
    #[arg(long, value_name = "TIME", group = "selection", value_parser = time, allow_hyphen_values = true)]
    before: Option<Timestamp>,
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    store: StoreFile,
}

impl TelemetryCommand {
    /// The configuration of the command.
    pub(crate) fn overrides(&self) -> Overrides {
        let Self::Remove(args) = self;
        args.store.overrides()
    }
}

fn stream(name: &str) -> Result<Stream, &'static str> {
    let found = Stream::ALL.into_iter().find(|stream| stream.name() == name);
    found.ok_or("the streams are stats, activity, startup and processes")
}

/// The counts as data, a sentence for people.
pub(crate) fn run(command: TelemetryCommand, configuration: &Configuration) -> Result<(), Failure> {
    let TelemetryCommand::Remove(args) = command;
    let selection = TelemetrySelection {
        instance_id: args.instance,
        stream: args.stream,
        before: args.before,
    };
    let removed = if let Some(client) = args.server.client()? {
        let parameters = [
            ("instance", selection.instance_id),
            (
                "stream",
                selection.stream.map(|stream| stream.name().to_owned()),
            ),
            ("before", selection.before.map(|time| time.to_string())),
        ];
        let body = client.delete(&target("/operator/telemetry", &parameters))?;
        let failed =
            |error| Failure::caused("the server's response is not that of a removal", &error);
        serde_json::from_slice(&body).map_err(failed)?
    } else {
        let engine = open_existing(configuration, WHEN_LOCKED)?;
        let removed = engine.remove_telemetry(&selection)?;
        engine.close()?;
        removed
    };
    data_json(&removed)?;
    let RemovedTelemetry { removed, kept, .. } = removed;
    say!("{removed} records removed, {kept} kept for litigation holds");
    Ok(())
}
