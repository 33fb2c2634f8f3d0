//! The formats of an export: what is in a record is in each of them, and cells of CSV are no formulas.

use deskfleet::{
    ActivityRecord, ProcessItem, ProcessReport, Record, StatsRecord, Stream,
    query::{ExportFormat, ExportQuery},
};
use deskfleet_tests::exported::{Stage, read, stats, time};
use serde_json::Value;

/// A reader of RFC 4180: rows of cells, with whether each was quoted.
fn csv(text: &str) -> Vec<Vec<(String, bool)>> {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), (String::new(), false));
    let mut chars = text.chars().peekable();
    let mut inside = false;
    while let Some(next) = chars.next() {
        match next {
            '"' if inside && chars.peek() == Some(&'"') => cell.0.extend(chars.next()),
            '"' => {
                inside = !inside;
                cell.1 = true;
            }
            ',' if !inside => row.push(std::mem::take(&mut cell)),
            '\r' if !inside && chars.peek() == Some(&'\n') => {
                chars.next();
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            other => cell.0.push(other),
        }
    }
    assert!(row.is_empty() && cell.0.is_empty() && !inside);
    rows
}

#[test]
fn hostile_values_survive_both_formats() {
    let stage = Stage::in_memory();
    let texts = [
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "say \"hi\"",
        "a,b",
        "two\r\nlines",
        "\0",
        "",
        " ",
        "ä€😀",
        "'quoted",
        "\u{feff}",
    ];
    let records: Vec<Record> = texts
        .iter()
        .enumerate()
        .map(|(number, text)| {
            ActivityRecord {
                id: i32::try_from(number).ok(),
                activity: (*text).into(),
                username: deskfleet::Nullable::Null,
                instance_id: "i".into(),
                ..ActivityRecord::default()
            }
            .into()
        })
        .collect();
    stage.engine.record_all(&records).unwrap();
    let query = ExportQuery::new(Stream::Activity);
    let exported: Vec<_> = stage.lines(&query);
    let whole = read(stage.body(&query, ExportFormat::Csv), |_| ());
    let rows = csv(std::str::from_utf8(&whole).unwrap());
    assert_eq!(rows.len(), texts.len() + 1);
    let column = |name: &str| rows[0].iter().position(|(cell, _)| cell == name).unwrap();
    for ((text, line), row) in texts.iter().zip(&exported).zip(&rows[1..]) {
        assert_eq!(line["activity"], *text);
        assert_eq!(line["username"], Value::Null);
        let (cell, quoted) = &row[column("activity")];
        let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
        let expected = format!("{}{text}", if formula { "'" } else { "" });
        assert_eq!(*cell, expected);
        assert!(
            !text.is_empty() || *quoted,
            "an empty text differs from null"
        );
        assert_eq!(row[column("username")], (String::new(), false));
    }
}

#[test]
fn extreme_numbers_and_times_are_written_to_the_last_digit() {
    let stage = Stage::in_memory();
    let record = StatsRecord {
        id: Some(i32::MIN),
        update_time: Some(time("0001-01-01T00:00:00.0000001Z")),
        physical_memory: Some(i64::MAX),
        virtual_memory: Some(i64::MIN),
        disk_reads: Some(f32::MAX),
        disk_writes: Some(f32::MIN_POSITIVE),
        network_sent: Some(0.1),
        network_received: Some(-0.0),
        uptime: 1e300.into(),
        instance_id: "i".into(),
        ..StatsRecord::default()
    };
    stage.engine.record(record.clone()).unwrap();
    let query = ExportQuery::new(Stream::Stats);
    let whole = read(stage.body(&query, ExportFormat::Csv), |_| ());
    let rows = csv(std::str::from_utf8(&whole).unwrap());
    let cell = |name: &str| {
        let column = rows[0].iter().position(|(cell, _)| cell == name).unwrap();
        rows[1][column].0.as_str()
    };
    assert_eq!(cell("id"), "-2147483648");
    assert_eq!(cell("updatetime"), "0001-01-01T00:00:00.0000001Z");
    assert_eq!(cell("physicalMemory"), "9223372036854775807");
    assert_eq!(cell("virtualMemory"), "-9223372036854775808");
    assert_eq!(cell("networkSent"), "0.1");
    assert_eq!(cell("diskReads").parse(), Ok(f32::MAX));
    assert_eq!(cell("diskWrites").parse(), Ok(f32::MIN_POSITIVE));
    assert_eq!(cell("uptime").parse(), Ok(1e300));
    let line = read(stage.body(&query, ExportFormat::Ndjson), |_| ());
    let line = std::str::from_utf8(&line).unwrap();
    for part in [
        "\"physicalMemory\":9223372036854775807,",
        "\"networkSent\":0.1,",
        "\"networkReceived\":-0.0,",
    ] {
        assert!(line.contains(part), "{line}");
    }
    let exported = stage.engine.export(query).next().unwrap().unwrap();
    assert_eq!(exported.record, record.into());
}

fn item(name: &str, processor: f64) -> ProcessItem {
    ProcessItem {
        process_name: Some(name.to_owned()),
        processor_usage: Some(processor),
        process_count: Some(2),
        username: Some("item-user".to_owned()),
        ..ProcessItem::default()
    }
}

#[test]
fn process_report_is_a_line_of_csv_for_each_process() {
    let stage = Stage::in_memory();
    let report = |processes| ProcessReport {
        username: "jdoe".into(),
        instance_id: "i".into(),
        created_date: Some(time("2026-11-20T10:00:00Z")),
        processes,
        ..ProcessReport::default()
    };
    for processes in [
        Some(vec![item("a,b", 0.5), item("=c", 1e300)]),
        Some(Vec::new()),
        None,
    ] {
        stage.engine.record(report(processes)).unwrap();
        stage.clock.advance_seconds(1);
    }
    let whole = read(
        stage.body(&ExportQuery::new(Stream::Processes), ExportFormat::Csv),
        |_| (),
    );
    let expected = "computeTypeName,username,createdDate,instanceId,receivedAt,processName,processorUsage,memoryUsage,processCount,processUsername\r\n\
        ,jdoe,2026-11-20T10:00:00Z,i,2026-11-20T12:00:00Z,\"a,b\",0.5,,2,item-user\r\n\
        ,jdoe,2026-11-20T10:00:00Z,i,2026-11-20T12:00:00Z,'=c,1e+300,,2,item-user\r\n\
        ,jdoe,2026-11-20T10:00:00Z,i,2026-11-20T12:00:01Z,,,,,\r\n\
        ,jdoe,2026-11-20T10:00:00Z,i,2026-11-20T12:00:02Z,,,,,\r\n";
    assert_eq!(std::str::from_utf8(&whole).unwrap(), expected);
}

#[test]
fn large_reports_are_cut_into_chunks() {
    let stage = Stage::in_memory();
    let names = |report: i32| (0..4096).map(move |process| format!("process-{report}-{process}"));
    for report in 0..4 {
        let record = ProcessReport {
            username: "u".repeat(200).as_str().into(),
            processes: Some(names(report).map(|name| item(&name, 1.0)).collect()),
            instance_id: "i".into(),
            ..ProcessReport::default()
        };
        stage.engine.record(record).unwrap();
        stage.clock.advance_seconds(1);
    }
    let whole = read(
        stage.body(&ExportQuery::new(Stream::Processes), ExportFormat::Csv),
        |_| (),
    );
    let rows = csv(std::str::from_utf8(&whole).unwrap());
    let column = rows[0]
        .iter()
        .position(|(cell, _)| cell == "processName")
        .unwrap();
    let found: Vec<_> = rows[1..].iter().map(|row| row[column].0.clone()).collect();
    assert_eq!(found, (0..4).flat_map(names).collect::<Vec<_>>());
}

#[test]
fn export_of_nothing_is_an_empty_body_or_a_header() {
    let stage = Stage::in_memory();
    stage.engine.record(stats(1, 1, None)).unwrap();
    let query = ExportQuery::new(Stream::Activity);
    assert_eq!(read(stage.body(&query, ExportFormat::Ndjson), |_| ()), b"");
    assert_eq!(
        read(stage.body(&query, ExportFormat::Csv), |_| ()),
        b"id,computeTypeName,username,activity,activityTime,instanceId,tenantId,receivedAt\r\n"
    );
}
