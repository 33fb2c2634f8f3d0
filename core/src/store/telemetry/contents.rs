//! What is remembered of a block beside the file, and what a transaction changes of that.

use crate::model::{Received, RecordRef, Stream, user_key};

/// What a block holds: its record count, and hashes of the names in it.
#[derive(Debug, Clone)]
pub(super) struct Contents {
    pub(super) records: u64,
    streams: u8,
    /// Hashes of (stream, instance) and of users, sorted. A collision costs a look into a block in vain.
    names: Box<[u64]>,
}

impl Contents {
    pub(super) fn of(records: &[Received]) -> Self {
        let mut contents = ContentsBuilder::default();
        for received in records {
            contents.add(&RecordRef::of(&received.record));
        }
        contents.finish()
    }

    /// The memory of the names, in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.names)
    }

    pub(super) fn has_stream(&self, stream: Stream) -> bool {
        self.streams & (1 << stream.number()) != 0
    }

    pub(super) fn has_name(&self, hash: u64) -> bool {
        self.names.binary_search(&hash).is_ok()
    }
}

/// Collects what a block holds.
#[derive(Debug, Clone, Default)]
pub(super) struct ContentsBuilder {
    records: u64,
    streams: u8,
    names: Vec<u64>,
}

impl ContentsBuilder {
    pub(super) fn add(&mut self, record: &RecordRef<'_>) {
        let stream = record.stream();
        self.records += 1;
        self.streams |= 1 << stream.number();
        self.names.push(instance_hash(stream, record.instance_id()));
        self.names.push(user_hash(&user_key(record.username())));
    }

    /// The memory of the names, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.names.capacity() * size_of::<u64>()
    }

    /// What was added; another block can be begun then.
    pub(super) fn finish(&mut self) -> Contents {
        self.names.sort_unstable();
        self.names.dedup();
        let contents = Contents {
            records: self.records,
            streams: self.streams,
            names: self.names.as_slice().into(),
        };
        self.names.clear();
        (self.records, self.streams) = (0, 0);
        contents
    }
}

pub(super) fn instance_hash(stream: Stream, instance: &str) -> u64 {
    hash(stream.number(), instance)
}

pub(super) fn user_hash(user_key: &str) -> u64 {
    hash(0, user_key)
}

/// FNV-1a: names are short, and all that a collision costs is a look into a block in vain.
pub(super) fn hash(kind: u8, name: &str) -> u64 {
    let bytes = std::iter::once(kind).chain(name.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// What a transaction did to the queue.
#[derive(Debug, Default)]
pub(crate) struct QueueChanges {
    pub(super) added: Vec<(u64, Contents)>,
    pub(super) removed: Vec<u64>,
}
