//! Exports, from Rust.

use std::sync::Arc;

use bytes::Bytes;

use crate::api::query::export;
use crate::engine::{Engine, ResponseBody};
#[cfg(doc)]
use crate::error::ErrorKind;
use crate::error::Result;
use crate::model::Received;
use crate::store::telemetry::queue::Wanted;
use crate::view::query::export::{Export, ExportQuery};
use crate::wire::export::ExportFormat;

/// Exports.
impl Engine {
    /// All records of a range of a stream, by day, within a day by instance, within that by their [time in history](Received::filed_at):
    /// a record that arrives later may stand before those that were read already, see [`Engine::accepted`]. Queued records are filed first, or
    /// read with the others if the disk has no room for that, so all records accepted before
    /// this call are included. Between two records it holds no snapshot. Ends after the first error:
    /// [`ErrorKind::StorageUnavailable`] when the store cannot be read or the queue cannot be filed.
    pub fn export(&self, query: ExportQuery) -> impl Iterator<Item = Result<Received>> + use<> {
        let engine = self.clone();
        let mut export = None;
        let mut ended = false;
        std::iter::from_fn(move || {
            if ended {
                return None;
            }
            let next = engine.next_exported(&mut export, &query);
            ended = !matches!(next, Ok(Some(_)));
            next.transpose()
        })
    }

    fn next_exported(
        &self,
        export: &mut Option<Export>,
        query: &ExportQuery,
    ) -> Result<Option<Received>> {
        let core = self.core();
        let export = match export {
            Some(export) => export,
            none => {
                let reads_queue = core.file_for_export()?;
                none.insert(Export::new(query.clone(), reads_queue))
            }
        };
        loop {
            if let Some((rows, row)) = export.take_next() {
                return rows.received(row).map(Some);
            }
            if export.is_over() {
                return Ok(None);
            }
            let now = |wanted: Option<Wanted<'_>>| {
                wanted.map_or_else(|| core.reader(), |wanted| core.telemetry_reader(wanted))
            };
            export.read_more(&core.reader()?.snapshot, &now)?;
        }
    }

    /// The same as the body of `GET /query/export`, made chunk by chunk.
    ///
    /// # Errors
    /// Those of [`Self::export`].
    pub fn export_body(&self, query: ExportQuery, format: ExportFormat) -> Result<ResponseBody> {
        let (first, rest) = export::chunks(self.core(), query, format)?;
        Ok(match rest {
            None => Bytes::from(first).into(),
            Some(rest) => {
                ResponseBody::streamed(first.into(), Arc::clone(&self.running.core), rest, None)
            }
        })
    }
}
