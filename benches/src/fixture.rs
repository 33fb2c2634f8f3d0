//! Engines with a key, workspaces and records to send.

use std::path::Path;

use bytes::Bytes;
use deskfleet::{Config, Engine, ManualClock, NewKey, Scope, Timestamp, Workspace};
use http::{Request, header};

/// An open engine and a key with every scope.
#[derive(Debug)]
pub struct Fixture {
    /// The engine.
    pub engine: Engine,
    /// The key.
    pub key: String,
}

/// Opens an engine in `folder`, or in memory without one. The clock stands still: it costs nothing.
///
/// The engine files nothing by itself, however long the queue gets, unless `configure` says so.
///
/// # Panics
/// When the engine does not open.
#[must_use]
pub fn open(folder: Option<&Path>, configure: impl FnOnce(&mut Config)) -> Fixture {
    let mut config = Config::default();
    config.limits.queue_records = u64::MAX;
    config.limits.queue_high_water = u64::MAX;
    configure(&mut config);
    let clock = ManualClock::new(Timestamp::from_unix_seconds(1_795_161_600));
    let builder = Engine::builder().clock(clock).seed(1).config(config);
    let engine = match folder {
        Some(folder) => builder.open(folder.join("bench.redb")),
        None => builder.open_in_memory(),
    };
    let engine = engine.expect("an engine opens");
    let key = NewKey {
        name: "bench".into(),
        scopes: Scope::ALL.into_iter().collect(),
        expires: None,
    };
    let key = engine.issue_key(key).expect("a key is issued").secret;
    Fixture { engine, key }
}

impl Fixture {
    /// Puts `count` made-up workspaces.
    ///
    /// # Panics
    /// When they are refused.
    pub fn fill(&self, count: usize) {
        let mut numbers = (0..count).peekable();
        while numbers.peek().is_some() {
            let chunk = numbers.by_ref().take(10_000).map(workspace).collect();
            self.engine
                .put_workspaces(chunk)
                .expect("workspaces are stored");
        }
    }

    /// A GET of `path` with the key in the query, as documented.
    ///
    /// # Panics
    /// When `path` is no path.
    #[must_use]
    pub fn get(&self, path: &str) -> Request<Bytes> {
        let joint = if path.contains('?') { '&' } else { '?' };
        let uri = format!("{path}{joint}apiKey={}", self.key);
        Request::get(uri).body(Bytes::new()).expect("a request")
    }
}

/// The made-up workspace of that number.
#[must_use]
pub fn workspace(number: usize) -> Workspace {
    let text = |text: String| Some(text);
    Workspace {
        id: format!("ws-{number:09}"),
        computer_name: text(format!("WSAMZN-{number:08X}")),
        account: text("123456789012".into()),
        region: text("eu-central-1".into()),
        directory_id: text("d-9067f0c1a2".into()),
        running_mode: text("AUTO_STOP".into()),
        compute_type_name: text("STANDARD".into()),
        protocol: text("WSP".into()),
        username: text(format!("user{number}")),
        state: text("AVAILABLE".into()),
    }
}

/// A Stats record of about 600 bytes, different for each `number`.
#[must_use]
pub fn stats_json(number: u64) -> Bytes {
    let (minute, second) = (number / 60 % 60, number % 60);
    let busy = number % 100;
    Bytes::from(format!(
        "{{\"id\":{number},\"computeTypeName\":\"STANDARD\",\"updatetime\":\"2026-11-20T07:{minute:02}:{second:02}.{number:07}Z\",\
         \"username\":\"user{user}\",\"processorCount\":2,\"processorInUse\":{busy},\"physicalMemory\":4294967296,\
         \"availablePhysicalMemory\":{free},\"virtualMemory\":8589934592,\"availableVirtualMemory\":{free},\
         \"memoryInUse\":{used},\"rootTotal\":85899345920,\"rootAvailable\":42949672960,\"userTotal\":53687091200,\
         \"userAvailable\":26843545600,\"diskReads\":{busy}.5,\"diskWrites\":1.25,\"networkReceived\":1{busy:02}4.0,\
         \"networkSent\":512.5,\"uptime\":{number}.0,\"osVersion\":\"10.0.17763\",\"tenantId\":\"tenant-1\",\
         \"instanceId\":\"ws-{user:09}\"}}",
        number = number % 10_000_000,
        user = number % 1000,
        free = 2_147_483_648 - busy * 4096,
        used = 2_147_483_648 + busy * 4096,
    ))
}

/// The POST of a Stats record.
///
/// # Panics
/// Never: the request is a valid one.
#[must_use]
pub fn stats_post(body: Bytes) -> Request<Bytes> {
    Request::post("/api/Stats/Post")
        .header(header::CONTENT_TYPE, "application/json")
        .body(body)
        .expect("a request")
}

/// Whether this is a run under `cargo bench`; otherwise each bench runs once, on little data.
#[must_use]
pub fn is_measuring() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}
