use tempfile::TempDir;

use super::*;

fn loaded(
    file: &str,
    environment: &[(&str, &str)],
    options: &[(&'static str, &str)],
) -> Result<Settings, String> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.toml");
    std::fs::write(&path, file).unwrap();
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let options = options
        .iter()
        .map(|(name, value)| (*name, (*value).to_owned()));
    let place = folder.path().join("").display().to_string();
    Settings::load(Some(&path), environment.iter().map(owned), options)
        .map_err(|error| error.replace(&place, ""))
}

#[test]
fn option_goes_before_environment_before_file_before_default() {
    let file =
        "instance = \"file\"\ntenant = \"file\"\nspool_bytes = 2097152\ncompute_type = \"file\"\n";
    let environment = [
        ("DESKFLEET_AGENT_INSTANCE", "environment"),
        ("DESKFLEET_AGENT_TENANT", "environment"),
        ("DESKFLEET_URL", "of another program"),
    ];
    let settings = loaded(file, &environment, &[("instance", "option")]).unwrap();
    let texts = [settings.instance, settings.tenant, settings.compute_type];
    let texts: Vec<_> = texts.iter().map(|text| text.as_deref().unwrap()).collect();
    assert_eq!(texts, ["option", "environment", "file"]);
    assert_eq!(settings.spool_bytes, 2 << 20);
    assert_eq!(settings.stats_every, Duration::from_secs(300));
}

#[test]
fn everything_wrong_is_reported_with_its_place_and_what_is_expected() {
    let file = "urll = \"x\"\nstats_every = 7\nspool_bytes = \"1 KiB\"\ninstance = [1]\n";
    let environment = [("DESKFLEET_AGENT_TENNANT", "x")];
    let wrong = loaded(file, &environment, &[("url", "fleet.example")]).unwrap_err();
    assert_eq!(
        wrong,
        "a.toml:1: there is no setting urll; did you mean url?\n\
         a.toml:2: stats_every is \"7\"; expected a time such as \"5m\", \"10s\" to \"1h\"\n\
         a.toml:3: spool_bytes is \"1 KiB\"; expected bytes such as 16777216 or \"16 MiB\", \"1 MiB\" to \"1 GiB\"\n\
         DESKFLEET_AGENT_TENNANT: there is no setting tennant; did you mean DESKFLEET_AGENT_TENANT?\n\
         --url: url is \"fleet.example\"; expected the address of a server, without a user or a query, such as \"http://127.0.0.1:8080\""
    );
    let wrong = loaded("a = 1\nb =\n", &[], &[]).unwrap_err();
    assert!(wrong.starts_with("a.toml:2: "), "{wrong}");
    let missing = Settings::load(
        Some(Path::new("missing.toml")),
        std::iter::empty(),
        std::iter::empty(),
    );
    assert!(
        missing
            .unwrap_err()
            .starts_with("cannot read missing.toml: ")
    );
}

#[test]
fn values_have_units_and_bounds() {
    for (text, seconds) in [("10s", 10), ("5m", 300), ("1h", 3600)] {
        assert_eq!(form::time(text), Some(Duration::from_secs(seconds)));
    }
    for text in ["", "5", "9s", "61m", "-1m", "m", "99999999999999999999h"] {
        assert_eq!(form::time(text), None, "{text}");
    }
    assert_eq!(form::bytes("16 MiB"), Some(16 << 20));
    assert_eq!(form::bytes("1048576"), Some(1 << 20));
    for text in ["", "1", "2 GiB", "1 MB", "99999999999999999999"] {
        assert_eq!(form::bytes(text), None, "{text}");
    }
    assert_eq!(
        form::name(&"ä".repeat(50), INSTANCE_MAX).map(|name| name.len()),
        Some(100)
    );
    for text in ["", " a", "a\n", &"a".repeat(51)] {
        assert_eq!(form::name(text, INSTANCE_MAX), None, "{text}");
    }
    assert_eq!(
        form::server("https://fleet.example/a/").as_deref(),
        Some("https://fleet.example/a")
    );
    for text in [
        "",
        "fleet.example",
        "ftp://a",
        "http://user@a",
        "http://a?apiKey=x",
    ] {
        assert_eq!(form::server(text), None, "{text}");
    }
}
