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
//! | file | holds |
//! |---|---|
//! | `server.rs`, `connection_slots.rs` | the listener, graceful shutdown; the bounds on connections |
//! | `places.rs`, `served_places.rs` | how many connections are served at once; the place of one |
//! | `sources.rs` | where requests come from, and what each source has under way |
//! | `connection.rs`, `request.rs` | one connection; one request |
//! | `protocol.rs` | the settings of hyper |
//! | `socket.rs`, `progress.rs` | the socket of one connection: its deadlines, and responses that leave together; what its requests report to it |
//! | `tls.rs`, `without_tls.rs`, `handshake.rs` | TLS: certificate and key; its place in a build without; how a connection begins |
//! | `http2.rs`, `http2_requests.rs` | HTTP/2, and the requests in progress on a connection |
//! | `body.rs`, `budget.rs` | reading a request body within bounds; how much of all bodies and unsent responses is in memory |
//! | `asked.rs`, `keyed_responses.rs` | the room of a response until it is sent; responses that end with their key |
//! | `gzip.rs` | undoing gzip in bounded memory |
//! | `hosts.rs`, `source_rates.rs` | which hosts are accepted; bounds on guessing keys and on telemetry without a key |
//! | `slow_reads.rs`, `response_body.rs` | reads off the event loop and their bounds; bodies that are made while they are sent |
//! | `event_body.rs`, `event_streams.rs` | events as they happen, and the bound on such streams |
//! | `refusal.rs` | what the server refuses by itself |
//! | `counted.rs` | a count of what is under way |
//! | `cors.rs` | which pages of other origins may read responses |
//! | `pages.rs`, `landing.rs`, `accept.rs` | the pages served without the engine's router; the page at `/`; what a client accepts |
//! | `console/` | the files of the console; its sign-in with a code for one use |
//! | `openapi.rs` | the OpenAPI document, which `cargo openapi` writes |
//! | `services.rs`, `small_body.rs` | the operations that the server has beside the engine's; their bodies |
//! | `backups.rs`, `backup_requests.rs`, `sent_copies.rs` | copies of the store in a folder; those that a client asks for, and receives |
//! | `operation.rs`, `page.rs`, `service.rs` | what a request asks for, as metrics and access log name it |
//! | `metrics.rs`, `scraped.rs` | what is counted; what is asked of the engine for it |
//! | `access_log.rs`, `logged_request.rs`, `log.rs` | a line for each request; log output that never blocks |
//! | `maintenance.rs`, `running.rs` | the background thread; a server on a thread of its own |
//! | `cluster/` | the logs that the nodes of a fleet can share, the thread that follows one, and what is wrong with a fleet |
//! | `positions.rs`, `cluster_requests.rs` | waiting until a node has what a client saw on another; the list of nodes |
//! | `page_tokens.rs` | paging through the lists of a server that may be wrong |
//! | `provider/` | the clouds in which the command `deskfleet-provider` makes actions happen |
//! | `demo/` | a demo fleet with a working week of telemetry |

mod accept;
mod access_log;
mod asked;
mod backup_requests;
mod backups;
mod body;
mod budget;
#[cfg(feature = "cluster")]
pub mod cluster;
mod cluster_requests;
mod connection;
mod connection_slots;
#[cfg(feature = "console")]
mod console;
mod cors;
mod counted;
pub mod demo;
mod ending;
mod event_body;
mod event_streams;
mod gzip;
#[cfg(feature = "tls")]
mod handshake;
mod hosts;
#[cfg(feature = "http2")]
mod http2;
#[cfg(feature = "http2")]
mod http2_requests;
mod keyed_responses;
mod landing;
mod log;
mod logged_request;
mod maintenance;
mod metrics;
mod openapi;
mod operation;
mod options;
mod page;
mod page_tokens;
mod pages;
mod places;
#[cfg(feature = "cluster")]
mod positions;
mod progress;
mod protocol;
#[cfg(feature = "providers")]
pub mod provider;
mod refusal;
mod request;
mod response_body;
mod running;
mod scraped;
mod sent_copies;
mod served_places;
mod server;
mod service;
mod services;
mod slow_reads;
mod small_body;
mod socket;
mod source_rates;
mod sources;
mod state;
#[cfg(feature = "tls")]
mod tls;
#[cfg(not(feature = "tls"))]
mod without_tls;

use deskfleet::locks;

pub use access_log::{AccessLog, LogFormat, stderr_log};
pub use backups::{Backup, Backups};
pub use hosts::is_host_name;
pub use log::LogQueue;
pub use maintenance::Maintenance;
pub use metrics::Metrics;
pub use options::ServerOptions;
pub use page_tokens::{PageTokens, RepeatedToken};
pub use running::{RunningServer, spawn};
pub use sent_copies::SentCopies;
pub use server::{Drained, Server, ServerHandle, listen};
#[cfg(feature = "tls")]
pub use tls::{Tls, read_certificates, read_key, read_roots};
#[cfg(not(feature = "tls"))]
pub use without_tls::Tls;
