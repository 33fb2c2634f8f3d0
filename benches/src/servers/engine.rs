//! The engine behind its server, configured as by `deskfleet serve --quiet`, but that one source may have all
//! connections: the clients of a bench are one.

use std::num::NonZero;
use std::path::Path;
use std::thread::available_parallelism;
use std::time::{Duration, SystemTime};

use deskfleet::{CommitDriver, CommitPhases, Config, Engine, Event, Observer, Upkeep};
use deskfleet_server::{Metrics, Server, ServerOptions};

use super::slow_disk::{SlowFile, SlowFolder};
use super::{announce, any_port};
use crate::fixture::FILE;

pub(super) fn serve(folder: &Path, sync_delay: Duration) {
    let metrics = Metrics::default();
    let engine = open(folder, sync_delay, metrics.clone());
    let mut options = ServerOptions {
        metrics,
        ..ServerOptions::default()
    };
    options.connections_max = 4096;
    options.connections_per_source = Some(options.connections_max);
    options.event_streams_max = options.connections_max;
    options.slow_reads_give_way = true;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(available_parallelism().map_or(1, NonZero::get))
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let server = Server::bind(any_port(), engine.clone(), options)
            .await
            .expect("a free port");
        let stopped = announce(server.local_addr().expect("an address"));
        let drained = server.run(async { drop(stopped.await) }).await;
        drained.expect("it serves");
    });
    engine.close().expect("the file is closed");
}

fn open(folder: &Path, sync_delay: Duration, metrics: Metrics) -> Engine {
    let mut config = Config::default();
    config.commit_driver = CommitDriver::Thread;
    config.commit_phases = CommitPhases::Two;
    let file = folder.join(FILE);
    let medium = file.clone();
    let builder = Engine::builder()
        .config(config)
        .upkeep(Upkeep::Host)
        .clock(SystemTime::now)
        .random(getrandom::fill)
        .observer(move |event: &Event<'_>| metrics.event(event))
        .free_space(move || {
            let medium = rustix::fs::statvfs(&medium).ok()?;
            medium.f_bavail.checked_mul(medium.f_frsize)
        });
    let engine = if sync_delay.is_zero() {
        builder.open(file)
    } else {
        let queue = SlowFolder {
            path: folder.join("queue"),
            sync_delay,
        };
        let file = SlowFile::open(&file, sync_delay).expect("a file");
        builder.open_backend_with_queue(file, queue)
    };
    engine.expect("an engine opens")
}
