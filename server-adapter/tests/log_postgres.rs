//! The log in PostgreSQL, with real servers.
#![cfg(all(unix, feature = "postgres"))]

#[allow(
    clippy::pedantic,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    unreachable_pub,
    reason = "the contract of every log, from the suites of the engine"
)]
#[path = "../../tests/src/log_contract.rs"]
mod log_contract;
#[allow(
    clippy::pedantic,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    dead_code,
    missing_debug_implementations,
    unreachable_pub,
    reason = "servers for several suites, each of which needs a part"
)]
#[path = "../../tests/src/servers/postgres.rs"]
mod postgres;

use deskfleet_server::cluster::{PostgresLog, PostgresOptions};
use postgres::Postgres;

fn open(url: &str) -> PostgresLog {
    PostgresLog::open(url, &PostgresOptions::default()).unwrap()
}

#[test]
fn log_in_postgres_keeps_the_contract() {
    let Some(postgres) = Postgres::start() else {
        return;
    };
    let url = postgres.url();
    log_contract::check(&|| Box::new(open(&url)));
}
