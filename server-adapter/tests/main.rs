//! All suites of the server in one program, which is compiled and linked once.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]

mod access_log;
mod backups;
mod canary;
mod cluster;
mod cluster_kill;
mod command;
mod compression;
mod configuration;
mod console;
mod console_files;
mod console_link;
mod console_sign_in;
mod cors;
mod crowd;
mod damage;
mod dashboard;
mod day_two;
mod double;
mod events;
mod events_http2;
mod events_kill;
mod exports;
mod fairness;
mod files;
mod frames;
mod guards;
mod gzip;
mod hostile;
mod http;
mod http2;
mod imports;
mod kill;
mod node_health;
mod notifications;
mod openapi;
mod openapi_responses;
mod openapi_texts;
mod parquet;
mod partitions;
mod pipelining;
mod places;
mod positions;
mod process;
mod prometheus_rules;
mod proxies;
mod round_robin;
mod settings_page;
mod shippers;
mod slow_reads;
mod start;
mod tls;
mod tls_connections;
mod transfer;
mod unattended;
mod unread;
mod uploads;
mod year;

// What they share.
#[allow(dead_code, reason = "some attacks need a feature")]
mod attacks;
#[cfg(feature = "tls")]
mod certificates;
mod client;
#[cfg(all(unix, feature = "postgres", feature = "nats"))]
mod fleet;
mod followed;
#[cfg(all(unix, feature = "postgres"))]
mod gate;
#[cfg(feature = "tls")]
mod https;
mod load;
mod schema;
mod served;
#[cfg(unix)]
#[path = "../../tests/src/servers/mod.rs"]
#[allow(dead_code, unreachable_pub, reason = "each suite uses a part of it")]
mod servers;
