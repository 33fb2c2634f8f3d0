//! Logs on servers.

use std::path::Path;
use std::time::Instant;

use deskfleet::cluster::Log;
use deskfleet_benches::latency::Latencies;
use deskfleet_benches::{stats_body, stats_post};
use deskfleet_log_nats::NatsOptions;
use deskfleet_log_postgres::PostgresOptions;
use http::StatusCode;

use crate::started::nats::Nats;
use crate::started::postgres::Postgres;
use crate::{Effort, Node, RETRY_INTERVAL, is_wanted, next_number};

const GAPS: &str = "gaps";

pub(super) fn measure_all(effort: Effort, folder: &Path) {
    if is_wanted("postgres")
        && let Some(mut postgres) = Postgres::start()
    {
        let url = postgres.url();
        let open = |name: &str| {
            let url = format!("{url}&fleet={name}");
            deskfleet_log_postgres::open(&url, &PostgresOptions::default()).expect("a log")
        };
        let failover = Failover {
            fault: "the primary is killed and a standby promoted at once",
            fail: |postgres: &mut Postgres| {
                postgres.kill_primary();
                postgres.promote();
            },
            repair: Postgres::revive,
        };
        measure(
            "PostgreSQL",
            effort,
            folder,
            &open,
            &mut postgres,
            &failover,
        );
    }
    if is_wanted("nats")
        && let Some(mut nats) = Nats::start()
    {
        let url = nats.url();
        let open = |name: &str| {
            let url = format!("{url}&fleet={name}");
            deskfleet_log_nats::open(&url, &NatsOptions::default()).expect("a log")
        };
        let failover = Failover {
            fault: "the leader is killed",
            fail: |nats: &mut Nats| nats.kill_leader("df_gaps"),
            repair: Nats::revive,
        };
        measure(
            "NATS JetStream",
            effort,
            folder,
            &open,
            &mut nats,
            &failover,
        );
    }
}

struct Failover<S> {
    fault: &'static str,
    fail: fn(&mut S),
    repair: fn(&mut S),
}

fn measure<L: Log, S>(
    name: &str,
    effort: Effort,
    folder: &Path,
    open: &dyn Fn(&str) -> L,
    servers: &mut S,
    failover: &Failover<S>,
) {
    crate::measure(name, effort, folder, open);
    let folder = tempfile::tempdir_in(folder).expect("a folder");
    let node = Node::over(open(GAPS), folder.path(), GAPS);
    gaps(effort, &node, servers, failover);
}

/// A post that is sent until it is acknowledged.
fn acknowledged(node: &Node) {
    let post = stats_post(stats_body(next_number()));
    while node.engine.handle(post.clone()).status() != StatusCode::OK {
        std::thread::sleep(RETRY_INTERVAL);
    }
}

/// From a fault of the log until a node acknowledges a post, which is sent again and again.
fn gaps<S>(effort: Effort, node: &Node, servers: &mut S, failover: &Failover<S>) {
    let mut times = Latencies::default();
    for _ in 0..effort.failovers {
        acknowledged(node);
        let begun = Instant::now();
        (failover.fail)(servers);
        acknowledged(node);
        times.add(begun.elapsed());
        (failover.repair)(servers);
    }
    let summary = times.summary();
    println!(
        "  {}: a post is acknowledged after {:.2} s (p50), {:.2} s (longest)",
        failover.fault,
        summary.p50 / 1e6,
        summary.max / 1e6
    );
}
