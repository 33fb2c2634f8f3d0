//! The leases of providers. They are values of `meta`. Key: `lease/`, then the provider. Value: until when, the process.

use crate::error::{EngineError, ErrorKind, Result};
use crate::limits::LEASE_SECONDS_MAX;
use crate::timestamp::Timestamp;

use crate::store::codec::{Decoder, Encoder};
use crate::store::table::{Read, Table, Tables};

fn key(provider: &str) -> Vec<u8> {
    [b"lease/", provider.as_bytes()].concat()
}

/// The refusal where another process than `instance` has the lease of the provider at `now`.
pub(crate) fn refusal(
    read: &impl Read,
    provider: &str,
    instance: Option<&str>,
    now: Timestamp,
) -> Result<Option<EngineError>> {
    // One that was taken while the clock was days ahead is none: otherwise nobody could begin anything for days.
    let latest = now.plus_seconds(2 * LEASE_SECONDS_MAX);
    read.get(Table::Meta, &key(provider), |value| {
        let mut decoder = Decoder::new(value);
        let (until, holder) = (decoder.time()?, decoder.text()?);
        decoder.finish()?;
        if instance == Some(holder) || until <= now || until > latest {
            return Ok(None);
        }
        let message = format!("The process {holder} of the provider has its lease.");
        Ok(Some(EngineError::new(
            ErrorKind::InvalidResourceState,
            message,
        )))
    })
    .map(Option::flatten)
}

/// Stores a lease in place of the last one of the provider.
pub(crate) fn put(
    tables: &Tables<'_>,
    provider: &str,
    instance: &str,
    until: Timestamp,
) -> Result<()> {
    let mut encoder = Encoder::default();
    encoder.time(until);
    encoder.text(instance);
    tables.put(Table::Meta, &key(provider), &encoder.finish())
}

/// Removes the lease of a provider.
pub(crate) fn remove(tables: &Tables<'_>, provider: &str) -> Result<()> {
    tables.remove(Table::Meta, &key(provider)).map(drop)
}
