//! A client of Amazon WorkSpaces, for the eight calls that deskfleet needs. It knows nothing of deskfleet's server.
//!
//! | file | holds |
//! |---|---|
//! | `client.rs` | the calls |
//! | `desktop.rs` | the cloud's desktops, and their records for an import |
//! | `error.rs` | why a call has failed, and what becomes of its desktop |
//! | `calling.rs`, `bucket.rs` | how a call is made; how fast an account is called |
//! | `sigv4.rs`, `credentials/` | signatures, and what they are made with |

mod bucket;
mod calling;
pub mod client;
pub mod credentials;
pub mod desktop;
pub mod error;
pub mod sigv4;
