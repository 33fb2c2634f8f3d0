//! A server with `--tls-cert`: its clients, its files, and reload.
#![cfg(all(target_os = "linux", feature = "tls"))]

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use crate::https::{
    Client, TLS, authority, certificate, certificate_folder, certificate_with, connect, curl,
    expired_certificate, openssl, read_until, text,
};
use crate::load::command;
use rustix::process::Signal;

#[test]
fn https_is_served_over_both_versions_of_http() {
    let Some(place) = certificate_folder() else {
        return;
    };
    let served = place.serve_with(TLS);
    for (options, status) in [("--http1.1", "HTTP/1.1 200"), ("--http2", "HTTP/2 200")] {
        let output = curl(&place, &served, options, "/livez");
        let message = text(&output.stdout);
        assert!(message.starts_with(status), "{message}");
        assert!(
            message.contains("strict-transport-security: max-age=31536000\r\n"),
            "{message}"
        );
        assert!(message.ends_with("\r\n\r\nok\n"), "{message}");
        let whole = curl(&place, &served, options, "/openapi.json").stdout;
        assert!(
            whole.ends_with(include_bytes!("../openapi.json")),
            "{options}"
        );
    }
    authority(place.path(), "other");
    let refused = curl(&place, &served, "--cacert other.pem", "/livez");
    assert_eq!(refused.status.code(), Some(60), "{}", text(&refused.stderr));
    served.wait_for("no TLS with 127.0.0.1: received fatal alert: UnknownCA");
}

#[test]
fn keys_of_all_forms_are_read() {
    let Some(place) = certificate_folder() else {
        return;
    };
    openssl(place.path(), "ec -in server.key -out sec1.key");
    certificate_with(place.path(), "rsa", "ca", "rsa:2048");
    openssl(place.path(), "rsa -in rsa.key -traditional -out pkcs1.key");
    for (certificate, key, form) in [
        ("server", "server", "BEGIN PRIVATE KEY"),
        ("server", "sec1", "BEGIN EC PRIVATE KEY"),
        ("rsa", "pkcs1", "BEGIN RSA PRIVATE KEY"),
    ] {
        let pem = fs::read_to_string(place.file(&format!("{key}.key"))).unwrap();
        assert!(pem.contains(form), "{key}");
        let options = format!("--tls-cert {certificate}.pem --tls-key {key}.key");
        let served = place.serve_with(&options);
        let output = curl(&place, &served, "", "/livez");
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
}

#[test]
fn files_that_cannot_be_used_end_the_start_with_what_to_do() {
    let Some(place) = certificate_folder() else {
        return;
    };
    certificate(place.path(), "other", "ca");
    expired_certificate(place.path(), "old", "ca");
    fs::write(place.file("text"), "no PEM").unwrap();
    openssl(
        place.path(),
        "ec -aes256 -passout pass:x -in server.key -out locked.key",
    );
    for (options, code, message) in [
        (
            "--tls-cert missing --tls-key server.key",
            1,
            "cannot read missing: No such file",
        ),
        (
            "--tls-cert text --tls-key server.key",
            1,
            "text holds no certificate: it is a PEM file",
        ),
        (
            "--tls-cert server.pem --tls-key text",
            1,
            "text holds no private key that can be used",
        ),
        (
            "--tls-cert server.pem --tls-key locked.key",
            1,
            "without a passphrase",
        ),
        (
            "--tls-cert server.pem --tls-key other.key",
            1,
            "the key in other.key is of another certificate",
        ),
        (
            "--tls-cert old.pem --tls-key old.key",
            1,
            "the certificate in old.pem expired at 2020-01-02T00:00:00Z: renew it",
        ),
        (
            "--tls-cert server.pem --tls-key server.key --client-ca text",
            1,
            "text holds no certificate",
        ),
        (
            "--tls-cert server.pem",
            2,
            "--tls-cert: tls.cert needs the key",
        ),
        (
            "--tls-key server.key",
            2,
            "--tls-key: tls.key needs a certificate",
        ),
        (
            "--client-ca ca.pem",
            2,
            "--client-ca: tls.client_ca needs a certificate",
        ),
    ] {
        // Not an address of this machine: the files are looked at before.
        let line = format!("serve --memory --listen 192.0.2.1:1 {options}");
        let output = command(place.path(), &line).output().unwrap();
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{options}: {error}");
        assert!(error.contains(message), "{options}: {error}");
    }
}

#[test]
fn client_ca_admits_only_clients_with_its_certificate() {
    let Some(place) = certificate_folder() else {
        return;
    };
    authority(place.path(), "clients");
    certificate(place.path(), "client", "clients");
    certificate(place.path(), "stranger", "ca");
    let served = place.serve_with(&format!("{TLS} --client-ca clients.pem"));
    for options in ["--http1.1", "--http2", "--tls-max 1.2"] {
        let with = format!("{options} --cert client.pem --key client.key");
        let accepted = curl(&place, &served, &with, "/livez");
        assert!(accepted.status.success(), "{}", text(&accepted.stderr));
        let other = format!("{options} --cert stranger.pem --key stranger.key");
        for refused in [options, &other] {
            let refused = curl(&place, &served, refused, "/livez");
            assert!(
                !refused.status.success() && refused.stdout.is_empty(),
                "{options}"
            );
            // The reason arrives: the connection is not reset.
            let message = text(&refused.stderr);
            assert!(message.contains("alert"), "{options}: {message}");
        }
    }
    served.wait_for("no TLS with 127.0.0.1: peer sent no certificates");
    let export = |more: &str| {
        let url = format!("https://localhost:{}", served.address.port());
        let line = format!("export workspaces --url {url} --key-file key --ca ca.pem {more}");
        command(place.path(), &line).output().unwrap()
    };
    let with = export("--client-cert client.pem --client-key client.key");
    assert!(with.status.success(), "{}", text(&with.stderr));
    assert_eq!(export("").status.code(), Some(1));
}

#[test]
fn commands_with_a_url_speak_https() {
    let Some(place) = certificate_folder() else {
        return;
    };
    authority(place.path(), "other");
    fs::write(
        place.file("fleet"),
        r#"{"workSpId":"ws-1","computerName":"PC-1"}"#,
    )
    .unwrap();
    let served = place.serve_with(TLS);
    let run = |line: &str, ca: &str| {
        let url = format!("https://127.0.0.1:{}", served.address.port());
        let line = format!("{line} --url {url} --key-file key --ca {ca}");
        command(place.path(), &line).output().unwrap()
    };
    let imported = run("import fleet", "ca.pem");
    assert!(imported.status.success(), "{}", text(&imported.stderr));
    let exported = run("export workspaces", "ca.pem");
    assert!(
        text(&exported.stdout).contains("PC-1"),
        "{}",
        text(&exported.stderr)
    );
    let refused = run("export workspaces", "other.pem");
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        text(&refused.stderr).contains("--ca"),
        "{}",
        text(&refused.stderr)
    );
}

#[test]
fn reload_gives_new_connections_the_new_certificate() {
    let Some(place) = certificate_folder() else {
        return;
    };
    let served = place.serve_with(TLS);
    let shown = |stream: &Client| {
        stream
            .conn
            .peer_certificates()
            .unwrap()
            .first()
            .unwrap()
            .clone()
    };
    let mut open = connect(&place, &served);
    certificate(place.path(), "server", "ca");
    served.signal(Signal::HUP);
    served.wait_for("The certificate in server.pem was read again");
    let renewed = connect(&place, &served);
    assert_ne!(shown(&renewed), shown(&open));
    fs::write(place.file("server.key"), "no PEM").unwrap();
    served.signal(Signal::HUP);
    served.wait_for("stay as they were: server.key holds no private key");
    assert_eq!(shown(&connect(&place, &served)), shown(&renewed));
    let request = b"GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n";
    open.write_all(request).unwrap();
    read_until(&mut open, "\r\n\r\nready\n");
}

#[test]
fn start_in_clear_text_on_a_network_warns_unless_a_proxy_is_said() {
    let Some(place) = certificate_folder() else {
        return;
    };
    for (options, warns) in [
        ("--listen 0.0.0.0:0", true),
        ("--listen 0.0.0.0:0 --proxied", false),
        (
            "--listen 0.0.0.0:0 --tls-cert server.pem --tls-key server.key",
            false,
        ),
        ("--listen 127.0.0.1:0", false),
    ] {
        let mut served = place.serve_at(options);
        let message = served.terminate().join("\n");
        assert_eq!(
            message.contains("speaks no TLS"),
            warns,
            "{options}: {message}"
        );
    }
}

#[test]
fn first_key_and_console_link_name_https() {
    let Some(place) = certificate_folder() else {
        return;
    };
    let line = format!("serve --memory --listen 127.0.0.1:0 --host localhost {TLS}");
    let mut server = command(place.path(), &line)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let printed = read_until(server.stdout.as_mut().unwrap(), "#code=");
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(printed.contains("' https://localhost:"), "{printed}");
    assert!(printed.contains("Console: https://localhost:"), "{printed}");
}
