//! Telemetry, as the endpoint `/query/export` writes it: the bytes are those of the engine or of the server.

use std::io::Write;

use bytes::Bytes;
use deskfleet::{Engine, ExportFormat, ExportQuery, Stream};

use super::client::Client;
use super::export_rows::Span;
use super::export_source::{Source, Unwritten};
use super::failure::Failure;
use super::progress_line::ProgressLine;

pub(super) fn query(stream: Stream, (from, to): Span, instance_id: Option<String>) -> ExportQuery {
    ExportQuery {
        from,
        to,
        instance_id,
        ..ExportQuery::new(stream)
    }
}

type Chunks<'c> = Box<dyn Iterator<Item = Result<Bytes, Failure>> + 'c>;

/// The body of an export, chunk by chunk. Ends after the first failure.
pub(super) fn body<'s>(
    source: &'s Source,
    query: &ExportQuery,
    format: ExportFormat,
) -> Result<Chunks<'s>, Failure> {
    match source {
        Source::Store(engine) => of_store(engine, query, format),
        Source::Server(client) => of_server(client, query, format),
    }
}

fn of_store(
    engine: &Engine,
    query: &ExportQuery,
    format: ExportFormat,
) -> Result<Chunks<'static>, Failure> {
    let mut body = engine.export_body(query.clone(), format)?;
    Ok(Box::new(std::iter::from_fn(move || {
        body.next_chunk().map_err(Failure::from).transpose()
    })))
}

fn of_server<'c>(
    client: &'c Client,
    query: &ExportQuery,
    format: ExportFormat,
) -> Result<Chunks<'c>, Failure> {
    let format = match format {
        ExportFormat::Ndjson => "ndjson",
        ExportFormat::Csv => "csv",
    };
    let mut target = format!(
        "/query/export?stream={}&format={format}",
        query.stream.name()
    );
    for (name, time) in [("from", query.from), ("to", query.to)] {
        if let Some(time) = time {
            target.extend(["&", name, "=", &time.to_string()]);
        }
    }
    if let Some(instance) = &query.instance_id {
        target.push_str("&instanceId=");
        target.extend(instance.bytes().map(|byte| format!("%{byte:02X}")));
    }
    Ok(Box::new(client.download(&target)?))
}

/// Writes all records and returns the number of their lines.
pub(super) fn write(
    source: &Source,
    query: &ExportQuery,
    format: ExportFormat,
    out: &mut dyn Write,
) -> Result<u64, Unwritten> {
    let mut progress = ProgressLine::new(None);
    let mut lines = Lines::default();
    for chunk in body(source, query, format).map_err(Unwritten::Rows)? {
        let chunk = chunk.map_err(Unwritten::Rows)?;
        out.write_all(&chunk)?;
        progress.advance(chunk.len());
        lines.count(&chunk);
    }
    let head = u64::from(format == ExportFormat::Csv);
    Ok(lines.ended.saturating_sub(head))
}

/// Counts lines; one that ends in quotes goes on.
#[derive(Debug, Default)]
struct Lines {
    ended: u64,
    in_quotes: bool,
}

impl Lines {
    fn count(&mut self, text: &[u8]) {
        for byte in text {
            match byte {
                b'"' => self.in_quotes = !self.in_quotes,
                b'\n' if !self.in_quotes => self.ended += 1,
                _ => {}
            }
        }
    }
}
