use deskfleet::settings::values;
use deskfleet_server::{LogFormat, ServerOptions};
use tempfile::TempDir;

use super::*;

/// A folder with a configuration file.
struct Place(TempDir);

impl Place {
    fn with_config(text: &str) -> Self {
        let place = Self(TempDir::new().unwrap());
        std::fs::write(place.file(), text).unwrap();
        place
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("d.toml")
    }

    fn load(&self, environment: &[(&str, &str)], set: &[&str]) -> Result<Configuration, Invalid> {
        let overrides = Overrides {
            file: Some(self.file()),
            set: set.iter().map(|text| (*text).to_owned()).collect(),
            options: Vec::new(),
        };
        let environment = environment.iter();
        let environment =
            environment.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Configuration::from(&overrides, environment)
    }

    /// What is wrong, without the folder of the file.
    fn wrong(&self, environment: &[(&str, &str)], set: &[&str]) -> Vec<String> {
        let folder = format!("{}/", self.0.path().display());
        let invalid = self.load(environment, set).unwrap_err();
        invalid
            .lines
            .iter()
            .map(|line| line.replace(&folder, ""))
            .collect()
    }
}

#[test]
fn option_comes_before_environment_before_file_before_default() {
    let place = Place::with_config(
        "limits.queue_records = 1\nlimits.uri_bytes = 1\nlimits.headers_bytes = 1\nbackups = 'b'\n",
    );
    let environment = [
        ("DESKFLEET_LIMITS__QUEUE_RECORDS", "2"),
        ("DESKFLEET_LIMITS__URI_BYTES", "2"),
    ];
    let configuration = place
        .load(&environment, &["limits.queue_records=3"])
        .unwrap();
    let limits = &configuration.settings.engine.limits;
    assert_eq!(
        (limits.queue_records, limits.uri_bytes, limits.headers_bytes),
        (3, 2, 1)
    );
    assert_eq!(limits.batch_body_bytes, 8 * 1024 * 1024);
    let printed = configuration.to_toml();
    for line in [
        "queue_records = 3 # --set",
        "uri_bytes = 2 # environment: DESKFLEET_LIMITS__URI_BYTES",
        &format!("headers_bytes = 1 # {}:3", place.file().display()),
        "batch_body_bytes = \"8 MiB\" # default",
        &format!("folder = \"b\" # {}:4", place.file().display()),
    ] {
        assert!(printed.lines().any(|printed| printed == line), "{line}");
    }
    let overrides = Overrides {
        options: vec![("limits.queue_records", Value::Number(4), "--queue")],
        set: vec!["limits.queue_records=3".to_owned()],
        ..Overrides::default()
    };
    let configuration = Configuration::from(&overrides, std::iter::empty()).unwrap();
    assert_eq!(configuration.settings.engine.limits.queue_records, 4);
    let printed = configuration.to_toml();
    assert!(printed.contains("queue_records = 4 # --queue"));
}

#[test]
fn environment_gives_every_type_of_value() {
    let environment = [
        ("DESKFLEET_DATA", "none"),
        ("DESKFLEET_REQUIRE_INGEST_KEY", "true"),
        ("DESKFLEET_LIMITS__CACHE_BYTES", "1 MiB"),
        ("DESKFLEET_ACTIONS__DURATIONS__REBOOT", "90"),
        ("DESKFLEET_SERVER__HOSTS", "a.example, b.example"),
        ("DESKFLEET_SERVER__BAD_KEYS_PER_MINUTE", "none"),
        ("DESKFLEET_LOG__FORMAT", "json"),
    ];
    let Settings {
        data,
        engine,
        server,
        ..
    } = Place::with_config("")
        .load(&environment, &[])
        .unwrap()
        .settings;
    assert_eq!(data, None);
    assert!(engine.require_ingest_key);
    assert_eq!(engine.limits.cache_bytes, 1024 * 1024);
    assert_eq!(engine.actions.durations.reboot.as_secs(), 90);
    assert_eq!(server.hosts, ["a.example", "b.example"]);
    assert_eq!(server.bad_keys_per_minute, None);
    assert_eq!(server.log_format, LogFormat::Json);
}

#[test]
fn printed_configuration_loads_as_the_same_configuration() {
    let set = [
        "data=a \"quoted\" \\ path",
        "backups.folder=copies",
        "backups.every=1d",
        "backups.keep=7",
        "server.listen=[::1]:0",
        "server.hosts=a,b",
        "server.head_timeout=1500ms",
        "cors.origins=https://a.example",
        "log.format=off",
        "log.except=postStats,livez",
        "limits.uri_bytes=9000",
        "limits.key_requests_per_minute=7",
        "limits.queue_high_water=18446744073709551615",
        "actions.driver=host",
    ];
    for set in [&set[..], &[]] {
        let mut configuration = Place::with_config("").load(&[], set).unwrap();
        let printed = Place::with_config(&configuration.to_toml());
        let mut again = printed.load(&[], &[]).unwrap();
        assert_eq!(
            values(&mut again.settings),
            values(&mut configuration.settings)
        );
    }
}

#[test]
fn every_setting_is_printed_and_is_set_by_its_variable() {
    let defaults = values(&mut Settings::default());
    let printed = Configuration::default().to_toml();
    let place = Place::with_config("");
    for (name, value) in &defaults {
        let text = match value {
            Value::List(texts) => texts.join(","),
            Value::Text(text) => text.clone(),
            Value::Boolean(_) | Value::Number(_) | Value::Other(_) | Value::Group => {
                value.to_string()
            }
        };
        let mut set = place.load(&[(&variable(name), &text)], &[]).unwrap();
        assert!(!set.is_default(name), "{name}");
        assert_eq!(values(&mut set.settings), defaults, "{name}");
        let key = name.rsplit('.').next().unwrap();
        let line = format!("\n{key} = {value} # default\n");
        assert!(printed.contains(&line), "{name}");
    }
}

#[test]
fn every_field_of_the_options_but_callbacks_is_a_setting() {
    // A new field does not compile until it is named here: as a setting, or among the last three.
    let ServerOptions {
        connections_max: _,
        connections_per_source: _,
        connections_served: _,
        bodies_bytes_max: _,
        responses_bytes_max: _,
        slow_reads_max: _,
        event_streams_max: _,
        head_timeout: _,
        body_timeout: _,
        idle_timeout: _,
        write_timeout: _,
        drain_timeout: _,
        maintain_every: _,
        hosts: _,
        bad_keys_per_minute: _,
        keyless_bytes_per_second: _,
        proxied: _,
        reads: _,
        reads_max_age: _,
        log_format: _,
        log_except: _,
        log_errors_only: _,
        cors_origins: _,
        metrics: _,
        backups: _,
        sent_copies: _,
        access_log: _,
        slow_reads_give_way: _,
        tls: _,
    } = ServerOptions::default();
    let of_the_server = names(&mut ServerOptions::default());
    assert_eq!(of_the_server.len(), 23, "all but those in code");
    let mut settings = Settings::default();
    let of_the_engine = names(&mut settings.engine);
    let known = names(&mut settings);
    assert!(of_the_engine.iter().all(|name| known.contains(name)));
    let of_a_node = names(&mut settings.cluster);
    let own = [
        "data",
        "backups.folder",
        "backups.every",
        "backups.keep",
        "heartbeat.url",
        "heartbeat.every",
        "heartbeat.method",
        "heartbeat.timeout",
        "server.listen",
        "tls.cert",
        "tls.key",
        "tls.client_ca",
    ];
    assert_eq!(
        known.len(),
        own.len() + of_a_node.len() + of_the_server.len() + of_the_engine.len()
    );
}

#[test]
fn everything_wrong_is_named_with_place_value_form_and_nearest_name() {
    let text = r#"requir_ingest_key = true
[limits]
queue_records = "many"
cache_bytes = -5
[server]
hosts = ["a", 7]
listen = "nowhere"
maintain_every = "none"
[limit]
[cors]
origins = ["https://a.example/"]
"#;
    let place = Place::with_config(text);
    let environment = [
        ("DESKFLEET_LIMITS__QUEUE_RECORD", "secret"),
        ("DESKFLEET_DATa", "secret"),
    ];
    assert_eq!(
        place.wrong(
            &environment,
            &["limits.uri_bytes", "log.except=postStat", "log.format=jsn"]
        ),
        [
            "d.toml:1: there is no setting requir_ingest_key; did you mean require_ingest_key?",
            "d.toml:3: limits.queue_records is \"many\"; expected a whole number, 1 to 4294967296",
            "d.toml:4: limits.cache_bytes is -5; expected bytes such as 65536 or \"64 KiB\", 0 to \"1024 TiB\"",
            "d.toml:6: server.hosts is [\"a\", 7]; expected a list, of host names such as \"fleet.example.com\", without port or path",
            "d.toml:7: server.listen is \"nowhere\"; expected an address and port such as \"127.0.0.1:8080\"",
            "d.toml:9: there is no setting limit; did you mean limits?",
            "d.toml:11: cors.origins is [\"https://a.example/\"]; expected a list, of origins such as \"https://console.example.com\"",
            "DESKFLEET_LIMITS__QUEUE_RECORD: there is no setting limits.queue_record; did you mean DESKFLEET_LIMITS__QUEUE_RECORDS?",
            "DESKFLEET_DATa: there is no setting data; did you mean DESKFLEET_DATA?",
            "--set limits.uri_bytes: not of the form KEY=VALUE",
            "--set log.except=postStat: log.except is \"postStat\"; expected a list, of operation ids such as \"postStats\"; for \"postStat\" did you mean \"postStats\"?",
            "--set log.format=jsn: log.format is \"jsn\"; expected \"text\" or \"json\" or \"off\"",
            "d.toml:8: server.maintain_every is \"none\", for programs that call maintain themselves; expected a time such as \"1s\"",
        ]
    );
    for (text, wrong) in [
        ("a =", "d.toml:1: "),
        ("\n\n[limits\n", "d.toml:3: "),
        ("data = 'a'\ndata = 'b'\n", "d.toml:2: duplicate key"),
        (
            "retention_days.stats = 1.5\n",
            "d.toml:1: retention_days.stats is 1.5; expected a whole number, 1 to 65535",
        ),
        (
            "limits = 1\n",
            "d.toml:1: limits is 1; expected a group of settings",
        ),
        (
            "commit_driver = 'host'\n",
            "d.toml:1: commit_driver is \"host\", for programs",
        ),
    ] {
        let lines = Place::with_config(text).wrong(&[], &[]);
        assert!(lines.len() == 1 && lines[0].starts_with(wrong), "{lines:?}");
    }
}

#[test]
fn named_file_that_cannot_be_read_is_an_error() {
    let place = Place::with_config("");
    std::fs::remove_file(place.file()).unwrap();
    let wrong = place.wrong(&[], &[]);
    assert!(wrong[0].starts_with("d.toml: "), "{wrong:?}");
}

#[test]
fn variables_of_a_kubernetes_service_are_no_settings() {
    let place = Place::with_config("");
    let environment = [
        ("DESKFLEET_PORT", "tcp://10.0.0.1:8080"),
        ("DESKFLEET_PORT_8080_TCP", "tcp://10.0.0.1:8080"),
        ("DESKFLEET_PORT_8080_TCP_ADDR", "10.0.0.1"),
        ("DESKFLEET_SERVICE_HOST", "10.0.0.1"),
        ("DESKFLEET_SERVICE_PORT", "8080"),
        ("DESKFLEET_SERVICE_PORT_HTTP", "8080"),
    ];
    place.load(&environment, &[]).unwrap();
    let others = [
        ("DESKFLEET_PORTS", "1"),
        ("DESKFLEET_PORT_TCP", "1"),
        ("DESKFLEET_PORT_8080", "1"),
        ("DESKFLEET_SERVICE", "1"),
        ("DESKFLEET_SERVICE_PORTS", "1"),
    ];
    let wrong = place.wrong(&others, &[]);
    let named = wrong.iter().zip(others);
    assert!(
        wrong.len() == others.len()
            && named
                .clone()
                .all(|(line, (name, _))| line.starts_with(name)),
        "{wrong:?}"
    );
}

#[test]
fn name_in_a_wrong_group_is_hinted_at() {
    let place = Place::with_config("[server]\nport = 1\ncors_origins = []\n");
    let environment = [("DESKFLEET_LISTEN", "x"), ("DESKFLEET_SERVER_LISTEN", "x")];
    assert_eq!(
        place.wrong(&environment, &["queue_records=1"]),
        [
            "d.toml:2: there is no setting server.port",
            "d.toml:3: there is no setting server.cors_origins; did you mean cors.origins?",
            "DESKFLEET_LISTEN: there is no setting listen; did you mean DESKFLEET_SERVER__LISTEN?",
            "DESKFLEET_SERVER_LISTEN: there is no setting server_listen; did you mean DESKFLEET_SERVER__LISTEN?",
            "--set queue_records=1: there is no setting queue_records; did you mean limits.queue_records?",
        ]
    );
}

#[test]
fn password_of_the_log_is_in_no_message_and_not_printed() {
    let place = Place::with_config("");
    let url = "postgres://fleet:secret@db/fleet";
    let set = |url: &str| place.load(&[], &[&format!("cluster.log={url}")]);
    #[cfg(feature = "postgres")]
    {
        let printed = set(url).unwrap().to_toml();
        let line = "\nlog = \"postgres://fleet:***@db/fleet\" # --set\n";
        assert!(printed.contains(line) && !printed.contains("fleet:secret"));
    }
    let wrong = [
        set(&url.replacen("postgres", "mysql", 1)),
        place.load(&[], &[&format!("clusster.log={url}")]),
        place.load(&[("DESKFLEET_CLUSTER__LOG", "db://u:secret@db")], &[]),
        Place::with_config("[cluster]\nlog = \"db://u:secret@db\"").load(&[], &[]),
        // What was printed is no password.
        set("postgres://fleet:***@db/fleet"),
    ];
    for wrong in wrong {
        let message = wrong.unwrap_err().to_string();
        assert!(!message.contains("secret"), "{message}");
    }
}
