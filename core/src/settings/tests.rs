use std::path::PathBuf;
use std::time::Duration;

use proptest::prelude::*;

use super::amount::{SIZES, TIMES, multiple, parse, sum};
use super::*;
use crate::settings;

settings! {
    /// Settings of every type.
    #[derive(Debug)]
    struct All {
        /// A switch.
        switch: bool = false;
        /// A number.
        count: Option<u16> = Some(3), Form::Count(1, 9);
        /// A size.
        room: usize = 1024, Form::Bytes(0, 1 << 20);
        /// Some times.
        times: Times = Times::default();
        /// Texts.
        names: Vec<String> as "hosts.names" = Vec::new(), Form::Text("names of lower-case letters", |name| {
            name.bytes().all(|byte| byte.is_ascii_lowercase())
        });
        /// A path.
        file: Option<PathBuf> = None;
        /// A group beside this one.
        beside: Beside as "" = Beside::default();
        in code {
            /// No setting.
            callback: fn() = || {};
        }
    }
}

settings! {
    /// A group.
    #[derive(Debug)]
    struct Times {
        /// A time.
        pause: Duration = Duration::from_secs(90), Form::Time(1, 3_600_000);
    }
}

settings! {
    /// Another group.
    #[derive(Debug)]
    struct Beside {
        /// A choice.
        colour: Colour = Colour::Red;
    }
}

settings! {
    #[derive(Debug)]
    enum Colour {
        Red = "red",
        Blue = "blue",
    }
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

#[test]
fn settings_are_visited_in_order_with_name_text_and_value() {
    let mut seen = Vec::new();
    each(&mut All::default(), &mut |setting| {
        seen.push(format!(
            "{} = {} #{}",
            setting.name,
            setting.get(),
            setting.text.trim_end()
        ));
    });
    assert_eq!(
        seen,
        [
            "switch = false # A switch.",
            "count = 3 # A number.",
            "room = \"1 KiB\" # A size.",
            "times.pause = \"1m30s\" # A time.",
            "hosts.names = [] # Texts.",
            "file = \"none\" # A path.",
            "colour = \"red\" # A choice.",
        ]
    );
}

#[test]
fn value_of_the_form_is_taken() {
    let mut all = All::default();
    let names = Value::List(vec!["a".to_owned(), "b".to_owned()]);
    for (name, value, shown) in [
        ("switch", Value::Boolean(true), "true"),
        ("count", text("none"), "\"none\""),
        ("count", Value::Number(9), "9"),
        ("room", text("64 KiB"), "\"64 KiB\""),
        ("room", text("1KiB 1B"), "1025"),
        ("room", text("1023 KiB"), "\"1023 KiB\""),
        ("room", Value::Number(2048), "\"2 KiB\""),
        ("room", Value::Number(0), "0"),
        ("times.pause", text("1m 30s"), "\"1m30s\""),
        ("times.pause", text("90s"), "\"1m30s\""),
        ("times.pause", text("500ms"), "\"500ms\""),
        ("times.pause", Value::Number(3600), "\"1h\""),
        ("hosts.names", names, "[\"a\", \"b\"]"),
        ("file", text("a \"b\"\\\n"), "\"a \\\"b\\\"\\\\\\u000a\""),
        ("colour", text("blue"), "\"blue\""),
    ] {
        assert_eq!(set(&mut all, name, &value), Ok(()), "{name} = {value}");
        each(&mut all, &mut |setting| {
            if setting.name == name {
                assert_eq!(setting.get().to_string(), shown);
            }
        });
    }
}

#[test]
fn value_of_another_form_is_refused_and_changes_nothing() {
    let mut all = All::default();
    let mut refused = |name: &str, value: &Value| match set(&mut all, name, value) {
        Err(Wrong::Value { expected }) => expected,
        other => format!("{name} = {value}: {other:?}"),
    };
    for value in [
        Value::Number(0),
        Value::Number(10),
        text("3"),
        text("nothing"),
        Value::Boolean(true),
        Value::Other("-1".to_owned()),
    ] {
        let expected = "a whole number, 1 to 9, or \"none\"";
        assert_eq!(refused("count", &value), expected);
    }
    for value in [
        "",
        "64",
        "KiB",
        "64 kib",
        "1 MiB 1 B",
        "-1 B",
        "99999999 TiB",
        "64 KiB,",
    ] {
        let expected = "bytes such as 65536 or \"64 KiB\", 0 to \"1 MiB\"";
        assert_eq!(refused("room", &text(value)), expected, "{value}");
    }
    for value in [
        text("2h"),
        text("1.5s"),
        text("0s"),
        Value::Number(u64::MAX),
    ] {
        let expected = "seconds such as 90, or a time such as \"1m30s\", \"1ms\" to \"1h\"";
        assert_eq!(refused("times.pause", &value), expected);
    }
    assert_eq!(refused("switch", &text("true")), "true or false");
    assert_eq!(refused("colour", &text("green")), "\"red\" or \"blue\"");
    assert_eq!(refused("file", &Value::Number(1)), "a path, or \"none\"");
    assert_eq!(refused("file", &text("")), "a path, or \"none\"");
    let names = Value::List(vec!["a".to_owned(), "B".to_owned()]);
    let expected = "a list, of names of lower-case letters";
    assert_eq!(refused("hosts.names", &names), expected);
    assert_eq!(refused("hosts.names", &text("a")), expected);
    assert_eq!(all.times.pause, Duration::from_secs(90));
    (all.callback)();
    assert_eq!(
        (all.count, all.room, all.names),
        (Some(3), 1024, Vec::new())
    );
}

#[test]
fn unknown_name_is_refused_with_the_nearest() {
    for (name, nearest) in [
        ("colours", Some("colour")),
        ("times.pauses", Some("times.pause")),
        ("callback", None),
        ("names", Some("hosts.names")),
        ("", None),
    ] {
        let wrong = Wrong::Name {
            nearest: nearest.map(str::to_owned),
        };
        assert_eq!(
            set(&mut All::default(), name, &Value::Number(1)),
            Err(wrong)
        );
    }
}

#[test]
fn forgotten_or_wrong_group_and_name_cut_short_are_hinted_at() {
    let known = [
        "require_ingest_key",
        "limits.queue_bytes",
        "limits.queue_records",
        "server.hosts",
    ];
    let known = known.map(str::to_owned);
    for (name, nearest) in [
        ("queue_records", Some("limits.queue_records")),
        ("queue_record", Some("limits.queue_records")),
        ("limits_queue_records", Some("limits.queue_records")),
        ("server.queue_records", Some("limits.queue_records")),
        ("log.limits_queue_records", Some("limits.queue_records")),
        ("limits.queueRecords", Some("limits.queue_records")),
        ("limits.qeue", Some("limits.queue_bytes")),
        ("requireIngestKey", Some("require_ingest_key")),
        ("server.port", None),
        ("limits.", None),
        ("_", None),
    ] {
        assert_eq!(likeliest(name, &known), nearest, "{name}");
    }
}

#[test]
fn group_is_taken_where_a_group_has_that_name() {
    let mut all = All::default();
    for group in ["times", "hosts"] {
        assert_eq!(set(&mut all, group, &Value::Group), Ok(()));
        let expected = "a group of settings".to_owned();
        let wrong = Err(Wrong::Value { expected });
        assert_eq!(set(&mut all, group, &Value::Number(1)), wrong);
    }
    let wrong = set(&mut all, "switch", &Value::Group);
    assert!(matches!(wrong, Err(Wrong::Value { .. })));
    for (none, nearest) in [("time", Some("times")), ("", None), ("beside", None)] {
        let nearest = nearest.map(str::to_owned);
        let wrong = Err(Wrong::Name { nearest });
        assert_eq!(set(&mut all, none, &Value::Group), wrong, "{none}");
    }
}

proptest! {
    #[test]
    fn amount_as_text_is_the_same_amount(amount: u64, small in 0..10_000_000_u64, unit in 0..5_usize) {
        for amount in [amount, small, small * SIZES[unit].1] {
            if let Some(text) = sum(amount, TIMES) {
                prop_assert_eq!(parse(&text, TIMES), Some(amount));
            }
            if let Some(text) = multiple(amount, SIZES) {
                prop_assert_eq!(parse(&text, SIZES), Some(amount));
            }
        }
    }

    #[test]
    fn any_text_is_an_amount_or_refused(text in "\\PC*") {
        let _ = (parse(&text, TIMES), parse(&text, SIZES));
    }
}
