//! A record packed into few bytes, in memory only. Equal records have equal bytes.

use std::borrow::Cow;

use crate::error::{EngineError, ErrorKind, Result};
use crate::model::{FieldKind, FieldSpec, FieldValue, Places, Received, Stream};
use crate::store::codec::{Decoder, Encoder, damaged};
use crate::timestamp::Timestamp;

use super::rows::{ABSENT, NULL, Rows, VALUE};
use super::texts::Texts;

/// Writes a row of a stream that has only integers, times and texts.
pub(super) fn pack(rows: &Rows, row: usize, out: &mut Encoder) -> Result<()> {
    let cells = rows.cells(row);
    out.varint(cells.presence);
    for (index, spec) in rows.stream(row).fields().iter().enumerate() {
        if cells.mark(index) != VALUE {
            continue;
        }
        match spec.kind {
            FieldKind::Int32 | FieldKind::Int64 | FieldKind::Time => {
                out.signed(cells.bits(index).cast_signed());
            }
            FieldKind::Text => out.text(rows.texts.text(Texts::number(cells.bits(index)))),
            FieldKind::Float | FieldKind::Double | FieldKind::Items => return Err(not_packed()),
        }
    }
    Ok(())
}

fn not_packed() -> EngineError {
    let message = "only records of integers, times and texts are packed";
    EngineError::new(ErrorKind::Internal, message)
}

/// A packed record, with the times the engine gave it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packed<'a> {
    pub(super) stream: Stream,
    pub(crate) filed_at: Timestamp,
    pub(super) received_at: Timestamp,
    pub(super) bytes: &'a [u8],
}

impl<'a> Packed<'a> {
    /// Visits the fields that were sent, in their order.
    pub(crate) fn fields(
        &self,
        mut visit: impl FnMut(usize, &'static FieldSpec, FieldValue<'a>) -> Result<()>,
    ) -> Result<()> {
        let mut decoder = Decoder::new(self.bytes);
        let presence = decoder.varint()?;
        for (index, spec) in self.stream.fields().iter().enumerate() {
            let value = match presence >> (2 * index) & 3 {
                ABSENT => continue,
                NULL => FieldValue::Null,
                _ => match spec.kind {
                    FieldKind::Int32 | FieldKind::Int64 => FieldValue::Int(decoder.signed()?),
                    FieldKind::Time => FieldValue::Time(decoder.time()?),
                    FieldKind::Text => FieldValue::Text(Cow::Borrowed(decoder.text()?)),
                    FieldKind::Float | FieldKind::Double | FieldKind::Items => {
                        return Err(not_packed());
                    }
                },
            };
            visit(index, spec, value)?;
        }
        decoder.finish()
    }

    /// The names in the record and the time it carries, as in [`Rows`].
    pub(crate) fn origin(&self) -> Result<Origin<'a>> {
        let places = Places::of_stream(self.stream);
        let mut origin = Origin::default();
        self.fields(|index, _, value| {
            if let FieldValue::Text(Cow::Borrowed(text)) = value {
                if index == places.instance {
                    origin.instance = text;
                } else if index == places.username {
                    origin.username = text;
                }
            } else if let FieldValue::Time(time) = value
                && index == places.time
            {
                origin.sent = Some(time);
            }
            Ok(())
        })?;
        Ok(origin)
    }

    /// The record as an owned value.
    pub(crate) fn received(&self) -> Result<Received> {
        let mut record = self.stream.empty_record();
        self.fields(|index, _, value| {
            let set = record.fields_mut().set(index, value);
            set.then_some(()).ok_or_else(damaged)
        })?;
        Ok(Received {
            record,
            received_at: self.received_at,
            filed_at: self.filed_at,
        })
    }
}

/// Who sent a record, and the time it carries; names are empty where it has none.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Origin<'a> {
    pub(crate) instance: &'a str,
    pub(crate) username: &'a str,
    pub(crate) sent: Option<Timestamp>,
}
