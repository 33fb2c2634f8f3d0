//! `GET /query/export`

use crate::api::chunks::Items;
use crate::api::{Call, Chunks, Handled};
use crate::engine_core::EngineCore;
use crate::error::Result;
use crate::store::telemetry::queue::Wanted;
use crate::view::query::export::{Export, ExportQuery};
use crate::wire::export::{ExportFormat, ExportLines, export_query};
use crate::wire::list::ListBody;

pub(in crate::api) fn export(call: &Call<'_>) -> Handled {
    let query = export_query(call.query, call.core.now())?;
    let format = ExportFormat::wanted(call.headers, call.query)?;
    let (body, records) = begin(call.core, query, format)?;
    call.list(format.content_type(), body, Box::new(records))
}

/// The first chunk of an export, and the rest if there is one.
pub(crate) fn chunks(
    core: &EngineCore,
    query: ExportQuery,
    format: ExportFormat,
) -> Result<(Vec<u8>, Option<Chunks>)> {
    let (body, records) = begin(core, query, format)?;
    Chunks::begin(core, body, Box::new(records))
}

fn begin(
    core: &EngineCore,
    query: ExportQuery,
    format: ExportFormat,
) -> Result<(ListBody, ExportedRecords)> {
    let reads_queue = core.file_for_export()?;
    let (lines, body) = ExportLines::begin(format, query.stream);
    let export = Export::new(query, reads_queue);
    Ok((body, ExportedRecords { export, lines }))
}

/// The records of an export.
#[derive(Debug)]
struct ExportedRecords {
    export: Export,
    lines: ExportLines,
}

impl Items for ExportedRecords {
    fn write(&mut self, core: &EngineCore, body: &mut ListBody) -> Result<bool> {
        let mut reader = None;
        if self.lines.write_remaining(body).is_break() {
            return Ok(true);
        }
        loop {
            while let Some((rows, row)) = self.export.take_next() {
                if self.lines.record(body, rows, row)?.is_break() {
                    return Ok(true);
                }
            }
            if self.export.is_over() {
                return Ok(false);
            }
            let reader = match &mut reader {
                Some(reader) => reader,
                none => none.insert(core.reader()?),
            };
            let now = |wanted: Option<Wanted<'_>>| {
                wanted.map_or_else(|| core.reader(), |wanted| core.telemetry_reader(wanted))
            };
            if !self.export.read_more(&reader.snapshot, &now)? {
                return Ok(true);
            }
        }
    }
}
