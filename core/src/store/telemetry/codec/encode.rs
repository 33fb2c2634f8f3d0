//! Writing a block.

use crate::model::{FieldKind, FieldSpec, FieldValue, Fields, ProcessItem, RecordRef};
use crate::store::codec::{Encoder, zigzag};
use crate::store::telemetry::contents::hash;
use crate::timestamp::Timestamp;

use super::{
    ABSENT, AGAIN, COUNTS_AT, EXACT_MAX, FILED_AT_RECEIPT, HUNDREDTHS, KINDS, Last, NULL,
    PAGE_BYTES, PROCESS_ITEM, SAME_PRESENCE, TICKS_PER_MILLISECOND, Texts, VALUE, VERSION, WIDE,
    kind_of, of_hundredths, presence_bytes,
};

/// Places in which the number of a text is looked for by its hash.
const TEXT_PLACES: usize = 512;

/// Writes records into one block, one behind the other.
#[derive(Debug, Clone)]
pub(in crate::store::telemetry) struct BlockEncoder {
    block: Encoder,
    records: u32,
    text_bytes: u32,
    /// When the last record was received.
    received_at: Timestamp,
    last: Box<[Last; KINDS]>,
    texts: Texts,
    /// By hash, the number of a text and 1; a text that loses its place is written again.
    places: Vec<u32>,
    /// The values of the record being written.
    values: Encoder,
    /// Size of the block before: this one will be about as long.
    last_bytes: usize,
}

impl Default for BlockEncoder {
    fn default() -> Self {
        Self {
            block: Encoder::default(),
            records: 0,
            text_bytes: 0,
            received_at: Timestamp::UNIX_EPOCH,
            last: Box::new([Last::NOTHING; KINDS]),
            texts: Texts::default(),
            places: Vec::new(),
            values: Encoder::default(),
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
            self.received_at = received_at;
            self.block = Encoder::with_capacity(self.last_bytes);
            self.block.u8(VERSION);
            // Written over once they are known.
            self.block.raw(&self.counts());
            self.block.raw(&received_at.ticks().to_le_bytes());
        }
        let kind = kind_of(record.stream());
        let mut presence = 0;
        for (index, (spec, value)) in record.fields().enumerate() {
            presence |= self.field((kind, index), spec, value, received_at) << (2 * index);
        }
        let mut head = record.stream().number();
        if record.sent_time() != Some(filed_at) {
            head |= FILED_AT_RECEIPT;
        }
        let same = self.last.get(kind).and_then(|last| last.presence) == Some(presence);
        if same {
            head |= SAME_PRESENCE;
        } else if let Some(last) = self.last.get_mut(kind) {
            last.presence = Some(presence);
        }
        self.block.u8(head);
        self.block
            .signed(received_at.ticks().wrapping_sub(self.received_at.ticks()));
        self.received_at = received_at;
        if !same {
            raw_presence(&mut self.block, record.stream().fields(), presence);
        }
        self.block.append(&mut self.values);
        self.records += 1;
    }

    pub(in crate::store::telemetry) fn records(&self) -> usize {
        self.records as usize
    }

    /// Bytes of the block as it stands.
    pub(in crate::store::telemetry) fn bytes(&self) -> usize {
        self.block.len()
    }

    /// Bytes of the texts of the records, those included that are not written again.
    pub(in crate::store::telemetry) fn text_bytes(&self) -> usize {
        self.text_bytes as usize
    }

    fn counts(&self) -> [u8; 8] {
        (u64::from(self.text_bytes) << 32 | u64::from(self.records)).to_le_bytes()
    }

    /// The block; another one can be written then.
    pub(in crate::store::telemetry) fn finish(&mut self) -> Vec<u8> {
        self.block.overwrite(COUNTS_AT, &self.counts());
        let block = std::mem::take(&mut self.block).finish();
        self.last_bytes = block.len();
        self.records = 0;
        self.text_bytes = 0;
        self.last.fill(Last::NOTHING);
        self.texts.clear();
        self.places.clear();
        block
    }

    /// Writes the value unless it is the last one again; answers its presence.
    fn field(
        &mut self,
        (kind, index): (usize, usize),
        spec: &FieldSpec,
        value: Option<&FieldValue<'_>>,
        received_at: Timestamp,
    ) -> u64 {
        let last = self.last.get(kind).and_then(|last| last.get(index));
        let bits = match value {
            None => return ABSENT,
            Some(FieldValue::Null) => return NULL,
            Some(FieldValue::Items(items)) => {
                self.items(items, received_at);
                return VALUE;
            }
            Some(FieldValue::Text(text)) => {
                let bytes = u32::try_from(text.len()).unwrap_or(u32::MAX);
                self.text_bytes = self.text_bytes.saturating_add(bytes);
                let last = last.and_then(|last| usize::try_from(last).ok());
                if last.and_then(|last| self.texts.get(last)) == Some(text) {
                    return AGAIN;
                }
                self.text(text, last) as u64
            }
            Some(FieldValue::Int(value)) => value.cast_unsigned(),
            Some(FieldValue::Float(value)) => u64::from(value.to_bits()),
            Some(FieldValue::Double(value)) => value.to_bits(),
            Some(FieldValue::Time(time)) => time.ticks().cast_unsigned(),
        };
        if last == Some(bits) {
            return AGAIN;
        }
        match value {
            Some(FieldValue::Int(value)) if spec.kind == FieldKind::Int32 => {
                self.values.signed(*value);
            }
            Some(FieldValue::Int(value)) => scaled(&mut self.values, *value, PAGE_BYTES),
            Some(FieldValue::Float(value)) => float(&mut self.values, *value),
            Some(FieldValue::Double(value)) => double(&mut self.values, *value),
            Some(FieldValue::Time(time)) => {
                let from = last.map_or_else(|| received_at.ticks(), u64::cast_signed);
                let moved = time.ticks().wrapping_sub(from);
                scaled(&mut self.values, moved, TICKS_PER_MILLISECOND);
            }
            None | Some(FieldValue::Null | FieldValue::Items(_) | FieldValue::Text(_)) => {}
        }
        if let Some(last) = self.last.get_mut(kind) {
            last.set(index, bits);
        }
        VALUE
    }

    /// Writes a text: how far back it stands, or 0 and what it does not have in common with the last one of its field.
    fn text(&mut self, text: &str, last: Option<usize>) -> usize {
        if self.places.is_empty() {
            self.places.resize(TEXT_PLACES, 0);
        }
        let place = place(text);
        let found = self
            .places
            .get(place)
            .and_then(|found| found.checked_sub(1));
        if let Some(found) = found.map(|found| found as usize)
            && self.texts.get(found) == Some(text)
        {
            self.values.count(self.texts.len() - found);
            return found;
        }
        let before = last.and_then(|last| self.texts.get(last)).unwrap_or("");
        let (head, tail) = text.split_at(common_prefix(before, text));
        self.values.u8(0);
        self.values.count(head.len());
        self.values.text(tail);
        let number = self.texts.add(text);
        if let Some(place) = self.places.get_mut(place) {
            *place = u32::try_from(number + 1).unwrap_or(0);
        }
        number
    }

    fn items(&mut self, items: &[ProcessItem], received_at: Timestamp) {
        self.values.count(items.len());
        for item in items {
            let at = self.values.len();
            raw_presence(&mut self.values, ProcessItem::FIELDS, 0);
            let mut presence = 0;
            for (index, spec) in ProcessItem::FIELDS.iter().enumerate() {
                let value = item.get(index);
                let mark = self.field((PROCESS_ITEM, index), spec, value.as_ref(), received_at);
                presence |= mark << (2 * index);
            }
            let bytes = presence_bytes(ProcessItem::FIELDS);
            let presence = presence.to_le_bytes();
            self.values
                .overwrite(at, presence.get(..bytes).unwrap_or_default());
        }
    }
}

fn raw_presence(encoder: &mut Encoder, specs: &[FieldSpec], presence: u64) {
    let bytes = presence_bytes(specs);
    encoder.raw(presence.to_le_bytes().get(..bytes).unwrap_or_default());
}

/// An integer, in units where it is a whole number of them. The lowest bit tells which.
fn scaled(encoder: &mut Encoder, value: i64, unit: i64) {
    if value % unit == 0 {
        encoder.varint(zigzag(value / unit) << 1 | 1);
        return;
    }
    let value = zigzag(value);
    if value >> 63 == 0 {
        encoder.varint(value << 1);
    } else {
        encoder.varint(WIDE);
        encoder.raw(&value.to_le_bytes());
    }
}

/// A number as hundredths and 1, or as 0 and its bits.
fn float(encoder: &mut Encoder, value: f32) {
    #[expect(clippy::cast_possible_truncation, reason = "as it is read")]
    let read = |hundredths| of_hundredths(hundredths) as f32;
    let found = hundredths(f64::from(value));
    if let Some(found) = found.filter(|found| read(*found).to_bits() == value.to_bits()) {
        encoder.varint(zigzag(found) + 1);
    } else {
        encoder.u8(0);
        encoder.raw(&value.to_le_bytes());
    }
}

/// As [`float`].
fn double(encoder: &mut Encoder, value: f64) {
    let found = hundredths(value);
    if let Some(found) = found.filter(|found| of_hundredths(*found).to_bits() == value.to_bits()) {
        encoder.varint(zigzag(found) + 1);
    } else {
        encoder.u8(0);
        encoder.raw(&value.to_le_bytes());
    }
}

/// The nearest hundredth, where a double tells it from the next.
fn hundredths(value: f64) -> Option<i64> {
    let hundredths = (value * HUNDREDTHS).round();
    #[expect(clippy::cast_possible_truncation, reason = "within 53 bits")]
    (hundredths.abs() < EXACT_MAX).then_some(hundredths as i64)
}

fn common_prefix(a: &str, b: &str) -> usize {
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b);
    let mut length = same.count();
    while !b.is_char_boundary(length) {
        length -= 1;
    }
    length
}

fn place(text: &str) -> usize {
    usize::try_from(hash(0, text) >> 32).unwrap_or(0) % TEXT_PLACES
}
