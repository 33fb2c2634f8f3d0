//! A test double of the service: an engine in memory whose time, faults and storage a test controls, and which keeps a journal.
//!
//! ```
//! use std::time::Duration;
//!
//! use bytes::Bytes;
//! use deskfleet::Code;
//! use deskfleet::testing::{Double, DoubleOptions, Rule, fleet};
//! use http::Request;
//!
//! let double = Double::open(DoubleOptions::default())?;
//! double.engine().put_workspaces(fleet(2))?;
//! // The second post is refused as a full queue refuses it.
//! double.fail(Rule::operation("postStats").code(Code::QueueFull).after(1).times(1))?;
//! let post = || {
//!     let request = Request::post("/api/Stats/Post").header("content-type", "application/json");
//!     double.handle(request.body(Bytes::from_static(b"{\"username\":\"user1\"}")).unwrap())
//! };
//! assert_eq!([post(), post(), post()].map(|response| response.status().as_u16()), [200, 503, 200]);
//! double.journal().assert_count("postStats", 3);
//! double.advance(Duration::from_secs(3600))?; // the reboots of the last hour have ended
//! # Ok::<(), deskfleet::EngineError>(())
//! ```
//!
//! Operations have the ids of the rows of [`routes::ROUTES`](crate::routes::ROUTES), as in the OpenAPI document.

// | file | holds |
// |---|---|
// | `rule.rs` | what a rule is: its members, their bounds, and which requests it meets |
// | `storage.rs` | the medium that fails as the rules say, and survives a power cut |
// | `journal.rs` | exchanges without keys, assertions about them, and replay |
// | `pause.rs` | the clock, and waits for a latency |
// | `double.rs` | [`Double`] and the requests below `/double/` |

mod double;
mod journal;
mod pause;
mod rule;
mod storage;

pub use double::{CONTROLS, Control, Double, DoubleOptions, fleet};
pub use journal::{Exchange, Journal};
pub use rule::{ANY_OPERATION, MEMBERS, Member, MemberKind, Rule, RulesError, StorageFault};
