//! Writing a block.

use crate::model::{FieldKind, FieldSpec, FieldValue, Fields, ProcessItem, RecordRef};
use crate::store::codec::{Encoder, zigzag};
use crate::store::telemetry::rows::{ABSENT, NULL, VALUE};
use crate::store::telemetry::texts::Texts;
use crate::timestamp::Timestamp;

use super::{
    AGAIN, BYTES, COUNTS_AT, EXACT_MAX, FILED_AT_RECEIPT, HUNDREDTHS, IN_LARGE, IN_SMALL, KINDS,
    Last, PROCESS_ITEM, SAME_PRESENCE, TICKS, VERSION, WIDE, kind_of, of_hundredths,
    presence_bytes,
};

/// Writes records into one block, one after the other.
#[derive(Debug, Clone)]
pub(in crate::store::telemetry) struct BlockEncoder {
    block: Encoder,
    records: u32,
    /// When the last record was received.
    received_at: Timestamp,
    last: Box<[Last; KINDS]>,
    values: Values,
    /// Size of the previous block: this one will be about as long.
    last_bytes: usize,
}

/// The values of the record being written, and the texts of the block.
#[derive(Debug, Clone, Default)]
struct Values {
    out: Encoder,
    texts: Texts,
    /// By the number of a text, how many were written before it and itself; 0 before it is written.
    places: Vec<u32>,
    /// How many texts were written.
    written: u32,
    /// Of all records, repeated texts included.
    text_bytes: u32,
}

impl Default for BlockEncoder {
    fn default() -> Self {
        Self {
            block: Encoder::default(),
            records: 0,
            received_at: Timestamp::UNIX_EPOCH,
            last: Box::new([Last::NOTHING; KINDS]),
            values: Values::default(),
            last_bytes: 0,
        }
    }
}

impl BlockEncoder {
    pub(in crate::store::telemetry) fn push(
        &mut self,
        record: &RecordRef<'_>,
        received_at: Timestamp,
        filed_at: Timestamp,
    ) {
        if self.records == 0 {
            self.begin(received_at);
        }
        let (streams, items_last) = self.last.split_at_mut(PROCESS_ITEM);
        let (Some(last), Some(items_last)) = (
            streams.get_mut(kind_of(record.stream())),
            items_last.first_mut(),
        ) else {
            return;
        };
        let mut presence = 0;
        for (index, (spec, value)) in record.fields().enumerate() {
            let mark = if let Some(FieldValue::Items(items)) = value {
                self.values.items(items_last, items, received_at);
                VALUE
            } else {
                self.values.field(last, index, spec, value, received_at)
            };
            presence |= mark << (2 * index);
        }
        let mut head = record.stream().number();
        if record.sent_time() != Some(filed_at) {
            head |= FILED_AT_RECEIPT;
        }
        let same = last.presence.replace(presence) == Some(presence);
        if same {
            head |= SAME_PRESENCE;
        }
        self.block.u8(head);
        self.block
            .signed(received_at.ticks().wrapping_sub(self.received_at.ticks()));
        self.received_at = received_at;
        if !same {
            raw_presence(&mut self.block, kind_of(record.stream()), presence);
        }
        self.block.append(&mut self.values.out);
        self.records += 1;
    }

    fn begin(&mut self, received_at: Timestamp) {
        self.received_at = received_at;
        self.block = Encoder::with_capacity(self.last_bytes);
        self.block.u8(VERSION);
        // Written over once they are known.
        self.block.raw(&self.counts());
        self.block.raw(&received_at.ticks().to_le_bytes());
    }

    pub(in crate::store::telemetry) fn records(&self) -> usize {
        self.records as usize
    }

    /// Bytes of the block so far.
    pub(in crate::store::telemetry) fn bytes(&self) -> usize {
        self.block.len()
    }

    /// Bytes of the texts of the records, those included that are not written again.
    pub(in crate::store::telemetry) fn text_bytes(&self) -> usize {
        self.values.text_bytes as usize
    }

    /// The memory of the texts that the block is written with, in bytes.
    pub(in crate::store::telemetry) fn text_memory(&self) -> usize {
        self.values.texts.memory() + size_of_val(&*self.values.places)
    }

    fn counts(&self) -> [u8; 8] {
        (u64::from(self.values.text_bytes) << 32 | u64::from(self.records)).to_le_bytes()
    }

    /// The block; another one can be written then.
    pub(in crate::store::telemetry) fn finish(&mut self) -> Vec<u8> {
        self.block.overwrite(COUNTS_AT, &self.counts());
        let block = std::mem::take(&mut self.block).finish();
        self.last_bytes = block.len();
        self.records = 0;
        self.last.fill(Last::NOTHING);
        self.values.texts.clear();
        self.values.places.clear();
        self.values.written = 0;
        self.values.text_bytes = 0;
        block
    }
}

impl Values {
    /// Writes the value unless it is the last one again; returns its presence.
    #[inline]
    fn field(
        &mut self,
        last: &mut Last,
        index: usize,
        spec: &FieldSpec,
        value: Option<&FieldValue<'_>>,
        received_at: Timestamp,
    ) -> u64 {
        let before = last.get(index);
        let bits = match value {
            // Items do not hold items.
            None | Some(FieldValue::Items(_)) => return ABSENT,
            Some(FieldValue::Null) => return NULL,
            Some(FieldValue::Text(text)) => match self.text(text, before) {
                Some(number) => number,
                None => return AGAIN,
            },
            Some(FieldValue::Int(value)) => value.cast_unsigned(),
            Some(FieldValue::Float(value)) => u64::from(value.to_bits()),
            Some(FieldValue::Double(value)) => value.to_bits(),
            Some(FieldValue::Time(time)) => time.ticks().cast_unsigned(),
        };
        if before == Some(bits) {
            return AGAIN;
        }
        match value {
            Some(FieldValue::Int(value)) if spec.kind == FieldKind::Int32 => {
                self.out.signed(*value);
            }
            Some(FieldValue::Int(value)) => {
                scaled::<{ BYTES.small }, { BYTES.large }>(&mut self.out, *value);
            }
            Some(FieldValue::Float(value)) => float(&mut self.out, *value),
            Some(FieldValue::Double(value)) => double(&mut self.out, *value),
            Some(FieldValue::Time(time)) => {
                let from = before.map_or_else(|| received_at.ticks(), u64::cast_signed);
                let moved = time.ticks().wrapping_sub(from);
                scaled::<{ TICKS.small }, { TICKS.large }>(&mut self.out, moved);
            }
            // Written already, or nothing to write.
            None | Some(FieldValue::Text(_) | FieldValue::Null | FieldValue::Items(_)) => {}
        }
        last.set(index, bits);
        VALUE
    }

    /// Writes a text: how many texts ago it was written, or 0 and what it does not have in common with the last one of its field.
    /// Returns its number; `None` when it is the last one itself.
    fn text(&mut self, text: &str, last: Option<u64>) -> Option<u64> {
        let bytes = u32::try_from(text.len()).unwrap_or(u32::MAX);
        self.text_bytes = self.text_bytes.saturating_add(bytes);
        let before = last.map(|last| self.texts.text(Texts::number(last)));
        if before == Some(text) {
            return None;
        }
        let number = self.texts.intern(text);
        if self.places.len() < self.texts.len() {
            self.places.resize(self.texts.len(), 0);
        }
        let place = self.places.get_mut(number as usize)?;
        if *place > 0 {
            self.out.varint((self.written + 1 - *place).into());
        } else {
            let before = last.map_or("", |last| self.texts.text(Texts::number(last)));
            let (head, tail) = text.split_at(common_prefix(before, text));
            self.out.u8(0);
            self.out.count(head.len());
            self.out.text(tail);
            self.written += 1;
            *place = self.written;
        }
        Some(number.into())
    }

    fn items(&mut self, last: &mut Last, items: &[ProcessItem], received_at: Timestamp) {
        self.out.count(items.len());
        for item in items {
            let at = self.out.len();
            raw_presence(&mut self.out, PROCESS_ITEM, 0);
            let mut presence = 0;
            for (index, spec) in ProcessItem::FIELDS.iter().enumerate() {
                let value = item.get(index);
                presence |=
                    self.field(last, index, spec, value.as_ref(), received_at) << (2 * index);
            }
            let bytes = presence_bytes(PROCESS_ITEM);
            let presence = presence.to_le_bytes();
            self.out
                .overwrite(at, presence.get(..bytes).unwrap_or_default());
        }
    }
}

fn raw_presence(encoder: &mut Encoder, kind: usize, presence: u64) {
    let bytes = presence_bytes(kind);
    encoder.raw(presence.to_le_bytes().get(..bytes).unwrap_or_default());
}

/// An integer, in units where it is a whole number of them. The lowest bits say which. The units are constants: a division by a variable
/// takes many times as long.
fn scaled<const SMALL: i64, const LARGE: i64>(encoder: &mut Encoder, value: i64) {
    if value % SMALL == 0 {
        if value % LARGE == 0 {
            encoder.varint(zigzag(value / LARGE) << 2 | IN_LARGE);
        } else {
            encoder.varint(zigzag(value / SMALL) << 1 | IN_SMALL);
        }
        return;
    }
    let value = zigzag(value);
    if value >> 62 == 0 {
        encoder.varint(value << 2);
    } else {
        encoder.varint(WIDE);
        encoder.raw(&value.to_le_bytes());
    }
}

/// A number in whole or in hundredths, or as 0 and its bits.
fn float(encoder: &mut Encoder, value: f32) {
    #[expect(clippy::cast_possible_truncation, reason = "as it is read")]
    let read = |hundredths| of_hundredths(hundredths) as f32;
    let found = hundredths(f64::from(value));
    if let Some(found) = found.filter(|found| read(*found).to_bits() == value.to_bits()) {
        decimal(encoder, found);
    } else {
        encoder.u8(0);
        encoder.raw(&value.to_le_bytes());
    }
}

/// As [`float`].
fn double(encoder: &mut Encoder, value: f64) {
    let found = hundredths(value);
    if let Some(found) = found.filter(|found| of_hundredths(*found).to_bits() == value.to_bits()) {
        decimal(encoder, found);
    } else {
        encoder.u8(0);
        encoder.raw(&value.to_le_bytes());
    }
}

fn decimal(encoder: &mut Encoder, hundredths: i64) {
    let whole = hundredths / i64::from(HUNDREDTHS);
    let number = if whole * i64::from(HUNDREDTHS) == hundredths {
        zigzag(whole) << 1
    } else {
        zigzag(hundredths) << 1 | 1
    };
    encoder.varint(number + 1);
}

/// The nearest hundredth, where a double distinguishes it from the next. Half away from zero is added and the rest cut: `round` is a
/// call where the processor may be an old one.
fn hundredths(value: f64) -> Option<i64> {
    let hundredths = value * f64::from(HUNDREDTHS);
    #[expect(clippy::cast_possible_truncation, reason = "within 53 bits")]
    (hundredths.abs() < EXACT_MAX).then_some((hundredths + 0.5_f64.copysign(hundredths)) as i64)
}

fn common_prefix(a: &str, b: &str) -> usize {
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b);
    let mut length = same.count();
    while !b.is_char_boundary(length) {
        length -= 1;
    }
    length
}
