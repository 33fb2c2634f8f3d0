//! Rows as records again.

use std::borrow::Cow;

use crate::error::Result;
use crate::model::{FieldKind, FieldSpec, FieldValue, Fields, ProcessItem, Received, RecordRef};
use crate::store::codec::damaged;
use crate::store::telemetry::texts::Texts;
use crate::timestamp::Timestamp;

use super::{ABSENT, Cells, NULL, Rows, items_of, single};
#[cfg(test)]
use super::{ITEM_FIELDS, VALUE, items_bits};

impl Rows {
    /// The record as an owned value.
    pub(crate) fn received(&self, row: usize) -> Result<Received> {
        let mut record = self.stream(row).empty_record();
        self.fill(self.cells(row), record.fields_mut())?;
        let (filed_at, received_at) = self.order(row);
        Ok(Received {
            record,
            received_at,
            filed_at,
        })
    }

    fn fill(&self, cells: Cells<'_>, fields: &mut dyn Fields) -> Result<()> {
        for (index, spec) in fields.specs().iter().enumerate() {
            if let Some(value) = self.field(cells, index, spec)?
                && !fields.set(index, value)
            {
                return Err(damaged());
            }
        }
        Ok(())
    }

    /// What a field has.
    pub(in crate::store::telemetry) fn field(
        &self,
        cells: Cells<'_>,
        index: usize,
        spec: &FieldSpec,
    ) -> Result<Option<FieldValue<'_>>> {
        let bits = cells.bits(index);
        let value = match (cells.mark(index), spec.kind) {
            (ABSENT, _) => return Ok(None),
            (NULL, _) => FieldValue::Null,
            (_, FieldKind::Int32 | FieldKind::Int64) => FieldValue::Int(bits.cast_signed()),
            (_, FieldKind::Float) => FieldValue::Float(single(bits)),
            (_, FieldKind::Double) => FieldValue::Double(f64::from_bits(bits)),
            (_, FieldKind::Time) => FieldValue::Time(Timestamp::from_ticks(bits.cast_signed())),
            (_, FieldKind::Text) => {
                FieldValue::Text(Cow::Borrowed(self.texts.text(Texts::number(bits))))
            }
            (_, FieldKind::Items) => {
                let mut items = Vec::new();
                for item in items_of(bits) {
                    let mut filled = ProcessItem::default();
                    self.fill(self.item(item), &mut filled)?;
                    items.push(filled);
                }
                FieldValue::Items(Cow::Owned(items))
            }
        };
        Ok(Some(value))
    }

    /// The record, its texts borrowed.
    pub(crate) fn borrowed(&self, row: usize) -> Result<RecordRef<'_>> {
        let stream = self.stream(row);
        let mut record = RecordRef::empty(stream);
        let cells = self.cells(row);
        for (index, spec) in stream.fields().iter().enumerate() {
            if let Some(value) = self.field(cells, index, spec)? {
                record.set(index, value);
            }
        }
        Ok(record)
    }
}

#[cfg(test)]
impl Rows {
    /// Adds an owned record.
    pub(in crate::store::telemetry) fn add(&mut self, received: &Received) {
        let row = self.len();
        self.push_empty(
            received.record.stream(),
            received.received_at,
            received.filed_at,
        );
        let fields = received.record.fields();
        for index in 0..fields.specs().len() {
            if let Some((mark, bits)) = self.bits_of(fields.get(index)) {
                self.set(row, index, mark, bits);
            }
        }
    }

    fn bits_of(&mut self, value: Option<FieldValue<'_>>) -> Option<(u64, u64)> {
        let bits = match value? {
            FieldValue::Null => return Some((NULL, 0)),
            FieldValue::Int(value) => value.cast_unsigned(),
            FieldValue::Float(value) => value.to_bits().into(),
            FieldValue::Double(value) => value.to_bits(),
            FieldValue::Time(value) => value.ticks().cast_unsigned(),
            FieldValue::Text(text) => self.texts.intern(&text).into(),
            FieldValue::Items(items) => {
                let first = self.push_items(items.len());
                for (at, item) in items.iter().enumerate() {
                    for index in 0..ITEM_FIELDS {
                        if let Some((mark, bits)) = self.bits_of(item.get(index)) {
                            self.set_in_item(first + at, index, mark, bits);
                        }
                    }
                }
                items_bits(first, items.len())
            }
        };
        Some((VALUE, bits))
    }
}
