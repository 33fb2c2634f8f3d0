use std::fs;

use super::*;

const NOW: &str = "2026-11-23T10:00:00Z";

fn environment(folder: &std::path::Path, more: &[(&str, &str)]) -> Environment {
    let mut all = vec![
        ("HOME", folder.to_str().unwrap()),
        ("AWS_EC2_METADATA_DISABLED", "true"),
    ];
    all.extend_from_slice(more);
    Environment::from_variables(&all)
}

fn home(config: &str, credentials: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(".aws")).unwrap();
    fs::write(folder.path().join(".aws/config"), config).unwrap();
    fs::write(folder.path().join(".aws/credentials"), credentials).unwrap();
    folder
}

#[test]
fn environment_wins_over_files() {
    let folder = home(
        "",
        "[default]\naws_access_key_id = FILE\naws_secret_access_key = f\n",
    );
    let set = [
        ("AWS_ACCESS_KEY_ID", "ENV"),
        ("AWS_SECRET_ACCESS_KEY", "e"),
        ("AWS_SESSION_TOKEN", "t"),
    ];
    let found = find(&environment(folder.path(), &set)).unwrap();
    assert_eq!(
        (found.access_key_id(), found.session_token()),
        ("ENV", Some("t"))
    );
    let found = find(&environment(folder.path(), &[])).unwrap();
    assert_eq!(
        (found.access_key_id(), found.secret_access_key()),
        ("FILE", "f")
    );
    let error = find(&environment(folder.path(), &set[..1])).unwrap_err();
    assert!(
        error.to_string().contains("AWS_SECRET_ACCESS_KEY is not"),
        "{error}"
    );
}

#[test]
fn profile_is_read_from_both_files() {
    let config = "# c\n[default]\nregion = us-east-1\n[profile  ops]\nregion=eu-west-1\ns3 =\n  aws_access_key_id = NESTED\n[ops]\nregion = wrong\n";
    let folder = home(
        config,
        "[ops]\nAWS_ACCESS_KEY_ID=OPS\naws_secret_access_key=a=b\n[other]\naws_access_key_id=X\n",
    );
    let ops = environment(folder.path(), &[("AWS_PROFILE", "ops")]);
    let found = find(&ops).unwrap();
    assert_eq!(
        (found.access_key_id(), found.secret_access_key()),
        ("OPS", "a=b")
    );
    assert_eq!(ops.region().unwrap().as_deref(), Some("eu-west-1"));
    let default = environment(folder.path(), &[]);
    assert_eq!(default.region().unwrap().as_deref(), Some("us-east-1"));
    let gone = environment(folder.path(), &[("AWS_PROFILE", "gone")]);
    assert!(
        find(&gone)
            .unwrap_err()
            .to_string()
            .contains("AWS profile gone")
    );
}

#[test]
fn what_needs_a_second_service_is_refused_with_the_way_around() {
    for setting in [
        "sso_session = s",
        "role_arn = arn:aws:iam::1:role/r",
        "web_identity_token_file = /t",
    ] {
        let folder = home(&format!("[default]\n{setting}\n"), "");
        let error = find(&environment(folder.path(), &[]))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("not supported") && error.contains("credential_process"),
            "{error}"
        );
    }
}

#[test]
fn no_credentials_anywhere_names_the_places() {
    let folder = home("", "");
    let error = find(&environment(folder.path(), &[]))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("AWS_ACCESS_KEY_ID") && error.contains("AWS_PROFILE"),
        "{error}"
    );
}

#[cfg(unix)]
#[test]
fn credential_process_is_run_and_its_failures_show_no_output() {
    let run = |command: &str| {
        let folder = home(&format!("[default]\ncredential_process = {command}\n"), "");
        find(&environment(folder.path(), &[]))
    };
    let json = r#"{"Version":1,"AccessKeyId":"P","SecretAccessKey":"s","SessionToken":"t","Expiration":"2026-11-23T11:00:00Z"}"#;
    let found = run(&format!("echo '{json}'")).unwrap();
    assert_eq!(
        (found.access_key_id(), found.session_token()),
        ("P", Some("t"))
    );
    assert_eq!(found.expires, Some("2026-11-23T11:00:00Z".parse().unwrap()));
    for command in [
        "echo secret-text",
        "echo secret-text; exit 3",
        "echo secret-text >&2; false",
    ] {
        let error = run(command).unwrap_err().to_string();
        assert!(
            error.contains("credential_process") && !error.contains("secret-text"),
            "{error}"
        );
    }
}

#[test]
fn credentials_never_show_their_secrets() {
    let credentials = Credentials::new("AKIDSECRET", "hidden", Some("hidden"), None);
    let set = Environment::from_variables(&[
        ("AWS_SECRET_ACCESS_KEY", "hidden"),
        ("AWS_ACCESS_KEY_ID", "hidden"),
    ]);
    let cache = CredentialsCache::new(set.clone());
    cache.get(NOW.parse().unwrap()).unwrap();
    let shown = format!("{credentials:?} {set:?} {cache:?}");
    assert!(
        !shown.contains("hidden") && !shown.contains("AKIDSECRET"),
        "{shown}"
    );
}

#[cfg(unix)]
#[test]
fn cache_renews_before_expiry_and_keeps_the_old_while_they_last() {
    let folder = tempfile::tempdir().unwrap();
    let counted = folder.path().join("count");
    let json = r#"{"Version":1,"AccessKeyId":"P","SecretAccessKey":"s","Expiration":"2026-11-23T11:00:00Z"}"#;
    let command = format!(
        "echo x >> {}; test ! -e {0}.off && echo '{json}'",
        counted.display()
    );
    let home = home(&format!("[default]\ncredential_process = {command}\n"), "");
    let cache = CredentialsCache::new(environment(home.path(), &[]));
    let runs = || fs::read_to_string(&counted).unwrap().lines().count();
    let at = |time: &str| cache.get(format!("2026-11-23T{time}Z").parse().unwrap());
    at("10:00:00").unwrap();
    at("10:54:59").unwrap();
    assert_eq!(runs(), 1);
    at("10:55:00").unwrap();
    assert_eq!(runs(), 2);
    fs::write(format!("{}.off", counted.display()), "").unwrap();
    at("10:59:59").unwrap();
    assert_eq!(runs(), 3);
    assert!(at("11:00:00").is_err());
    fs::remove_file(format!("{}.off", counted.display())).unwrap();
    let error = at("11:00:00").unwrap_err().to_string();
    assert!(error.contains("expired"), "{error}");
}

#[test]
fn container_credentials_go_over_tls_or_to_known_addresses() {
    let folder = home("", "");
    for address in ["http://example.com/", "http://169.254.170.24/", "nonsense"] {
        let set = [("AWS_CONTAINER_CREDENTIALS_FULL_URI", address)];
        let error = find(&environment(folder.path(), &set))
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("AWS_CONTAINER_CREDENTIALS_FULL_URI"),
            "{error}"
        );
    }
}
