//! Writing columns.

use std::collections::BTreeMap;

use crate::model::{FieldKind, FieldSpec, ProcessItem};
use crate::store::codec::Encoder;
use crate::store::telemetry::rows::{ABSENT, Cells, Rows, VALUE, items_of};
use crate::store::telemetry::texts::Texts;

use super::decimals::{self, Scale};
use super::head::{Head, Relation};
use super::integers::{self, IntegerWriter};

/// Records that become columns, or the process items in them.
#[derive(Clone, Copy)]
pub(super) struct Source<'r> {
    pub(super) rows: &'r Rows,
    pub(super) specs: &'static [FieldSpec],
    pub(super) cells: &'r [Cells<'r>],
    /// Times are stored relative to these, one for each record; process items have no times.
    pub(super) filed: &'r [i64],
}

/// Writes columns, one after the other in the same memory.
#[derive(Debug, Default)]
pub(super) struct ColumnWriter {
    integers: IntegerWriter,
    marks: Vec<i64>,
    /// The bits of the values of a column, and the integers that are stored for them.
    values: Vec<i64>,
    stored: Vec<i64>,
    /// Columns of integers that are not all alike: their fields, and where they begin and end in `earlier`.
    places: Vec<(u8, usize, usize)>,
    earlier: Vec<i64>,
}

impl ColumnWriter {
    /// Appends a column of integers that is no field.
    pub(super) fn integers(&mut self, out: &mut Encoder, values: &[i64]) {
        self.integers.write(out, values);
    }

    /// Appends the columns of text fields, which come first so that they can be read alone.
    pub(super) fn write_texts(&mut self, out: &mut Encoder, source: Source<'_>) {
        self.write(out, source, |kind| kind == FieldKind::Text);
    }

    /// Appends the columns of the other fields.
    pub(super) fn write_others(&mut self, out: &mut Encoder, source: Source<'_>) {
        self.write(out, source, |kind| kind != FieldKind::Text);
    }

    fn write(
        &mut self,
        out: &mut Encoder,
        source: Source<'_>,
        is_wanted: impl Fn(FieldKind) -> bool,
    ) {
        self.places.clear();
        self.earlier.clear();
        let first = source.cells.first().map_or(0, |cells| cells.presence);
        // The bits in which one row or another has something else than the first.
        let different = source
            .cells
            .iter()
            .fold(0, |different, cells| different | (cells.presence ^ first));
        for (place, spec) in (0_u8..).zip(source.specs) {
            if is_wanted(spec.kind) {
                let index = usize::from(place);
                let mixed = different >> (2 * index) & 3 != 0;
                self.column(out, source, spec, (place, mixed));
            }
        }
    }

    fn column(
        &mut self,
        out: &mut Encoder,
        source: Source<'_>,
        spec: &FieldSpec,
        (place, mixed): (u8, bool),
    ) {
        let index = usize::from(place);
        let mut head = Head {
            presence: (!mixed).then(|| {
                let first = source.cells.first();
                first.map_or(ABSENT, |cells| cells.mark(index))
            }),
            relation: None,
            scale: Scale::WHOLE,
        };
        self.marks.clear();
        if mixed {
            let marks = source.cells.iter().map(|cells| cells.mark(index));
            self.marks.extend(marks.map(u64::cast_signed));
        }
        self.take_values(source, spec.kind, (index, mixed));
        match spec.kind {
            FieldKind::Int32 | FieldKind::Int64 => {
                let (relation, one) = self.related(place);
                head.relation = relation;
                self.start(out, head);
                match one {
                    Some(one) => integers::write_alike(out, one, self.values.len()),
                    None => self.integers.write(out, &self.values),
                }
            }
            FieldKind::Float | FieldKind::Double => {
                head.scale = if spec.kind == FieldKind::Float {
                    decimals::whole_numbers::<f32>(&self.values, &mut self.stored)
                } else {
                    decimals::whole_numbers::<f64>(&self.values, &mut self.stored)
                };
                self.start(out, head);
                self.integers.write(out, &self.stored);
            }
            FieldKind::Time => {
                self.start(out, head);
                self.integers.write(out, &self.values);
            }
            FieldKind::Text => {
                self.start(out, head);
                self.texts(out, &source.rows.texts);
            }
            FieldKind::Items => {
                self.start(out, head);
                self.items(out, source.rows);
            }
        }
    }

    fn start(&mut self, out: &mut Encoder, head: Head) {
        head.write(out);
        self.integers.write(out, &self.marks);
    }

    /// Takes the bits of the field from the rows that have a value.
    fn take_values(&mut self, source: Source<'_>, kind: FieldKind, (index, mixed): (usize, bool)) {
        let valued = |cells: &&Cells<'_>| cells.mark(index) == VALUE;
        let bits = |cells: &Cells<'_>| cells.bits(index).cast_signed();
        self.values.clear();
        if mixed {
            let valued = source.cells.iter().filter(valued);
            self.values.extend(valued.map(bits));
        } else if source.cells.first().is_some_and(|first| valued(&first)) {
            self.values.extend(source.cells.iter().map(bits));
        }
        if kind == FieldKind::Time {
            let filed = source.cells.iter().zip(source.filed);
            let filed = filed.filter(|(cells, _)| valued(cells));
            for (value, (_, filed)) in self.values.iter_mut().zip(filed) {
                *value = value.wrapping_sub(*filed);
            }
        }
    }

    /// The different texts in the order in which they first appear, then which of them each value is.
    fn texts(&mut self, out: &mut Encoder, texts: &Texts) {
        if self.values.is_empty() {
            return;
        }
        let mut places = BTreeMap::new();
        let mut distinct = Vec::new();
        self.stored.clear();
        let mut before = None;
        for number in &self.values {
            // Nearly always the text of the record before.
            let place = before.filter(|(text, _)| text == number).map_or_else(
                || {
                    *places.entry(*number).or_insert_with(|| {
                        distinct.push(Texts::number(number.cast_unsigned()));
                        distinct.len() - 1
                    })
                },
                |(_, place)| place,
            );
            before = Some((*number, place));
            self.stored.push(i64::try_from(place).unwrap_or(i64::MAX));
        }
        out.count(distinct.len());
        for number in &distinct {
            out.text(texts.text(*number));
        }
        if distinct.len() > 1 {
            self.integers.write(out, &self.stored);
        }
    }

    /// How many items each row has, then the columns of all items in a row.
    fn items(&mut self, out: &mut Encoder, rows: &Rows) {
        let items = || {
            self.values
                .iter()
                .map(|bits| items_of(bits.cast_unsigned()))
        };
        let counts: Vec<_> = items()
            .map(|items| i64::try_from(items.len()).unwrap_or(i64::MAX))
            .collect();
        let cells: Vec<_> = items().flatten().map(|item| rows.item(item)).collect();
        self.integers.write(out, &counts);
        if cells.is_empty() {
            return;
        }
        let source = Source {
            rows,
            specs: ProcessItem::FIELDS,
            cells: &cells,
            filed: &[],
        };
        let mut columns = Self::default();
        columns.write_texts(out, source);
        columns.write_others(out, source);
    }

    /// The one integer by which the values follow from an earlier column, as the memory in use follows from that which is
    /// free.
    fn related(&mut self, place: u8) -> (Option<(Relation, u8)>, Option<i64>) {
        let values = &self.values;
        if common_integer(values.iter().copied()).is_some() {
            return (None, None);
        }
        for (other, start, end) in &self.places {
            let others = self.earlier.get(*start..*end).unwrap_or_default();
            if others.len() != values.len() {
                continue;
            }
            let pairs = || values.iter().zip(others);
            let sum = common_integer(pairs().map(|(value, other)| value.wrapping_add(*other)));
            if sum.is_some() {
                return (Some((Relation::Sum, *other)), sum);
            }
            let above = common_integer(pairs().map(|(value, other)| value.wrapping_sub(*other)));
            if above.is_some() {
                return (Some((Relation::Above, *other)), above);
            }
        }
        let start = self.earlier.len();
        self.earlier.extend_from_slice(&self.values);
        self.places.push((place, start, self.earlier.len()));
        (None, None)
    }
}

/// The integer that all of them equal, if there is one.
fn common_integer(mut integers: impl Iterator<Item = i64>) -> Option<i64> {
    let first = integers.next()?;
    integers.all(|integer| integer == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::codec::Decoder;
    use crate::store::telemetry::chunk::columns::Column;

    #[test]
    fn texts_roundtrip_and_repetitions_take_few_bytes() {
        for texts in [
            vec![],
            vec![""],
            vec!["a", "a", "b", "", "a", "ü"],
            ["anna", "john"].repeat(100),
            (0..20).map(|at| &"aaaaaaaaaaaaaaaaaaaa"[at..]).collect(),
        ] {
            let mut out = Encoder::default();
            let mut interned = Texts::default();
            let numbers = texts.iter().map(|text| interned.intern(text).into());
            let mut writer = ColumnWriter {
                values: numbers.collect(),
                ..ColumnWriter::default()
            };
            writer.texts(&mut out, &interned);
            let bytes = out.finish();
            assert!(bytes.len() < 64 || texts.len() == 20);
            let mut decoder = Decoder::new(&bytes);
            let column = Column::of_texts(&mut decoder, texts.len()).unwrap();
            decoder.finish().unwrap();
            assert_eq!(column.each_text(), texts);
        }
    }
}
