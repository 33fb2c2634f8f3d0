//! Copying single rows from other rows, so that only their own data is kept.

use crate::model::{FieldKind, FieldSpec, ProcessItem};
use crate::store::telemetry::texts::Texts;

use super::{Cells, Item, Row, Rows, VALUE, items_bits, items_of};

impl Rows {
    /// Adds a row of `other`, with just the texts and the process items that it has.
    pub(crate) fn adopt(&mut self, other: &Self, row: usize) {
        let Some(from) = other.records.get(row) else {
            return;
        };
        let cells = other.cells(row);
        let at = self.values.len();
        for (index, spec) in from.stream.fields().iter().enumerate() {
            let bits = self.adopt_value(other, cells, index, spec);
            self.values.push(bits);
        }
        self.records.push(Row { at, ..*from });
    }

    /// The bits of a value of `other`, as they are here.
    fn adopt_value(
        &mut self,
        other: &Self,
        cells: Cells<'_>,
        index: usize,
        spec: &FieldSpec,
    ) -> u64 {
        let bits = cells.bits(index);
        if cells.mark(index) != VALUE {
            return bits;
        }
        if spec.kind == FieldKind::Text {
            let text = other.texts.text(Texts::number(bits));
            return self.texts.intern(text).into();
        }
        if spec.kind == FieldKind::Items {
            let items = items_of(bits);
            let first = self.push_items(items.len());
            for (item, to) in items.clone().zip(first..) {
                let cells = other.item(item);
                let mut values = Item::default().values;
                for (index, spec) in ProcessItem::FIELDS.iter().enumerate() {
                    if let Some(value) = values.get_mut(index) {
                        *value = self.adopt_value(other, cells, index, spec);
                    }
                }
                self.set_item(to, cells.presence, values);
            }
            return items_bits(first, items.len());
        }
        bits
    }

    /// The approximate memory of a record, in bytes: its fields, texts and process items.
    pub(crate) fn weight(&self, row: usize) -> usize {
        let fields = self.stream(row).fields();
        size_of::<Row>() + self.weight_of(fields, self.cells(row))
    }

    fn weight_of(&self, specs: &[FieldSpec], cells: Cells<'_>) -> usize {
        let mut weight = specs.len() * size_of::<u64>();
        for (index, spec) in specs.iter().enumerate() {
            if spec.kind == FieldKind::Text && cells.mark(index) == VALUE {
                weight += self.texts.length(Texts::number(cells.bits(index)));
            } else if spec.kind == FieldKind::Items && cells.mark(index) == VALUE {
                for item in items_of(cells.bits(index)) {
                    let item = self.weight_of(ProcessItem::FIELDS, self.item(item));
                    weight += size_of::<Item>() + item;
                }
            }
        }
        weight
    }
}
