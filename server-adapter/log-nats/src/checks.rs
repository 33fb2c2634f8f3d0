//! What must hold of the servers and the streams such that an acknowledged entry survives.

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_nats::ServerInfo;
use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::context::{Context, CreateStreamErrorKind, GetStreamErrorKind};
use async_nats::jetstream::stream::{Config, DiscardPolicy, Info, Republish, StorageType};
use deskfleet::cluster::{LogError, LogErrorKind};
use deskfleet::limits::LOG_BODY_BYTES_MIN;
use deskfleet::locks::lock;
use http::{Request, StatusCode, header};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};
use tokio_rustls::rustls::pki_types::ServerName;

use crate::address::{DUPLICATE_WINDOW, Monitor, SyncCheck};

/// Older servers cannot send several entries in one response, or lose acknowledged messages.
const VERSION_MIN: [u32; 3] = [2, 12, 0];
/// What this was tried with.
const VERSION_TRIED: [u32; 3] = [2, 15, 1];
/// What of `max_payload` is left for the header of an entry.
pub(super) const HEADER_BYTES: usize = 512;
/// How long a stream is waited for that has no leader: one is elected within a few seconds of its making, or of the loss of the last.
const LEADER_MAX: Duration = Duration::from_secs(10);
const LEADER_INTERVAL: Duration = Duration::from_millis(100);
/// The status of a refusal while the cluster has no leader.
const UNAVAILABLE: usize = 503;
const MONITOR_MAX: Duration = Duration::from_secs(5);
/// Between two looks at how the servers are set up.
const WATCH_INTERVAL: Duration = Duration::from_secs(10);
const MONITOR_BYTES_MAX: usize = 1 << 20;
const UNLIMITED: i64 = -1;

/// What of a stream must be as it was made. The rest, such as its placement, is the operator's.
const COMPARED: [&str; 19] = [
    "subjects",
    "storage",
    "num_replicas",
    "retention",
    "discard",
    "max_msgs",
    "max_msgs_per_subject",
    "max_bytes",
    "max_age",
    "max_msg_size",
    "duplicate_window",
    "allow_direct",
    "republish",
    "mirror",
    "sources",
    "persist_mode",
    "no_ack",
    "sealed",
    "subject_transform",
];

/// The stream of the entries. Its servers announce on `tail` what position was stored.
pub(super) fn entries(
    name: &str,
    subject: &str,
    tail: &str,
    replicas: usize,
    duplicate_window: Duration,
) -> Config {
    Config {
        discard: DiscardPolicy::New,
        duplicate_window,
        allow_direct: true,
        republish: Some(Republish {
            source: subject.to_owned(),
            destination: tail.to_owned(),
            headers_only: true,
        }),
        ..unlimited(name, subject, replicas)
    }
}

/// The stream of what nodes say of themselves: the last report of each.
pub(super) fn reports(name: &str, subjects: &str, replicas: usize) -> Config {
    Config {
        max_messages_per_subject: 1,
        duplicate_window: DUPLICATE_WINDOW,
        ..unlimited(name, subjects, replicas)
    }
}

fn unlimited(name: &str, subject: &str, replicas: usize) -> Config {
    Config {
        name: name.to_owned(),
        subjects: vec![subject.to_owned()],
        storage: StorageType::File,
        num_replicas: replicas,
        max_messages: UNLIMITED,
        max_messages_per_subject: UNLIMITED,
        max_bytes: UNLIMITED,
        max_message_size: -1,
        max_consumers: -1,
        ..Config::default()
    }
}

/// Makes the stream where there is none, waits until it has a leader, and refuses one that was made in another way.
pub(super) async fn stream(context: &Context, wanted: Config) -> Result<(), LogError> {
    let name = &wanted.name;
    let refused =
        |kind, message: &str| LogError::new(kind, format!("the stream {name}: {message}"));
    let end = Instant::now() + LEADER_MAX;
    let found = loop {
        let (kind, message) = match find_or_make(context, &wanted).await {
            Ok(info) if has_leader(&info) => break info.config,
            Ok(_) => (LogErrorKind::Unavailable, "it has no leader".to_owned()),
            Err(Failure::Lasting(message)) => return Err(refused(LogErrorKind::Unsafe, &message)),
            Err(Failure::NoPeers(message)) => (LogErrorKind::Unsafe, message),
            Err(Failure::Passing(message)) => (LogErrorKind::Unavailable, message),
        };
        if Instant::now() >= end {
            let seconds = LEADER_MAX.as_secs();
            return Err(refused(kind, &format!("{message}, after {seconds} s")));
        }
        sleep(LEADER_INTERVAL).await;
    };
    let different = differences(&wanted, &found);
    if different.is_empty() {
        return Ok(());
    }
    let different = different.join(", ");
    Err(refused(
        LogErrorKind::Unsafe,
        &format!("it is not as deskfleet made it, change it back: {different}"),
    ))
}

/// Why there is no stream.
enum Failure {
    Lasting(String),
    /// Too few servers, which may only have started one after the other.
    NoPeers(String),
    /// No leader yet of the cluster, or another node makes the stream at this moment.
    Passing(String),
}

async fn find_or_make(context: &Context, wanted: &Config) -> Result<Info, Failure> {
    let error = match context.get_stream(&wanted.name).await {
        Ok(found) => return Ok(found.cached_info().clone()),
        Err(error) => error,
    };
    let GetStreamErrorKind::JetStream(cause) = error.kind() else {
        return Err(Failure::Passing(error.to_string()));
    };
    if cause.error_code() != ErrorCode::STREAM_NOT_FOUND {
        return Err(Failure::Passing(cause.to_string()));
    }
    let made = context.create_stream(wanted.clone()).await;
    let made = made.map_err(|error| {
        let CreateStreamErrorKind::JetStream(cause) = error.kind() else {
            return Failure::Passing(error.to_string());
        };
        match cause.error_code() {
            ErrorCode::CLUSTER_NO_PEERS => {
                Failure::NoPeers(format!("it needs three servers with JetStream: {cause}"))
            }
            ErrorCode::STREAM_NAME_EXIST => Failure::Passing(cause.to_string()),
            _ if cause.code() == UNAVAILABLE => Failure::Passing(cause.to_string()),
            _ => Failure::Lasting(cause.to_string()),
        }
    })?;
    Ok(made.cached_info().clone())
}

/// Without a cluster the one server leads.
fn has_leader(info: &Info) -> bool {
    let cluster = info.cluster.as_ref();
    cluster.is_none_or(|cluster| cluster.leader.is_some())
}

fn differences(wanted: &Config, found: &Config) -> Vec<String> {
    let mut like = found.clone();
    // More of them lose no less.
    like.num_replicas = found.num_replicas.min(wanted.num_replicas);
    let values = |config: &Config| serde_json::to_value(config).unwrap_or_default();
    let (wanted, like) = (values(wanted), values(&like));
    // A setting that is not set is left out.
    let shown =
        |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), Value::to_string);
    let different = COMPARED.iter().filter_map(|name| {
        let (wanted, like) = (wanted.get(name), like.get(name));
        let message = format!("{name} is {}, not {}", shown(like), shown(wanted));
        (wanted != like).then_some(message)
    });
    different.collect()
}

/// Refuses a server that does not keep streams, or takes no entries as long as those of the engine.
pub(super) fn server(server: &ServerInfo) -> Result<(), String> {
    if !server.jetstream {
        return Err("JetStream is off: set the section `jetstream` of the server".to_owned());
    }
    if server.max_payload < LOG_BODY_BYTES_MIN + HEADER_BYTES {
        return Err(format!(
            "max_payload is {}, and must be 1MB at least",
            server.max_payload
        ));
    }
    Ok(())
}

/// Refuses servers that are too old; returns a warning on those that were not tried.
pub(super) fn version(version: &str) -> Result<Option<String>, LogError> {
    let mut numbers = version
        .split(['.', '-'])
        .map(|part| part.parse().unwrap_or(0));
    let known: [u32; 3] = std::array::from_fn(|_| numbers.next().unwrap_or(0));
    let shown = |version: [u32; 3]| version.map(|number| number.to_string()).join(".");
    let known_losses =
        "Jepsen found that 2.12.1 loses acknowledged messages where sync_interval is not always";
    if known < VERSION_MIN {
        return Err(LogError::new(
            LogErrorKind::Unsafe,
            format!(
                "NATS {version} is too old, {} is the least: {known_losses}, and older ones more",
                shown(VERSION_MIN)
            ),
        ));
    }
    Ok((known < VERSION_TRIED).then(|| {
        format!(
            "deskfleet was tried with NATS {} and not with {version}: {known_losses}",
            shown(VERSION_TRIED)
        )
    }))
}

/// What `/jsz?config=true` says of a server.
#[derive(Deserialize)]
struct Monitored {
    server_id: String,
    #[serde(default)]
    config: MonitoredConfig,
    #[serde(default)]
    meta_cluster: MetaCluster,
}

#[derive(Default, Deserialize)]
struct MonitoredConfig {
    #[serde(default)]
    sync_always: bool,
}

#[derive(Deserialize)]
struct MetaCluster {
    cluster_size: usize,
}

impl Default for MetaCluster {
    fn default() -> Self {
        Self { cluster_size: 1 }
    }
}

/// Refuses servers that acknowledge what is not on their disks. A server that is down cannot be asked, and acknowledges nothing: it
/// is a warning as long as most of them are known.
pub(super) async fn sync(sync: &SyncCheck) -> Result<Vec<String>, LogError> {
    let refused = |message: String| {
        LogError::new(
            LogErrorKind::Unsafe,
            format!(
                "{message}; set `sync_interval: always` in the section `jetstream` of each server, and `http: HOST:PORT` or `https`, and give all those addresses in the URL, as ?monitor=http://HOST:PORT,http://HOST:PORT; or, where each server is known to be set so, ?unchecked_sync=yes"
            ),
        )
    };
    if sync.unchecked {
        return Ok(Vec::new());
    }
    if sync.monitors.is_empty() {
        return Err(refused(
            "it cannot be checked that the NATS servers write to the disk before they acknowledge"
                .to_owned(),
        ));
    }
    let (mut known, mut warnings, mut size) = (BTreeSet::new(), Vec::new(), 1);
    for monitor in &sync.monitors {
        match timeout(MONITOR_MAX, ask(monitor)).await {
            Ok(Ok(server)) if !server.config.sync_always => {
                return Err(refused(format!(
                    "the NATS server at {} acknowledges before it writes to the disk",
                    monitor.authority
                )));
            }
            Ok(Ok(server)) => {
                size = size.max(server.meta_cluster.cluster_size);
                known.insert(server.server_id);
            }
            Ok(Err(message)) => warnings.push(unasked(monitor, &message)),
            Err(_) => warnings.push(unasked(monitor, "no response")),
        }
    }
    let has_all = known.len() + warnings.len() >= size;
    if !has_all || known.len() * 2 <= size {
        let message = format!(
            "only {} of {size} NATS servers could be asked how they write to the disk",
            known.len()
        );
        warnings.insert(0, message);
        return Err(refused(warnings.join("; ")));
    }
    Ok(warnings)
}

/// Looks now and then whether the servers are still set up as they were at the start. With `alone` there is one server only.
pub(super) async fn watch(known: Arc<Mutex<Vec<String>>>, check: SyncCheck, alone: Option<String>) {
    loop {
        sleep(WATCH_INTERVAL).await;
        let mut warnings = match sync(&check).await {
            Ok(warnings) => warnings,
            Err(error) => vec![error.message],
        };
        warnings.extend(alone.clone());
        *lock(&known) = warnings;
    }
}

fn unasked(monitor: &Monitor, message: &str) -> String {
    let at = &monitor.authority;
    format!("the NATS server at {at} could not be asked for `sync_interval`: {message}")
}

async fn ask(monitor: &Monitor) -> Result<Monitored, String> {
    let body = get(monitor, "/jsz?config=true").await;
    let body = body.map_err(|error| error.to_string())?;
    serde_json::from_slice(&body).map_err(|error| format!("not an answer of JetStream: {error}"))
}

async fn get(monitor: &Monitor, path: &str) -> Result<Bytes, Box<dyn Error + Send + Sync>> {
    let stream = TcpStream::connect(&monitor.authority).await?;
    match &monitor.tls {
        None => get_over(stream, monitor, path).await,
        Some(tls) => {
            let name = ServerName::try_from(monitor.host().to_owned())?;
            let stream = tls.connect(name, stream).await?;
            get_over(stream, monitor, path).await
        }
    }
}

async fn get_over(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    monitor: &Monitor,
    path: &str,
) -> Result<Bytes, Box<dyn Error + Send + Sync>> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let mut request = Request::get(path).header(header::HOST, &monitor.authority);
    if let Some(authorization) = &monitor.authorization {
        request = request.header(header::AUTHORIZATION, authorization);
    }
    let response = sender
        .send_request(request.body(Empty::<Bytes>::new())?)
        .await?;
    let status = response.status();
    if status == StatusCode::UNAUTHORIZED {
        let why = "it asks for a user and a password: those of --log-credentials, USER:PASSWORD, are sent to https:// addresses";
        return Err(why.into());
    }
    if !status.is_success() {
        return Err(format!("its response is {status}").into());
    }
    let body = Limited::new(response.into_body(), MONITOR_BYTES_MAX);
    Ok(body.collect().await?.to_bytes())
}
