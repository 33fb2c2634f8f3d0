//! What servers of NATS, and which URLs and credentials, a log accepts, with real servers.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use deskfleet::cluster::{EntryId, Log as _, LogErrorKind};
use deskfleet_client::tls::Identity;
use deskfleet_log_nats::NatsOptions;

use crate::contract::{STREAM, open, start};
use crate::log_under_faults::open_until_it_succeeds;
use crate::servers::certificates::issue;
use crate::servers::nats::{Nats, Setup};

const ID: EntryId = EntryId([7; 16]);

/// What is message where a log cannot be opened.
fn refusal(url: &str, options: &NatsOptions) -> (LogErrorKind, String) {
    let error = deskfleet_log_nats::open(url, options).expect_err(url);
    (error.kind, error.message)
}

#[test]
fn servers_that_acknowledge_before_they_write_are_refused() {
    let Some(nats) = start(3, "2m", "") else {
        return;
    };
    let options = NatsOptions::default();
    let (kind, message) = refusal(&nats.url(), &options);
    assert_eq!(kind, LogErrorKind::Unsafe, "{message}");
    assert!(message.contains("sync_interval: always"), "{message}");
    let unchecked = format!("{}?unchecked_sync=yes", nats.url_without_monitors());
    let log = open(&unchecked);
    assert_eq!(log.client().notices().len(), 1);
    assert!(log.client().notices()[0].contains("sync_interval"));
    assert!(log.warnings().is_empty(), "{:?}", log.warnings());
}

#[test]
fn servers_that_cannot_be_asked_are_refused() {
    let Some(mut nats) = Nats::start() else {
        return;
    };
    let url = nats.url();
    let (hosts, monitors) = url.split_once("?monitor=").unwrap();
    let first = monitors.split(',').next().unwrap();
    for url in [
        hosts.to_owned(),
        format!("{hosts}?monitor={first}"),
        format!("{hosts}?monitor={first},{first}"),
        format!("{hosts}?monitor={first},http://127.0.0.1:1,http://127.0.0.1:2"),
    ] {
        let (kind, message) = refusal(&url, &NatsOptions::default());
        assert_eq!(kind, LogErrorKind::Unsafe, "{message}");
        assert!(message.contains("?monitor=http://"), "{message}");
    }
    let log = open(&url);
    assert!(log.warnings().is_empty(), "{:?}", log.warnings());
    // One that is down acknowledges nothing.
    nats.kill_leader(STREAM);
    let opened =
        open_until_it_succeeds(|| deskfleet_log_nats::open(&url, &NatsOptions::default()).ok());
    assert_eq!(opened.warnings().len(), 1);
}

#[test]
fn stream_with_other_settings_is_refused() {
    let Some(nats) = start(1, "always", "") else {
        return;
    };
    drop(open(&nats.url()));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let client = async_nats::connect(nats.url_without_monitors()).await;
        let context = async_nats::jetstream::new(client.unwrap());
        let stream = context.get_stream(STREAM).await.unwrap();
        let mut config = stream.cached_info().config.clone();
        config.max_age = Duration::from_secs(3600);
        context.update_stream(config).await.unwrap();
    });
    let (kind, message) = refusal(&nats.url(), &NatsOptions::default());
    assert_eq!(kind, LogErrorKind::Unsafe, "{message}");
    assert!(
        message.contains("max_age is 3600000000000, not 0"),
        "{message}"
    );
}

#[test]
fn credentials_are_used_and_never_shown() {
    let users = "authorization { users: [{ user: \"of-fleet\", password: \"se:cret\" }] }";
    let Some(nats) = start(1, "always", users) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("credentials");
    let options = NatsOptions {
        credentials: Some(path.clone()),
        ..NatsOptions::default()
    };
    fs::write(&path, "of-fleet:se:cret\n").unwrap();
    let log = deskfleet_log_nats::open(&nats.url(), &options).unwrap();
    assert_eq!(log.append(ID, b"allowed").unwrap().position, 1);
    let mut shown = format!("{log:?} {options:?}");
    for text in [
        "of-fleet:hidden\n",
        "hidden\n",
        "-----BEGIN NATS USER JWT-----\nhidden\n",
    ] {
        fs::write(&path, text).unwrap();
        let (_, message) = refusal(&nats.url(), &options);
        assert!(message.contains("credentials"), "{message}");
        shown.push_str(&message);
    }
    let url = nats.url().replace("nats://", "nats://of-fleet:hidden@");
    let (kind, message) = refusal(&url, &NatsOptions::default());
    assert_eq!(kind, LogErrorKind::Unsafe);
    shown.push_str(&message);
    let (_, message) = refusal(&nats.url(), &NatsOptions::default());
    shown.push_str(&message);
    for secret in ["of-fleet", "hidden", "se:cret"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[test]
fn certificate_of_the_server_is_verified() {
    let folder = tempfile::tempdir().unwrap();
    let openssl = || Command::new("openssl");
    let other_ca = issue(openssl, folder.path(), "other");
    let ca = issue(openssl, folder.path(), "own");
    let path = folder.path().display();
    let tls =
        format!("tls {{ cert_file: \"{path}/server.pem\", key_file: \"{path}/server.key\" }}");
    let (Some(nats), Some(plain)) = (start(1, "always", &tls), start(1, "always", "")) else {
        return;
    };
    let with = |ca: Option<&PathBuf>| NatsOptions {
        ca: ca.cloned(),
        ..NatsOptions::default()
    };
    let url = |nats: &Nats, scheme: &str, host: &str| {
        let url = nats.url().replacen("127.0.0.1", host, 1);
        url.replacen("nats", scheme, 1)
    };
    let missing = folder.path().join("missing.pem");
    for scheme in ["nats", "tls"] {
        let log =
            deskfleet_log_nats::open(&url(&nats, scheme, "localhost"), &with(Some(&ca))).unwrap();
        assert_eq!(log.append(ID, b"over TLS").unwrap().position, 1);
        for (host, ca, reason) in [
            ("127.0.0.1", Some(&ca), "certificate"),
            ("localhost", Some(&other_ca), "certificate"),
            ("localhost", None, "certificate"),
            ("localhost", Some(&missing), "missing.pem"),
        ] {
            let (_, message) = refusal(&url(&nats, scheme, host), &with(ca));
            assert!(message.contains(reason), "{host} {ca:?}: {message}");
        }
    }
    // A server that does not offer it.
    refusal(&url(&plain, "nats", "localhost"), &with(Some(&ca)));
    refusal(&url(&plain, "tls", "localhost"), &with(None));
    drop(open(&plain.url()));
}

#[test]
fn servers_that_ask_for_a_certificate_and_monitoring_over_tls_are_used() {
    let folder = tempfile::tempdir().unwrap();
    let openssl = || Command::new("openssl");
    issue(openssl, folder.path(), "other");
    let other = [
        ("server.pem", "other-client.pem"),
        ("server.key", "other-client.key"),
    ]
    .map(|(made, name)| {
        let kept = folder.path().join(name);
        fs::rename(folder.path().join(made), &kept).unwrap();
        kept
    });
    let ca = issue(openssl, folder.path(), "own");
    let own = ["server.pem", "server.key"].map(|name| folder.path().join(name));
    let path = folder.path().display();
    let tls = format!(
        "tls {{ cert_file: \"{path}/server.pem\", key_file: \"{path}/server.key\", ca_file: \"{path}/own.pem\", verify: true }}"
    );
    let Some(nats) = Nats::start_with(&Setup {
        count: 1,
        sync: "always".to_owned(),
        more: tls,
        has_https: true,
        ..Setup::default()
    }) else {
        return;
    };
    let url = nats.url().replacen("127.0.0.1", "localhost", 1);
    assert!(url.contains("?monitor=https://localhost:"), "{url}");
    let with = |ca: &PathBuf, identity: Option<&[PathBuf; 2]>| NatsOptions {
        ca: Some(ca.clone()),
        identity: identity.map(|[certificate, key]| Identity {
            certificate: certificate.clone(),
            key: key.clone(),
        }),
        ..NatsOptions::default()
    };
    let log = deskfleet_log_nats::open(&url, &with(&ca, Some(&own))).unwrap();
    assert_eq!(log.append(ID, b"by a certificate").unwrap().position, 1);
    let warnings = log.warnings().concat();
    assert!(!warnings.contains("could not be asked"), "{warnings}");
    refusal(&url, &with(&ca, None));
    refusal(&url, &with(&ca, Some(&other)));
    let missing = [folder.path().join("missing.pem"), own[1].clone()];
    let (_, message) = refusal(&url, &with(&ca, Some(&missing)));
    assert!(message.contains("missing.pem"), "{message}");
    // The monitoring is verified like the servers.
    let plain_log = nats
        .url_without_monitors()
        .replacen("127.0.0.1", "localhost", 1);
    let (_, monitors) = url.split_once("?monitor=").unwrap();
    let elsewhere = monitors.replace("localhost", "127.0.0.1");
    let (_, message) = refusal(
        &format!("{plain_log}?monitor={elsewhere}"),
        &with(&ca, Some(&own)),
    );
    assert!(message.contains("could not be asked"), "{message}");
}

#[test]
fn url_that_cannot_be_used_is_refused() {
    for (url, reason) in [
        ("https://127.0.0.1:4222", "nats://"),
        ("nats://", "HOST:PORT"),
        ("nats://127.0.0.1:a", "HOST:PORT"),
        ("nats://127.0.0.1:1,,127.0.0.1:2", "HOST:PORT"),
        ("nats://127.0.0.1:1?fleet=", "the name of a fleet"),
        ("nats://127.0.0.1:1?fleet=a.b", "the name of a fleet"),
        ("nats://127.0.0.1:1?monitor=127.0.0.1:2", "http://HOST:PORT"),
        (
            "nats://127.0.0.1:1?monitor=http://127.0.0.1",
            "http://HOST:PORT",
        ),
        (
            "nats://127.0.0.1:1?monitor=ftp://127.0.0.1:2",
            "https://HOST:PORT",
        ),
        ("nats://127.0.0.1:1?unchecked_sync=no", "unchecked_sync=yes"),
    ] {
        let (kind, message) = refusal(url, &NatsOptions::default());
        assert_eq!(kind, LogErrorKind::Unsafe, "{url}");
        assert!(message.contains(reason), "{url}: {message}");
    }
}
