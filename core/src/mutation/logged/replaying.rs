//! The entries of the log of one store, and applying them again after a crash.

use crate::config::Config;
use crate::error::Result;
use crate::mutation::Context;
use crate::mutation::configure::take_over;
use crate::store::codec::{Decoder, Encoder};
use crate::store::meta;
use crate::store::table::Tables;
use crate::timestamp::Timestamp;

use super::Tag;
use super::entry::{EntryReader, EntryWriter, RULES};

/// An entry with the time at which it is applied.
pub(crate) struct TimedEntry;

impl TimedEntry {
    /// The bytes of these mutations.
    pub(crate) fn write<'m>(
        at: Timestamp,
        mutations: impl Iterator<Item = &'m (Tag, Vec<u8>)>,
    ) -> Vec<u8> {
        let mut body = EntryWriter::new(RULES);
        for (tag, bytes) in mutations {
            body.append(*tag, bytes);
        }
        let mut bytes = Encoder::default();
        bytes.raw(&at.ticks().to_le_bytes());
        bytes.raw(&body.finish());
        bytes.finish()
    }

    /// Applies what [`Self::write`] wrote to the tables as they were before it, by the settings that they hold: the result is the same
    /// to the byte.
    pub(crate) fn replay(tables: &mut Tables<'_>, bytes: &[u8]) -> Result<()> {
        let mut config = Config::default();
        if let Some(lines) = meta::log_settings(tables)? {
            take_over(&mut config, &lines);
        }
        let mut decoder = Decoder::new(bytes);
        let at = Timestamp::from_ticks(i64::from_le_bytes(decoder.array()?));
        for logged in EntryReader::new(decoder.remaining(), RULES)? {
            let mutation = logged?.decode_any()?;
            // Only the caller of that time needed the refusal.
            let _ = mutation.apply_any(&mut Context::new(tables, &config, at))?;
        }
        Ok(())
    }
}
