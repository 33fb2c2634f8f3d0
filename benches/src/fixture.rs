//! Engines with a key, workspaces and records to send.

use std::path::Path;
use std::sync::LazyLock;
use std::time::{Instant, SystemTime};

use bytes::Bytes;
use deskfleet::{
    Clock, Config, Engine, EngineBuilder, ManualClock, NewKey, Observer, Scope, Timestamp, Upkeep,
    Workspace,
};
use http::{Request, header};

/// An open engine and a key with every scope.
#[derive(Debug)]
pub struct Fixture {
    /// The engine.
    pub engine: Engine,
    /// The key.
    pub key: String,
    /// The engine's clock.
    pub clock: ManualClock,
}

/// The desktops that most records are of.
pub(crate) const DESKTOPS: u64 = 1000;
/// The file of an engine that [`open`] opened.
pub const FILE: &str = "bench.redb";

/// Opens an engine in `folder`, or in memory without one. The clock stands still, so it costs nothing.
///
/// The engine never files by itself, however long the queue is, unless `configure` enables it.
///
/// # Panics
/// When the engine does not open.
#[must_use]
pub fn open(folder: Option<&Path>, configure: impl FnOnce(&mut Config)) -> Fixture {
    open_with(folder, configure, EngineBuilder::clock)
}

/// The same, with an observer, and a clock that runs on from where it is set: the durations of events are those of the work.
///
/// # Panics
/// When the engine does not open.
#[must_use]
pub fn open_observed(
    folder: Option<&Path>,
    configure: impl FnOnce(&mut Config),
    observer: impl Observer,
) -> Fixture {
    open_with(folder, configure, |builder, clock| {
        let begun = Instant::now();
        let clock = move || SystemTime::from(clock.now()) + begun.elapsed();
        builder.clock(clock).observer(observer)
    })
}

fn open_with(
    folder: Option<&Path>,
    configure: impl FnOnce(&mut Config),
    inject: impl FnOnce(EngineBuilder, ManualClock) -> EngineBuilder,
) -> Fixture {
    let mut config = Config::default();
    config.limits.queue_records = deskfleet::limits::QUEUE_RECORDS_MAX;
    config.limits.queue_high_water = u64::MAX;
    configure(&mut config);
    let clock = ManualClock::new(Timestamp::from_unix_seconds(1_795_161_600));
    let builder = inject(Engine::builder().upkeep(Upkeep::Host), clock.clone());
    let builder = builder.seed(1).config(config);
    let engine = match folder {
        Some(folder) => builder.open(folder.join(FILE)),
        None => builder.open_in_memory(),
    };
    let engine = engine.expect("an engine opens");
    let key = issue_key(&engine);
    Fixture { engine, key, clock }
}

impl Fixture {
    /// Puts `count` synthetic workspaces.
    ///
    /// # Panics
    /// When they are refused.
    pub fn fill(&self, count: usize) {
        put_workspaces(&self.engine, count);
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

/// Issues a key with every scope.
pub(crate) fn issue_key(engine: &Engine) -> String {
    let key = NewKey::new("bench", Scope::ALL);
    engine.issue_key(key).expect("a key is issued").secret
}

/// Puts `count` synthetic workspaces.
pub(crate) fn put_workspaces(engine: &Engine, count: usize) {
    let mut numbers = (0..count).peekable();
    while numbers.peek().is_some() {
        let chunk = numbers.by_ref().take(10_000).map(workspace).collect();
        engine.put_workspaces(chunk).expect("workspaces are stored");
    }
}

/// The synthetic workspace of that number.
#[must_use]
pub fn workspace(number: usize) -> Workspace {
    let text = |text: String| Some(text);
    Workspace {
        id: format!("ws-{number:09}"),
        computer_name: text(format!("WSAMZN-{number:08X}")),
        account: text("123456789012".into()),
        region: text("eu-central-1".into()),
        directory_id: text("d-9067f0c1a2".into()),
        running_mode: Some("AUTO_STOP".into()),
        compute_type_name: Some("STANDARD".into()),
        protocol: Some("WSP".into()),
        username: text(format!("user{number}")),
        state: Some("AVAILABLE".into()),
    }
}

/// A Stats record of about 600 bytes, different for each `number`, of one of 1000 desktops.
#[must_use]
pub fn stats_json(number: u64) -> Bytes {
    stats_json_among(DESKTOPS, number)
}

/// The same of one of `desktops` desktops.
fn stats_json_among(desktops: u64, number: u64) -> Bytes {
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
        user = number % desktops,
        free = 2_147_483_648 - busy * 4096,
        used = 2_147_483_648 + busy * 4096,
    ))
}

/// Records that [`stats_body`] copies, each made once.
static BODIES: LazyLock<Vec<Template>> = LazyLock::new(|| {
    (0..4096)
        .map(|number| Template::new(number, DESKTOPS))
        .collect()
});
const TIME: &[u8] = b"\"updatetime\":\"";

/// A Stats record whose time can be changed in place.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    pub(crate) bytes: Vec<u8>,
    /// Where the time begins.
    time: usize,
}

impl Template {
    /// The record of that number, of one of `desktops` desktops.
    pub(crate) fn new(number: u64, desktops: u64) -> Self {
        let bytes = stats_json_among(desktops, number).to_vec();
        let name = bytes.windows(TIME.len()).position(|part| part == TIME);
        let time = name.expect("a time") + TIME.len();
        Self { bytes, time }
    }

    /// Puts the head of a request before it.
    pub(crate) fn put_before(&mut self, head: &[u8]) {
        self.bytes.splice(..0, head.iter().copied());
        self.time += head.len();
    }

    /// Sets date and time, such as `2026-11-20T08:00:00`.
    pub(crate) fn set_second(&mut self, second: &str) {
        let place = self.bytes.get_mut(self.time..self.time + second.len());
        place.expect("a time").copy_from_slice(second.as_bytes());
    }

    /// Writes the last seven digits of `number` into the fraction of the second, so that no two records are the same.
    pub(crate) fn set_fraction(&mut self, number: u64) {
        stamp(&mut self.bytes, self.time, number);
    }
}

fn stamp(bytes: &mut [u8], time: usize, mut number: u64) {
    let start = time + "2026-11-20T08:00:00.".len();
    let place = bytes.get_mut(start..start + 7).expect("a fraction");
    for digit in place.iter_mut().rev() {
        *digit = b'0' + u8::try_from(number % 10).unwrap_or_default();
        number /= 10;
    }
}

/// A Stats record as by [`stats_json`], for a small part of its cost; different for each `number`.
///
/// # Panics
/// Never: the templates exist.
#[must_use]
pub fn stats_body(number: u64) -> Bytes {
    let index = usize::try_from(number).unwrap_or_default() % BODIES.len();
    let template = BODIES.get(index).expect("a template");
    let mut bytes = template.bytes.clone();
    stamp(&mut bytes, template.time, number);
    Bytes::from(bytes)
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
