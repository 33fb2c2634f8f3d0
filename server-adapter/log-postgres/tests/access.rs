//! Which servers of PostgreSQL, URLs, passwords and certificates a log accepts, with real servers.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use deskfleet::cluster::{Log as _, LogErrorKind};
use deskfleet_client::tls::Identity;
use deskfleet_log_postgres::PostgresOptions;

use crate::contract::open;
use crate::servers::certificates;
use crate::servers::postgres::Postgres;

const USER: &str = "careful";
const PASSWORD: &str = "s3cret@/?% #ä";
const ENCODED: &str = "s3cret%40%2F%3F%25%20%23%C3%A4";

/// What is message where a log cannot be opened.
fn refusal(url: &str, options: &PostgresOptions) -> (LogErrorKind, String) {
    let error = deskfleet_log_postgres::open(url, options).expect_err(url);
    let message = format!("{error} {error:?} {options:?}");
    for secret in [USER, PASSWORD, ENCODED, "s3cret", "wrong-pass"] {
        assert!(!message.contains(secret), "{secret} in {message}");
    }
    (error.kind, error.message)
}

/// A server with a user that needs a password.
fn with_password() -> Option<Postgres> {
    let postgres = Postgres::start_alone()?;
    postgres.sql(&format!("CREATE ROLE {USER} LOGIN PASSWORD '{PASSWORD}'"));
    postgres.sql(&format!("GRANT ALL ON SCHEMA public TO {USER}"));
    let rules = postgres.folder().join("pg_hba.conf");
    let before = fs::read_to_string(&rules).unwrap();
    let rule = format!("host all {USER} 127.0.0.1/32 scram-sha-256\n{before}");
    fs::write(&rules, rule).unwrap();
    postgres.reload();
    Some(postgres)
}

#[test]
fn password_is_accepted_from_file_url_and_environment_and_never_shown() {
    let Some(postgres) = with_password() else {
        return;
    };
    let address = format!("127.0.0.1:{}/postgres", postgres.port());
    let with = |password: &str| format!("postgres://{USER}:{password}@{address}");
    let without = format!("postgres://{USER}@{address}");
    let none = PostgresOptions::default();
    let given = |password: &str| PostgresOptions {
        password: Some(password.to_owned()),
        ..PostgresOptions::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("password");
    fs::write(&path, format!("{PASSWORD}\n")).unwrap();
    let file = PostgresOptions {
        credentials: Some(path),
        ..given("wrong-pass")
    };
    for (url, options) in [
        (&with(ENCODED), &none),
        (&with(ENCODED), &given("wrong-pass")),
        (&without, &given(PASSWORD)),
        (&without, &file),
        (&with("wrong-pass"), &file),
    ] {
        let log = deskfleet_log_postgres::open(url, options).unwrap();
        let shown = format!("{log:?} {:?}", log.warnings());
        assert!(
            !shown.contains(USER) && !shown.contains("s3cret"),
            "{shown}"
        );
    }
    for (url, options) in [
        (&with("wrong-pass"), &none),
        (&without, &given("wrong-pass")),
    ] {
        let (kind, message) = refusal(url, options);
        assert_eq!(kind, LogErrorKind::Unavailable);
        assert!(
            message.contains("does not accept the user or the password"),
            "{message}"
        );
    }
    refusal(&without, &none);
    // An @ that is not escaped would make a host of the rest of the password.
    let (kind, message) = refusal(&with("wrong-pass@s3cret"), &none);
    assert_eq!(kind, LogErrorKind::Unsafe);
    assert!(message.contains("%40"), "{message}");
}

#[test]
fn url_that_cannot_be_used_is_refused() {
    for (url, reason) in [
        ("https://127.0.0.1/", "postgres://"),
        ("postgres:///database", "host"),
        ("postgres://127.0.0.1:a/", "port"),
        ("postgres://127.0.0.1/?sslmode=maybe", "sslmode"),
        ("postgres://127.0.0.1/?sslrootcert=ca.pem", "--log-ca"),
        (
            "postgres://127.0.0.1/?sslcert=a.pem&sslkey=a.key",
            "--log-cert",
        ),
        (
            "postgres://127.0.0.1/?target_session_attrs=read-only",
            "read-write",
        ),
        ("postgres://127.0.0.1/?fleet=", "fleet"),
        ("postgres://127.0.0.1/?colour=blue", "colour"),
    ] {
        let (kind, message) = refusal(url, &PostgresOptions::default());
        assert_eq!(kind, LogErrorKind::Unsafe, "{url}");
        assert!(message.contains(reason), "{url}: {message}");
    }
}

#[test]
fn certificate_is_verified_as_sslmode_says() {
    let Some(postgres) = Postgres::start_alone() else {
        return;
    };
    let issue = |issuer| {
        let openssl = || postgres.command("openssl");
        certificates::issue(openssl, &postgres.folder(), issuer)
    };
    let other_ca = issue("other");
    let ca = issue("own");
    postgres.sql("ALTER SYSTEM SET ssl_cert_file = 'server.pem'");
    postgres.sql("ALTER SYSTEM SET ssl_key_file = 'server.key'");
    let url = |host: &str, mode: &str| {
        format!(
            "postgres://postgres@{host}:{}/postgres?{mode}",
            postgres.port()
        )
    };
    let with = |ca: Option<&Path>| PostgresOptions {
        ca: ca.map(Path::to_owned),
        ..PostgresOptions::default()
    };
    let (address, name) = ("127.0.0.1", "localhost");
    let encrypted = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE application_name = 'deskfleet' AND ssl";
    let opens = |host, mode, ca, is_encrypted: bool| {
        let log = deskfleet_log_postgres::open(&url(host, mode), &with(ca)).unwrap();
        assert_eq!(log.bounds(0).unwrap().last, 0);
        let connections = if is_encrypted { "2" } else { "0" };
        assert_eq!(postgres.sql(encrypted), connections, "{host} {mode}");
        drop(log);
        postgres.sql("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'deskfleet'");
    };
    opens(address, "", None, false);
    let (_, message) = refusal(&url(address, "sslmode=require"), &with(None));
    assert!(message.contains("TLS"), "{message}");
    postgres.set("ssl", "on");
    opens(address, "", None, true);
    opens(address, "sslmode=disable", None, false);
    opens(address, "sslmode=require", None, true);
    opens(address, "sslmode=require", Some(&ca), true);
    opens(address, "sslmode=verify-ca", Some(&ca), true);
    opens(name, "sslmode=verify-full", Some(&ca), true);
    opens(name, "", Some(&ca), true);
    for (host, mode, ca) in [
        (address, "sslmode=verify-full", Some(ca.as_path())),
        (address, "", Some(&ca)),
        (address, "sslmode=require", Some(&other_ca)),
        (address, "sslmode=verify-ca", Some(&other_ca)),
        (name, "sslmode=verify-full", Some(&other_ca)),
        (name, "sslmode=verify-full", None),
    ] {
        let (_, message) = refusal(&url(host, mode), &with(ca));
        assert!(message.contains("certificate"), "{host} {mode}: {message}");
    }
}

#[test]
fn server_that_asks_for_a_certificate_gets_it() {
    let Some(postgres) = Postgres::start_alone() else {
        return;
    };
    let openssl = || postgres.command("openssl");
    let folder = postgres.folder();
    certificates::issue(openssl, &folder, "other");
    let other = ["server.pem", "server.key"].map(|made| {
        let kept = folder.join(format!("other-{made}"));
        fs::rename(folder.join(made), &kept).unwrap();
        kept
    });
    let ca = certificates::issue(openssl, &folder, "own");
    let own = ["server.pem", "server.key"].map(|name| folder.join(name));
    for (setting, file) in [
        ("ssl_cert_file", "server.pem"),
        ("ssl_key_file", "server.key"),
        ("ssl_ca_file", "own.pem"),
    ] {
        postgres.sql(&format!("ALTER SYSTEM SET {setting} = '{file}'"));
    }
    let rules = folder.join("pg_hba.conf");
    let before = fs::read_to_string(&rules).unwrap();
    let rule = format!(
        "hostssl all all 127.0.0.1/32 trust clientcert=verify-ca\nhostssl all all ::1/128 trust clientcert=verify-ca\n{before}"
    );
    fs::write(&rules, rule).unwrap();
    postgres.set("ssl", "on");
    let url = format!("postgres://postgres@localhost:{}/postgres", postgres.port());
    let with = |identity: Option<&[PathBuf; 2]>| PostgresOptions {
        ca: Some(ca.clone()),
        identity: identity.map(|[certificate, key]| Identity {
            certificate: certificate.clone(),
            key: key.clone(),
        }),
        ..PostgresOptions::default()
    };
    let log = deskfleet_log_postgres::open(&url, &with(Some(&own))).unwrap();
    assert_eq!(log.bounds(0).unwrap().last, 0);
    for identity in [None, Some(&other)] {
        refusal(&url, &with(identity));
    }
    let (kind, message) = refusal(&format!("{url}?sslmode=disable"), &with(Some(&own)));
    assert_eq!(kind, LogErrorKind::Unsafe);
    assert!(message.contains("--log-cert"), "{message}");
    // Without a mode it means TLS too: a server that has none gets no certificate and no entry.
    let without_ca = |identity| PostgresOptions {
        ca: None,
        ..with(Some(identity))
    };
    assert!(deskfleet_log_postgres::open(&url, &without_ca(&own)).is_ok());
    let swapped = [own[1].clone(), own[0].clone()];
    let (_, message) = refusal(&url, &with(Some(&swapped)));
    assert!(message.contains("holds no certificate"), "{message}");
    postgres.set("ssl", "off");
    let (_, message) = refusal(&url, &without_ca(&own));
    assert!(message.contains("TLS"), "{message}");
}

/// The setting may change long after a node has started.
#[test]
fn server_is_asked_again_whether_its_standbys_are_synchronous() {
    let Some(postgres) = Postgres::start_alone() else {
        return;
    };
    let log = open(&postgres.url());
    // On the connection that is asked.
    log.bounds(0).unwrap();
    let warned = log.warnings();
    assert!(
        warned[0].contains("synchronous_standby_names"),
        "{warned:?}"
    );
    let unchecked = open(&format!("{}&unchecked_sync=yes", postgres.url()));
    assert!(unchecked.warnings().is_empty());
    postgres.sql("ALTER SYSTEM SET synchronous_standby_names = 's1'");
    postgres.reload();
    let is_silent = (0..600).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        log.warnings().is_empty()
    });
    assert!(is_silent, "within a minute");
}

#[test]
fn settings_that_lose_entries_are_refused() {
    let Some(postgres) = Postgres::start_alone() else {
        return;
    };
    let (url, options) = (postgres.url(), PostgresOptions::default());
    let warnings = open(&url).warnings();
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0].contains("synchronous_standby_names"),
        "{warnings:?}"
    );
    for (setting, kind) in [
        ("fsync", LogErrorKind::Unsafe),
        ("full_page_writes", LogErrorKind::Unsafe),
        ("default_transaction_read_only", LogErrorKind::Unavailable),
    ] {
        let is_on = postgres.sql(&format!("SHOW {setting}")) == "on";
        postgres.set(setting, if is_on { "off" } else { "on" });
        let (refused, message) = refusal(&url, &options);
        assert_eq!(refused, kind, "{message}");
        assert!(message.contains(setting), "{message}");
        postgres.set(setting, if is_on { "on" } else { "off" });
    }
    drop(open(&url));
}

#[test]
fn standby_alone_is_refused() {
    let Some(postgres) = Postgres::start() else {
        return;
    };
    let url = format!(
        "postgres://postgres@127.0.0.1:{}/postgres",
        postgres.standby_ports()[0]
    );
    let (kind, message) = refusal(&url, &PostgresOptions::default());
    assert_eq!(kind, LogErrorKind::Unavailable);
    assert!(message.contains("standby in recovery"), "{message}");
}
