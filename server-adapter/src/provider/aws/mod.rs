//! A client of Amazon WorkSpaces, for the eight calls that deskfleet needs. It knows nothing of deskfleet's server.
//!
//! | file | holds |
//! |---|---|
//! | `client.rs` | the calls |
//! | `desktop.rs` | the cloud's desktops, and their records for an import |
//! | `error.rs` | why a call has failed, and what becomes of its desktop |
//! | `bucket.rs`, `gathering.rs` | how fast an account is called; what waits to be called together |
//! | `sigv4.rs`, `credentials/` | signatures, and what they are made with |

pub mod bucket;
pub mod client;
pub mod credentials;
pub mod desktop;
pub mod error;
pub mod gathering;
pub mod sigv4;
