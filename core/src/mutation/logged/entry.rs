//! The body of an entry of the log: the mutations of one group commit.

use crate::error::{EngineError, ErrorKind, Result};
use crate::limits::LOG_ENTRY_BYTES;
use crate::store::codec::{Decoder, Encoder};

use super::{AnyMutation, Mutation, Tag, decode};

const VERSION: u8 = 1;

/// The newest rules by which this version applies mutations: what the tables hold after a log depends on them. An entry says by which it is
/// applied; one of newer rules is not.
pub(crate) const RULES: u16 = 5;

/// The first rules with leases of providers, and with the audit of changed settings.
pub(crate) const LEASE_RULES: u16 = 5;

/// The rules of a node whose file does not store any: it is of a version before they were stored.
pub(crate) const FIRST_RULES: u16 = 4;

/// Makes the body of an entry.
#[derive(Debug)]
pub(crate) struct EntryWriter {
    body: Encoder,
    is_empty: bool,
}

impl EntryWriter {
    /// The most bytes that a body with one mutation has beside those of the mutation.
    pub(crate) const OVERHEAD_BYTES: usize = 16;

    /// A body without mutations, to be applied by these rules.
    pub(crate) fn new(rules: u16) -> Self {
        let mut body = Encoder::default();
        body.u8(VERSION);
        body.raw(&rules.to_le_bytes());
        Self {
            body,
            is_empty: true,
        }
    }

    /// Appends a mutation by its tag and its bytes. Returns `false` if it does not fit and begins the next entry; the first one
    /// always fits.
    pub(crate) fn push(&mut self, tag: Tag, bytes: &[u8]) -> bool {
        let length = self.body.len() + head(tag, bytes).len() + bytes.len();
        if !self.is_empty && length > LOG_ENTRY_BYTES {
            return false;
        }
        self.append(tag, bytes);
        true
    }

    /// The same without a bound.
    pub(crate) fn append(&mut self, tag: Tag, bytes: &[u8]) {
        self.is_empty = false;
        self.body.append(&mut head(tag, bytes));
        self.body.raw(bytes);
    }

    /// The body.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.body.finish()
    }
}

/// What stands before the bytes of a mutation.
fn head(tag: Tag, bytes: &[u8]) -> Encoder {
    let mut head = Encoder::default();
    head.u8(tag as u8);
    head.count(bytes.len());
    head
}

/// Reads the mutations of an entry, in their order. After an error there are no more.
///
/// # Errors
/// [`ErrorKind::NewerFormat`] where a newer version wrote what this one does not know, [`ErrorKind::Corrupted`] where none did.
#[derive(Debug, Clone)]
pub(crate) struct EntryReader<'b> {
    decoder: Decoder<'b>,
    rules: u16,
}

impl<'b> EntryReader<'b> {
    /// Begins to read a body, as a program does that knows these rules and those before.
    pub(crate) fn new(body: &'b [u8], known: u16) -> Result<Self> {
        let mut decoder = Decoder::new(body);
        match decoder.u8().map_err(not_readable)? {
            VERSION => {}
            0 => return Err(damaged()),
            version => return Err(newer(&format!("of format {version}"))),
        }
        let rules = u16::from_le_bytes(decoder.array().map_err(not_readable)?);
        if rules > known {
            return Err(newer(&format!("by rules {rules}")));
        }
        Ok(Self { decoder, rules })
    }

    /// The rules by which the entry is applied.
    pub(crate) fn rules(&self) -> u16 {
        self.rules
    }

    fn read(&mut self) -> Result<LoggedMutation<'b>> {
        let number = self.decoder.u8().map_err(not_readable)?;
        let length = self.decoder.count().map_err(not_readable)?;
        let bytes = self.decoder.raw(length).map_err(not_readable)?;
        let unknown = || newer(&format!("with mutation {number}"));
        let tag = Tag::numbered(number).ok_or_else(unknown)?;
        Ok(LoggedMutation { tag, bytes })
    }
}

impl<'b> Iterator for EntryReader<'b> {
    type Item = Result<LoggedMutation<'b>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.decoder.is_empty() {
            return None;
        }
        let read = self.read();
        if read.is_err() {
            self.decoder = Decoder::new(&[]);
        }
        Some(read)
    }
}

/// The bytes of a mutation in an entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LoggedMutation<'b> {
    pub(crate) tag: Tag,
    pub(crate) bytes: &'b [u8],
}

impl LoggedMutation<'_> {
    /// Decodes the mutation as a type that the caller knows.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupted`] where it is not such a mutation.
    pub(crate) fn decode<M: Mutation>(&self) -> Result<M> {
        let mutation: M = decode(self.tag, self.bytes).map_err(not_readable)?;
        if mutation.tag() != Some(self.tag) {
            return Err(damaged());
        }
        Ok(mutation)
    }

    /// Decodes the mutation as the type of its tag.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupted`] where the bytes are not those of such a mutation.
    pub(crate) fn decode_any(&self) -> Result<Box<dyn AnyMutation>> {
        self.tag.decode(self.bytes).map_err(not_readable)
    }
}

/// Decodes an entry of the log. Returns for each mutation the number of its tag, its bytes as this version writes them, and its
/// `Debug` text. For the fuzz target `log_entry`.
///
/// # Errors
/// [`ErrorKind::NewerFormat`], [`ErrorKind::Corrupted`]
pub fn logged_mutations(body: &[u8]) -> Result<Vec<(u8, Vec<u8>, String)>> {
    let mutations = EntryReader::new(body, RULES)?.map(|logged| {
        let logged = logged?;
        let mutation = logged.decode_any()?;
        let mut bytes = Encoder::default();
        mutation.encode_any(&mut bytes);
        Ok((logged.tag as u8, bytes.finish(), format!("{mutation:?}")))
    });
    mutations.collect()
}

/// The errors of the decoder speak of the file.
fn not_readable(_: EngineError) -> EngineError {
    damaged()
}

fn damaged() -> EngineError {
    EngineError::new(
        ErrorKind::Corrupted,
        "an entry of the log cannot be read: no version of deskfleet wrote it, or the log is damaged",
    )
}

fn newer(what: &str) -> EngineError {
    EngineError::new(
        ErrorKind::NewerFormat,
        format!("the log has an entry {what}, of a newer deskfleet; update this node"),
    )
}
