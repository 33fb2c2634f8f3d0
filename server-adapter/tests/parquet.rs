//! `export --format parquet`, read back by DuckDB and compared value by value with the NDJSON of the same export.
//!
//! DuckDB is installed from PyPI into `target/duckdb`. Where that is not possible the comparison is skipped with a line that says so; with
//! `DESKFLEET_REQUIRE_DUCKDB=1` it fails.
#![cfg(all(unix, feature = "parquet"))]
#![expect(clippy::format_collect, reason = "a test that cannot go on fails")]
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, OnceLock};
use std::time::SystemTime;

use crate::load::{Client, Place, command, done};
use serde_json::{Map, Value, json};

const VERSION: &str = "2.0.0";
const STREAMS: [&str; 4] = ["stats", "activity", "startup", "processes"];

/// The Python that has DuckDB; `None` where there is none and none is required.
fn python() -> Option<&'static Path> {
    static PYTHON: OnceLock<Option<PathBuf>> = OnceLock::new();
    let python = PYTHON.get_or_init(|| match installed() {
        Ok(python) => Some(python),
        Err(message) => {
            let required =
                std::env::var_os("DESKFLEET_REQUIRE_DUCKDB").is_some_and(|set| set == "1");
            assert!(!required, "DuckDB cannot be installed: {message}");
            eprintln!("skipped: DuckDB cannot be installed here: {message}");
            None
        }
    });
    python.as_deref()
}

fn installed() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("duckdb");
    let python = folder.join("bin/python");
    let run = |command: &mut Command| {
        let output = command.output().map_err(|error| error.to_string())?;
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        output.status.success().then_some(()).ok_or(message)
    };
    let has_it = || run(Command::new(&python).args(["-c", "import duckdb"]));
    if has_it().is_err() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        let package = format!("duckdb=={VERSION}");
        run(Command::new(&python).args(["-m", "pip", "install", "--quiet", &package]))?;
        has_it()?;
    }
    Ok(python)
}

/// What the script prints, line by line.
fn read(python: &Path, arguments: &[&str], folder: &Path) -> Vec<Value> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/read_parquet.py");
    let output = Command::new(python)
        .arg(script)
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    let lines = String::from_utf8(output.stdout).unwrap();
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The date of a day before today: the server removes what is too old.
fn day(ago: u32) -> String {
    /// Midnight may pass while this runs.
    static TODAY: LazyLock<u32> =
        LazyLock::new(|| deskfleet::Timestamp::from(SystemTime::now()).day());
    let day = deskfleet::Timestamp::from_day(*TODAY - ago).to_string();
    day.split('T').next().unwrap().to_owned()
}

/// Texts and numbers at the edges of their types, and the rows that they come in, of four days.
fn telemetry() -> String {
    let texts = [
        "=1+1",
        "a\\\"b",
        "two\\r\\nlines",
        "\\u0000",
        "",
        "ä€😀",
        "-",
        "'",
    ];
    let mut lines = String::new();
    for number in 0..400 {
        let text = texts[number % texts.len()];
        let ago = [9, 8, 7, 6][number / 7 % 4];
        let time = format!(
            "{}T{:02}:00:00.{:07}Z",
            day(ago),
            number % 24,
            number * 9_973
        );
        let user = if number % 5 == 0 {
            "null".to_owned()
        } else {
            format!("\"{text}\"")
        };
        let common = format!(r#""username":{user},"instanceId":"ws-{}""#, number % 3);
        let line = match number % 4 {
            0 => {
                let [memory, float] = match number % 3 {
                    0 => ["9223372036854775807", "3.4028234e38"],
                    1 => ["-9223372036854775808", "-0.1"],
                    _ => ["0", "1.1754944e-38"],
                };
                format!(
                    r#"{{"stats":{{"id":-1{number},"updatetime":"{time}","physicalMemory":{memory},"diskReads":{float},"uptime":1e300,{common}}}}}"#
                )
            }
            1 => format!(
                r#"{{"activity":{{"id":{number},"activityTime":"{time}","activity":"{text}",{common}}}}}"#
            ),
            2 => {
                format!(r#"{{"startup":{{"baselineUtc":"{time}","totalMs":2147483647,{common}}}}}"#)
            }
            _ => format!(
                r#"{{"processes":{{"createdDate":"{time}","processes":[{{"processName":"{text}","processorUsage":0.1}},{{"processCount":7,"username":"x"}}],{common}}}}}"#
            ),
        };
        writeln!(lines, "{line}").unwrap();
    }
    // A report without processes.
    lines.push_str("{\"processes\":{\"instanceId\":\"ws-0\"}}\n");
    lines
}

/// The rows that a line of NDJSON becomes, with the names of the columns, and times in microseconds.
fn expected(line: &str) -> Vec<Map<String, Value>> {
    let mut record: Map<String, Value> = serde_json::from_str(line).unwrap();
    for name in [
        "updatetime",
        "activityTime",
        "baselineUtc",
        "createdDate",
        "receivedAt",
        "completedTime",
    ] {
        if let Some(time) = record.get_mut(name)
            && let Some(text) = time.as_str()
        {
            let text: deskfleet::Timestamp = text.parse().unwrap();
            *time = json!(text.ticks().div_euclid(10));
        }
    }
    let Some(items) = record.remove("processes") else {
        return vec![record];
    };
    let rows = items.as_array().unwrap().iter().map(|item| {
        let mut row = record.clone();
        for (name, value) in item.as_object().unwrap() {
            let name = if name == "username" {
                "processUsername"
            } else {
                name
            };
            row.insert(name.to_owned(), value.clone());
        }
        row
    });
    rows.collect()
}

/// Compares the rows of Parquet with lines of NDJSON; a value that is null or was not sent is null.
fn compare(rows: &[Value], lines: &str) {
    let expected: Vec<_> = lines.lines().flat_map(expected).collect();
    assert_eq!(rows.len(), expected.len());
    for (row, expected) in rows.iter().zip(&expected) {
        let row = row.as_object().unwrap();
        for (name, value) in row.iter().filter(|(name, _)| *name != "day") {
            let expected = expected.get(name).unwrap_or(&Value::Null);
            let is_float = matches!(
                name.as_str(),
                "diskReads" | "diskWrites" | "networkReceived" | "networkSent"
            );
            if is_float && !value.is_null() {
                #[expect(clippy::cast_possible_truncation, reason = "it is a float of 32 bits")]
                let bits = |value: &Value| (value.as_f64().unwrap() as f32).to_bits();
                assert_eq!(bits(value), bits(expected), "{name}");
                continue;
            }
            assert_eq!(value, expected, "{name} of {expected}");
        }
        for name in expected.keys() {
            assert!(row.contains_key(name), "{name} has a column");
        }
    }
}

/// The options that select the second day.
fn one_day() -> String {
    format!("--from {} --to {}", day(8), day(7))
}

#[test]
fn parquet_of_telemetry_holds_the_values_of_its_ndjson() {
    let Some(python) = python() else { return };
    let place = Place::new();
    fs::write(place.file("key"), &place.admin).unwrap();
    let served = place.serve();
    let mut client = Client::connect(served.address, &place.admin).unwrap();
    let accepted = client
        .accepted("POST /operator/telemetry", &telemetry())
        .unwrap();
    assert!(accepted.contains(r#""rejected":0"#), "{accepted}");
    let through = format!(
        "--from {} --key-file key --url http://{}",
        day(9),
        served.address
    );
    for stream in STREAMS {
        let line = format!("export {stream} {through}");
        let ndjson = done(place.path(), &line);
        done(
            place.path(),
            &format!("{line} --format parquet --output served"),
        );
        let rows = read(
            python,
            &[&format!("served/day=*/{stream}.parquet")],
            place.path(),
        );
        compare(&rows, &ndjson);
        assert!(rows.len() >= 100, "{stream}");
    }
    drop((client, served));
    for stream in STREAMS {
        let ndjson = done(place.path(), &format!("export {stream}"));
        done(
            place.path(),
            &format!("export {stream} --format parquet --output lake"),
        );
        let rows = read(
            python,
            &[&format!("lake/day=*/{stream}.parquet")],
            place.path(),
        );
        compare(&rows, &ndjson);
    }
    for ago in 6..=9 {
        let file = format!("lake/day={}/stats.parquet", day(ago));
        assert!(place.file(&file).is_file(), "{file}");
    }
    let of_a_day = done(place.path(), &format!("export stats {}", one_day()));
    let file = format!("lake/day={}/stats.parquet", day(8));
    let rows = read(python, &[&file], place.path());
    assert!(rows.iter().all(|row| row["day"] == day(8)));
    compare(&rows, &of_a_day);
}

#[test]
fn schema_of_parquet_names_types_and_units() {
    let Some(python) = python() else { return };
    let place = Place::new();
    let served = place.serve();
    let mut client = Client::connect(served.address, &place.admin).unwrap();
    client
        .accepted("POST /operator/telemetry", &telemetry())
        .unwrap();
    drop((client, served));
    done(
        place.path(),
        &format!("export stats {} --format parquet --output out", one_day()),
    );
    let schema = read(
        python,
        &["--schema", &format!("out/day={}/stats.parquet", day(8))],
        place.path(),
    );
    let schema = &schema[0];
    assert_eq!(
        schema["docs"]["physicalMemory"],
        "Size of the physical memory, in bytes."
    );
    for (name, kind) in [
        ("id", "INTEGER"),
        ("physicalMemory", "BIGINT"),
        ("diskReads", "FLOAT"),
        ("uptime", "DOUBLE"),
        ("username", "VARCHAR"),
        ("receivedAt", "TIMESTAMP WITH TIME ZONE"),
    ] {
        assert_eq!(schema["kinds"][name], kind, "{name}");
    }
}

#[test]
fn parquet_of_lists_holds_the_values_of_their_ndjson() {
    let Some(python) = python() else { return };
    let place = Place::new();
    let fleet: String = (0..40)
        .map(|number| {
            format!("{{\"workSpId\":\"ws-{number:02}\",\"username\":\"=u\",\"region\":null}}\n")
        })
        .collect();
    fs::write(place.file("fleet"), fleet).unwrap();
    done(place.path(), "import fleet");
    for (rows, files) in [
        ("workspaces", "out/workspaces.parquet"),
        ("audit", "out/day=*/audit.parquet"),
    ] {
        let ndjson = done(place.path(), &format!("export {rows}"));
        done(
            place.path(),
            &format!("export {rows} --format parquet --output out"),
        );
        compare(&read(python, &[files], place.path()), &ndjson);
    }
}

#[test]
fn parquet_of_a_part_of_a_day_holds_the_whole_day() {
    let place = Place::new();
    let served = place.serve();
    let mut client = Client::connect(served.address, &place.admin).unwrap();
    client
        .accepted("POST /operator/telemetry", &telemetry())
        .unwrap();
    drop((client, served));
    let line = format!("export stats {} --format parquet --output out", one_day());
    done(place.path(), &line);
    let file = place.file(&format!("out/day={}/stats.parquet", day(8)));
    let before = fs::read(&file).unwrap();
    let day = day(8);
    let part = format!("export stats --from {day}T11:00:00Z --to {day}T12:00:00Z --format parquet");
    let output = command(place.path(), &format!("{part} --output out"))
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(
        message.contains(&format!("from {day}T00:00:00Z")),
        "{message}"
    );
    assert!(fs::read(&file).unwrap() == before, "the whole day");
    let refused = format!("{part} --output out --instance ws-0");
    let output = command(place.path(), &refused).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(
        message.contains("--instance is not for parquet"),
        "{message}"
    );
    assert!(fs::read(&file).unwrap() == before, "not replaced");
}

#[test]
fn parquet_replaces_a_file_only_when_it_is_whole() {
    let place = Place::new();
    let served = place.serve();
    let mut client = Client::connect(served.address, &place.admin).unwrap();
    client
        .accepted("POST /operator/telemetry", &telemetry())
        .unwrap();
    drop((client, served));
    let line = format!("export stats {} --format parquet --output out", one_day());
    done(place.path(), &line);
    let folder = place.file(&format!("out/day={}", day(8)));
    let file = folder.join("stats.parquet");
    let before = fs::read(&file).unwrap();
    done(place.path(), &line);
    assert!(fs::read(&file).unwrap() == before, "the same again");
    fs::write(folder.join("activity.parquet"), "redb, says the begin").unwrap();
    let refused = format!(
        "export activity {} --format parquet --output out",
        one_day()
    );
    let output = command(place.path(), &refused).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is a store"));
    let names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
}
