//! `export`: telemetry, workspaces or the audit of a store or of a running server.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use deskfleet::query::ExportFormat;

use super::configuration::Configuration;
use super::export_args::{ExportArgs, FileFormat, RowKind};
use super::export_file::ExportFile;
use super::export_rows::{self, Chunks};
use super::export_source::{Source, telemetry_query};
use super::failure::Failure;
use super::output::{counted, say};
#[cfg(feature = "parquet")]
use super::parquet;
use super::progress_line::ProgressLine;

pub(crate) fn run(args: ExportArgs, configuration: &Configuration) -> Result<(), Failure> {
    let format = match args.format {
        FileFormat::Ndjson => ExportFormat::Ndjson,
        FileFormat::Csv => ExportFormat::Csv,
        FileFormat::Parquet => return parquet::run(args, configuration),
    };
    let path = args.output.filter(|path| path != Path::new("-"));
    let create = |path: &Path| ExportFile::create(path, args.server.files.key_file.as_deref());
    let mut file = path.as_deref().map(create).transpose()?;
    let source = Source::open(&args.server, configuration)?;
    let span = (args.from, args.to);
    let chunks = match args.rows.kind() {
        RowKind::Telemetry(stream) => {
            source.telemetry(&telemetry_query(stream, span, args.instance), format)?
        }
        RowKind::Listed(rows) => export_rows::lines(source.rows(rows, span), rows, format),
    };
    let written = match &mut file {
        Some(file) => write(chunks, format, file.writer())?.and_then(|count| {
            file.keep()?;
            Ok(count)
        }),
        None => match write(chunks, format, io::stdout().lock())? {
            // The reader, such as `head`, has read enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            written => written,
        },
    };
    let name = path.map_or_else(
        || "standard output".to_owned(),
        |path| path.display().to_string(),
    );
    let count = written.map_err(|error| Failure::cannot_write(&name, &error))?;
    say!("{} written to {name}", counted(count, "row"));
    Ok(())
}

#[cfg(not(feature = "parquet"))]
mod parquet {
    use super::{Configuration, ExportArgs, Failure};

    pub(super) fn run(_args: ExportArgs, _: &Configuration) -> Result<(), Failure> {
        let message = "this deskfleet was built without Parquet; build it with\n  \
            cargo build --release -p deskfleet-server --features parquet";
        Err(Failure(message.to_owned()))
    }
}

/// Writes all chunks; returns the number of rows, or why they cannot be written.
fn write(
    chunks: Chunks<'_>,
    format: ExportFormat,
    out: impl Write,
) -> Result<io::Result<u64>, Failure> {
    let mut out = BufWriter::new(out);
    let mut progress = ProgressLine::new(None);
    let mut lines = Lines::default();
    for chunk in chunks {
        let chunk = chunk?;
        if let Err(error) = out.write_all(&chunk) {
            return Ok(Err(error));
        }
        progress.advance(chunk.len());
        lines.count(&chunk, format);
    }
    let head = u64::from(format == ExportFormat::Csv);
    Ok(out.flush().map(|()| lines.ended.saturating_sub(head)))
}

/// Counts lines.
#[derive(Debug, Default)]
struct Lines {
    ended: u64,
    /// Whether the text is within a quoted cell of CSV, which may have line breaks.
    in_quotes: bool,
}

impl Lines {
    fn count(&mut self, text: &[u8], format: ExportFormat) {
        for byte in text {
            match byte {
                b'"' if format == ExportFormat::Csv => self.in_quotes = !self.in_quotes,
                b'\n' if !self.in_quotes => self.ended += 1,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_whatever_their_texts_hold() {
        for (format, text, expected) in [
            (ExportFormat::Ndjson, "{\"a\":\"\\\"\"}\n{}\n", 2),
            (ExportFormat::Csv, "a,b\r\n\"\"\"\n\",1\r\n", 1),
            (ExportFormat::Csv, "", 0),
        ] {
            let halves = text.split_at(text.len() / 2);
            let chunks = [halves.0, halves.1].map(|half| Ok(half.to_owned().into()));
            let mut out = Vec::new();
            let written = write(Box::new(chunks.into_iter()), format, &mut out);
            assert_eq!(written.unwrap().unwrap(), expected, "{text}");
            assert_eq!(out, text.as_bytes());
        }
    }
}
