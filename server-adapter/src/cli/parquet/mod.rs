//! `export --format parquet`: a file for each day, in folders as Hive names them.

mod columns;
mod file;

use std::fs;
use std::path::{Path, PathBuf};

use deskfleet::{
    Timestamp,
    query::{ExportFormat, ExportQuery},
};

use super::configuration::Configuration;
use super::export_args::{ExportArgs, ListedRows, RowKind};
use super::export_rows::Span;
use super::export_source::{Source, telemetry_query};
use super::failure::Failure;
use super::output::{counted, say};
use super::progress_line::ProgressLine;

use columns::Column;
use file::ParquetFile;

/// A server takes no record that is dated further ahead; in seconds.
const AHEAD_SECONDS: i64 = 2 * DAY_SECONDS;
const DAY_SECONDS: i64 = 86_400;

pub(super) fn run(args: ExportArgs, configuration: &Configuration) -> Result<(), Failure> {
    let key_file = args.server.files.key_file.clone();
    let source = Source::open(&args.server, configuration)?;
    let folder = args.output.unwrap_or_default();
    let span = whole_days((args.from, args.to));
    if span != (args.from, args.to) {
        say!("{}", widened(span));
    }
    let kind = args.rows.kind();
    let (name, columns) = match kind {
        RowKind::Telemetry(stream) => (stream.name(), columns::of_stream(stream)),
        RowKind::Listed(rows @ ListedRows::Workspaces) => ("workspaces", columns::of_list(rows)),
        RowKind::Listed(rows @ ListedRows::Audit) => ("audit", columns::of_list(rows)),
    };
    let mut files = Files {
        folder,
        key_file,
        name,
        columns,
        open: None,
        rows: 0,
        count: 0,
    };
    match kind {
        RowKind::Telemetry(stream) => {
            let query = telemetry_query(stream, span, None);
            write_days(&source, &query, &mut files)?;
        }
        RowKind::Listed(rows) => write_list(&source, rows, span, &mut files)?,
    }
    files.finish_file()?;
    say!(
        "{} written to {} in {}",
        counted(files.rows, "row"),
        counted(files.count, "file"),
        files.folder.display()
    );
    Ok(())
}

/// The span of the days that it touches: a file is replaced by another of its whole day.
fn whole_days((from, to): Span) -> Span {
    let from = from.map(|from| Timestamp::from_day(from.day()));
    let to = to.map(|to| {
        let day = Timestamp::from_day(to.day());
        if day == to {
            to
        } else {
            day.plus_seconds(DAY_SECONDS)
        }
    });
    (from, to)
}

fn widened((from, to): Span) -> String {
    let mut message = "a file holds a whole day of UTC, so the export is".to_owned();
    for (word, time) in [("from", from), ("to", to)] {
        if let Some(time) = time {
            message.extend([" ", word, " ", &time.to_string()]);
        }
    }
    message
}

/// Exports day by day, so that the day of each record is known also where a server is asked.
fn write_days(source: &Source, query: &ExportQuery, files: &mut Files) -> Result<(), Failure> {
    let mut progress = ProgressLine::new(None);
    let last = query.to.unwrap_or_else(|| {
        let now = Timestamp::from(std::time::SystemTime::now());
        match source {
            Source::Store(_) => Timestamp::MAX,
            Source::Server(_) => now.plus_seconds(AHEAD_SECONDS),
        }
    });
    let mut next = query.from.unwrap_or(Timestamp::MIN);
    while next < last {
        if let Source::Store(engine) = source {
            // Days without records are skipped.
            let rest = ExportQuery {
                from: Some(next),
                ..query.clone()
            };
            match engine.export(rest).next().transpose()? {
                Some(received) => next = next.max(Timestamp::from_day(received.filed_at.day())),
                None => return Ok(()),
            }
        }
        let day = Timestamp::from_day(next.day());
        let end = day.plus_seconds(DAY_SECONDS);
        let of_day = ExportQuery {
            from: Some(next),
            to: Some(end.min(last)),
            ..query.clone()
        };
        let mut lines = Lines::default();
        for chunk in source.telemetry(&of_day, ExportFormat::Ndjson)? {
            let chunk = chunk?;
            progress.advance(chunk.len());
            lines.add(&chunk, |line| files.add(Some(day), line))?;
        }
        if end <= next {
            // The last day of all.
            break;
        }
        next = end;
    }
    Ok(())
}

/// Workspaces go into one file, the audit into one for each day.
fn write_list(
    source: &Source,
    rows: ListedRows,
    span: Span,
    files: &mut Files,
) -> Result<(), Failure> {
    for row in source.rows(rows, span) {
        let row = row?;
        let day = match rows {
            ListedRows::Workspaces => None,
            ListedRows::Audit => {
                let time: Time = serde_json::from_str(row.get())
                    .map_err(|error| Failure::caused("a row has no time", &error))?;
                Some(Timestamp::from_day(time.activity_time.day()))
            }
        };
        files.add(day, row.get().as_bytes())?;
    }
    Ok(())
}

/// The time of a row of the audit.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Time {
    activity_time: Timestamp,
}

/// The files of an export, one of which is open.
struct Files {
    folder: PathBuf,
    key_file: Option<PathBuf>,
    /// What is exported.
    name: &'static str,
    columns: Vec<Column>,
    /// The begin of its day, and the file.
    open: Option<(Option<Timestamp>, ParquetFile)>,
    rows: u64,
    count: u64,
}

impl Files {
    /// Adds a record to the file of its day.
    fn add(&mut self, day: Option<Timestamp>, line: &[u8]) -> Result<(), Failure> {
        if self.open.as_ref().is_none_or(|(open, _)| *open != day) {
            self.finish_file()?;
            let mut path = self.folder.clone();
            if let Some(day) = day {
                let text = day.to_string();
                path.push(format!("day={}", text.split('T').next().unwrap_or(&text)));
            }
            create_folder(&path)?;
            path.push(format!("{}.parquet", self.name));
            let key_file = self.key_file.as_deref();
            let file = ParquetFile::create(&path, key_file, self.name, &self.columns)?;
            self.open = Some((day, file));
        }
        match &mut self.open {
            Some((_, file)) => file.add(line),
            None => Ok(()),
        }
    }

    /// Ends the file that is open.
    fn finish_file(&mut self) -> Result<(), Failure> {
        if let Some((_, file)) = self.open.take() {
            self.rows += file.keep()?;
            self.count += 1;
        }
        Ok(())
    }
}

fn create_folder(path: &Path) -> Result<(), Failure> {
    let what = format_args!("cannot create {}", path.display());
    fs::create_dir_all(path).map_err(|error| Failure::caused(what, &error))
}

/// Cuts chunks into lines.
#[derive(Debug, Default)]
struct Lines {
    /// The begin of a line.
    cut: Vec<u8>,
}

impl Lines {
    fn add(
        &mut self,
        chunk: &[u8],
        mut line: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        for part in chunk.split_inclusive(|byte| *byte == b'\n') {
            let is_whole = part.ends_with(b"\n");
            if is_whole && self.cut.is_empty() {
                line(part)?;
                continue;
            }
            self.cut.extend_from_slice(part);
            if is_whole {
                line(&self.cut)?;
                self.cut.clear();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn span_is_widened_to_whole_days_of_utc() {
        let span = |from: &str, to: &str| {
            let time = |text: &str| (!text.is_empty()).then(|| text.parse::<Timestamp>().unwrap());
            (time(from), time(to))
        };
        for (from, to, wide_from, wide_to) in [
            ("", "", "", ""),
            ("2026-11-20", "2026-11-21", "2026-11-20", "2026-11-21"),
            (
                "2026-11-20T08:00:00Z",
                "2026-11-20T08:00:01Z",
                "2026-11-20",
                "2026-11-21",
            ),
            ("", "2026-11-20T23:59:59.9999999Z", "", "2026-11-21"),
            ("2026-11-20T01:00:00+02:00", "", "2026-11-19", ""),
        ] {
            let wide = whole_days(span(from, to));
            assert_eq!(wide, span(wide_from, wide_to), "{from} {to}");
        }
        let wide = whole_days((Some(Timestamp::MIN), Some(Timestamp::MAX)));
        assert_eq!(wide, (Some(Timestamp::MIN), Some(Timestamp::MAX)));
    }
}
