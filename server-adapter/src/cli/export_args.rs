//! The options of `export`, and which of them exclude each other.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use deskfleet::{Stream, Timestamp};

use super::server_args::ServerArgs;
use super::setting_args::StoreFile;

/// The options of `export`.
#[derive(Debug, PartialEq, Eq, Args)]
pub(crate) struct ExportArgs {
    /// What to write
    pub(crate) rows: ExportedRows,
    /// Records of this time or later: a date-time, or a time before now such as `-24h`; not for workspaces. For parquet the days
    /// of UTC in which this and `--to` lie are exported whole
    #[arg(long, value_name = "TIME", value_parser = time, allow_hyphen_values = true)]
    pub(crate) from: Option<Timestamp>,
    /// Records before this time, in the same forms; not for workspaces
    #[arg(long, value_name = "TIME", value_parser = time, allow_hyphen_values = true)]
    pub(crate) to: Option<Timestamp>,
    /// Telemetry of this instance alone: the workspace id or computer name that the records name, exactly; not for parquet
    #[arg(long, value_name = "INSTANCE")]
    pub(crate) instance: Option<String>,
    /// How to write it
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: FileFormat,
    /// The file to write, in place of one that is there; - and the default are standard output. For parquet the folder
    #[arg(long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    #[command(flatten)]
    pub(crate) store: StoreFile,
}

/// What can be exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportedRows {
    /// Resource statistics
    Stats,
    /// User activity
    Activity,
    /// Startup timings
    Startup,
    /// Process reports
    Processes,
    /// All workspaces, in the order of their ids, in a form that import reads
    Workspaces,
    /// All rows of the audit, newest first
    Audit,
}

/// What kind of rows is exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowKind {
    Telemetry(Stream),
    Listed(ListedRows),
}

/// Rows that are not telemetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListedRows {
    Workspaces,
    Audit,
}

/// The form of an export.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileFormat {
    /// One JSON object a line
    #[default]
    Ndjson,
    /// A line with the names of the fields, then a line for each row; null is an empty cell
    Csv,
    /// Apache Parquet: `day=2026-11-20/stats.parquet` for each day. Only in a deskfleet that was built with the feature `parquet`
    Parquet,
}

impl ExportedRows {
    pub(crate) fn kind(self) -> RowKind {
        match self {
            Self::Stats => RowKind::Telemetry(Stream::Stats),
            Self::Activity => RowKind::Telemetry(Stream::Activity),
            Self::Startup => RowKind::Telemetry(Stream::Startup),
            Self::Processes => RowKind::Telemetry(Stream::Processes),
            Self::Workspaces => RowKind::Listed(ListedRows::Workspaces),
            Self::Audit => RowKind::Listed(ListedRows::Audit),
        }
    }
}

impl ExportArgs {
    /// What is wrong with the options together.
    pub(super) fn conflict(&self) -> Option<&'static str> {
        let has_time = self.from.is_some() || self.to.is_some();
        if self.rows == ExportedRows::Workspaces && has_time {
            return Some(
                "workspaces have no time: --from and --to are for telemetry and the audit",
            );
        }
        let is_telemetry = matches!(self.rows.kind(), RowKind::Telemetry(_));
        if !is_telemetry && self.instance.is_some() {
            return Some("--instance is for telemetry");
        }
        if self.from.zip(self.to).is_some_and(|(from, to)| from >= to) {
            return Some("--from must be before --to");
        }
        if self.format == FileFormat::Parquet {
            if self.instance.is_some() {
                return Some(
                    "--instance is not for parquet: a file of the whole fleet's day would be replaced by one of an instance",
                );
            }
            let folder = self.output.as_deref();
            if folder.is_none_or(|folder| folder == Path::new("-")) {
                return Some("--format parquet writes files: name a folder with --output");
            }
            if self.server.url.is_some() && is_telemetry && self.from.is_none() {
                return Some(
                    "--format parquet with --url asks for each day: name the first one with --from",
                );
            }
        }
        None
    }
}

pub(super) fn time(text: &str) -> Result<Timestamp, &'static str> {
    let time = deskfleet::query::moment(text, std::time::SystemTime::now().into());
    time.ok_or("not a date-time or a time before now, such as 2026-11-20T08:00:00Z or -24h")
}
