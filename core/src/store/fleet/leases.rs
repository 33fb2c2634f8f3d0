//! The leases of providers. They are values of `meta`. Key: `lease/`, then the provider. Value: since when, until when, the process.

use crate::error::Result;
use crate::timestamp::Timestamp;

use crate::store::codec::{Decoder, Encoder};
use crate::store::table::{Read, Table, Tables};

/// The lease of a provider.
#[derive(Debug)]
pub(crate) struct Lease {
    pub(crate) from: Timestamp,
    pub(crate) until: Timestamp,
    pub(crate) instance: String,
}

fn key(provider: &str) -> Vec<u8> {
    [b"lease/", provider.as_bytes()].concat()
}

/// The last lease of a provider.
pub(crate) fn get(read: &impl Read, provider: &str) -> Result<Option<Lease>> {
    read.get(Table::Meta, &key(provider), |value| {
        let mut decoder = Decoder::new(value);
        let lease = Lease {
            from: decoder.time()?,
            until: decoder.time()?,
            instance: decoder.text()?.to_owned(),
        };
        decoder.finish()?;
        Ok(lease)
    })
}

/// Stores a lease in place of the last one of the provider.
pub(crate) fn put(tables: &Tables<'_>, provider: &str, lease: &Lease) -> Result<()> {
    let mut encoder = Encoder::default();
    encoder.time(lease.from);
    encoder.time(lease.until);
    encoder.text(&lease.instance);
    tables.put(Table::Meta, &key(provider), &encoder.finish())
}
