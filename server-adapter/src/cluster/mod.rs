//! The logs that the nodes of a fleet can share.

#[cfg(feature = "postgres")]
mod postgres;

#[cfg(feature = "postgres")]
pub use postgres::{PostgresLog, PostgresOptions};
