//! The deskfleet engine behind a socket.
//!
//! A small server of HTTP/1.1 and HTTP/2 around [`deskfleet::Engine`]: it reads requests within bounds of size and time, hands them to
//! the engine, and adds the pages that a running service needs and an embedded engine does not: `/livez`, `/readyz`,
//! `/metrics` and `/openapi.json`. It decides nothing that the engine decides.
//!
//! ```no_run
//! use deskfleet_server::{ServerOptions, spawn};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = deskfleet::Engine::builder()
//!     .clock(std::time::SystemTime::now)
//!     .random(getrandom::fill)
//!     .open_in_memory()?;
//! let server = spawn(engine, ServerOptions::default())?;
//! println!("http://{}/livez", server.addr());
//! server.stop()?;
//! # Ok(())
//! # }
//! ```
//!
//! | folder or file | holds |
//! |---|---|
//! | `server/` | the listener, graceful shutdown, the background threads; a server on a thread of its own |
//! | `connection/` | one connection: TLS, HTTP/1.1 and HTTP/2, the socket with its deadlines, what its requests report to it |
//! | `request/` | one request: what it asks for, its checks and its body; what the server refuses by itself |
//! | `response/` | bodies that are made while they are sent, reads off the event loop, streams of events |
//! | `limits/` | connections served at once, what each source has in progress, memory of bodies, guesses of keys |
//! | `pages/`, `console/` | the pages served without the engine's router; the console and its sign-in with a code for one use |
//! | `services/` | the operations that the server has beside the engine's |
//! | `backups/` | copies of the store in a folder; those that a client receives |
//! | `metrics/` | what is counted; what is asked of the engine for it |
//! | `notifications/` | events for webhooks, and the heartbeat |
//! | `log/` | log output that never blocks; a line for each request |
//! | `options.rs`, `state.rs` | the settings; what all connections share |
//! | `folders.rs` | syncing the folder of a file |
//! | `cluster/` | the log that a URL names, the thread that follows it, an archive of it, and what is wrong with a fleet |
//! | `demo/` | a demo fleet with a working week of telemetry, which goes on while it is served |

mod backups;
#[cfg(feature = "cluster")]
pub mod cluster;
mod connection;
#[cfg(feature = "console")]
mod console;
pub mod demo;
mod folders;
mod limits;
mod log;
mod machine;
mod metrics;
mod notifications;
mod options;
mod pages;
mod request;
mod response;
mod server;
mod services;
mod state;

use deskfleet::locks;

pub use backups::sent_copies::SentCopies;
pub use backups::{Backup, BackupError, BackupState, Backups};
#[cfg(feature = "tls")]
pub use connection::tls::Tls;
#[cfg(not(feature = "tls"))]
pub use connection::without_tls::Tls;
pub use deskfleet_client::{PageTokens, Problem, RepeatedToken, api_key, read_api_key, visible};
pub use folders::{folder_of, sync_folder_of};
pub use log::LogQueue;
pub use log::access_log::{AccessLog, LogFormat, stderr_log};
pub use machine::machine_name;
pub use metrics::Metrics;
pub use notifications::options::{
    HeartbeatMethod, HeartbeatOptions, NotificationOptions, WebhookFormat, WebhookOptions,
    shown_url,
};
pub use notifications::{Notifications, Prepared};
pub use options::{Reads, ServerOptions};
pub use request::hosts::{is_for_address, is_host_name};
pub use server::running::{RunningServer, spawn};
pub use server::{Drained, Server, ServerHandle, listen};
