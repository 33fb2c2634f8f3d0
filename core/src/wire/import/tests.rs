//! The formats of an import, whole and in pieces.

use crate::model::Nullable;

use super::*;

/// What is read of `pieces`, and how that ended.
fn read(declared: Declared, pieces: &[&[u8]]) -> (Gathered, Result<(), Unreadable>) {
    let mut gathered = Gathered::default();
    let mut reader = ImportReader::new(declared, 200);
    let ended = pieces
        .iter()
        .try_for_each(|piece| reader.push(piece, &mut gathered))
        .and_then(|()| reader.finish(&mut gathered));
    assert!(reader.bytes() < 10_000, "{reader:?}");
    (gathered, ended)
}

/// The same of the whole text, of its bytes, and of it cut anywhere.
fn everywhere(declared: Declared, text: &[u8]) -> (Gathered, Result<(), Unreadable>) {
    let whole = read(declared, &[text]);
    let shown = |(gathered, ended): &(Gathered, _)| {
        let Gathered {
            records,
            errors,
            warnings,
            ..
        } = gathered;
        format!("{records:?} {errors:?} {warnings:?} {ended:?}")
    };
    let bytes: Vec<_> = text.chunks(1).collect();
    assert_eq!(shown(&read(declared, &bytes)), shown(&whole));
    for cut in 0..text.len() {
        let (left, right) = text.split_at(cut);
        assert_eq!(
            shown(&read(declared, &[left, right])),
            shown(&whole),
            "{cut}"
        );
    }
    whole
}

/// Lines and ids of the records.
fn ids(gathered: &Gathered) -> Vec<(u64, &str)> {
    let each = gathered.records.iter();
    each.map(|(line, patch)| (*line, patch.id.value().unwrap().as_str()))
        .collect()
}

/// Line, column and message of the errors.
fn errors(gathered: &Gathered) -> Vec<(u64, u64, &str)> {
    let each = gathered.errors.first().iter();
    each.map(|error| (error.line, error.column.unwrap(), error.message.as_str()))
        .collect()
}

#[test]
fn every_format_reads_the_same_records() {
    let one = r#"{"workSpId":"ws-1","username":null,"state":"AVAILABLE"}"#;
    let two = r#"{"WORKSPID":"ws-2","region":"a\"},{]"}"#;
    for (declared, text) in [
        (Declared::Lines, format!("{one}\n{two}")),
        (Declared::Nothing, format!("{one}\r\n{two}\r\n")),
        (Declared::Json, format!("[{one},{two}]")),
        (Declared::Lines, format!(" [\n{one} ,\n {two}\n]\n")),
        (Declared::Json, format!("[{one}]{{\"workspaces\":{two}}}")),
        (
            Declared::Nothing,
            format!("{{\"Rows\":[{one}]}}\n{{\"Rows\":[{two}]}}"),
        ),
        (
            Declared::Json,
            format!("{{\"value\":[{one},{two}],\"Count\":2}}"),
        ),
        (
            Declared::Json,
            format!(r#"{{"workSpaces":[{one},{two}],"nextToken":null,"hasMore":false}}"#),
        ),
        (
            Declared::Nothing,
            format!(
                r#" {{ "nextToken" : "a,]}}" , "x":[{{"workSpaces":[]}}],"WorkSpaces": [ {one},{two} ] }} "#
            ),
        ),
    ] {
        for mark in ["", "\u{feff}"] {
            let (gathered, ended) = everywhere(declared, format!("{mark}{text}").as_bytes());
            assert_eq!(ended, Ok(()), "{text}");
            assert_eq!(ids(&gathered), [(1, "ws-1"), (2, "ws-2")], "{text}");
            let [(_, one), (_, two)] = [&gathered.records[0], &gathered.records[1]];
            assert_eq!(one.username, Nullable::Null);
            assert_eq!(one.region, Nullable::Absent);
            assert_eq!(two.region, "a\"},{]".into());
            assert_eq!(
                (gathered.errors.count(), gathered.warnings.len()),
                (0, 0),
                "{text}"
            );
        }
    }
}

#[test]
fn csv_names_fields_in_its_first_line_and_empty_cells_are_absent() {
    let text =
        "username, WorkSpId ,region\r\n\"j\"\"d,\r\noe\",ws-1,\r\n\n,ws-2,ä\nx,ws-3\n,ws-4,\"\"";
    for (declared, mark) in [(Declared::Csv, "\u{feff}"), (Declared::Nothing, "")] {
        let (gathered, ended) = everywhere(declared, format!("{mark}{text}").as_bytes());
        assert_eq!(ended, Ok(()));
        assert_eq!(ids(&gathered), [(2, "ws-1"), (5, "ws-2"), (7, "ws-4")]);
        assert_eq!(gathered.records[0].1.username, "j\"d,\r\noe".into());
        assert_eq!(gathered.records[0].1.region, Nullable::Absent);
        assert_eq!(gathered.records[1].1.region, "ä".into());
        let wording = "The line has 2 cells, the first line 3.";
        assert_eq!(errors(&gathered), [(6, 2, wording)]);
    }
}

#[test]
fn csv_that_ends_inside_of_a_quote_is_an_error_of_the_line_with_the_quote() {
    for (text, kept, place, wording) in [
        (
            "workSpId,username\nws-1,\"jdoe\nws-2,asmith\n",
            vec![],
            (2, 2),
            "The quote that begins cell 2 on line 2 has no end: the rest of the text was read as its cell.",
        ),
        (
            "workSpId,username,region\nws-0,a,\nws-1,\"j\n\"\"\",\"x",
            vec![(2, "ws-0")],
            (3, 3),
            "The quote that begins cell 3 on line 4 has no end: the rest of the text was read as its cell.",
        ),
        (
            &format!("workSpId,username\nws-1,\"{}\nws-2,a\n", "x".repeat(300)),
            vec![],
            (2, 1),
            "A quote on line 2 or after it has no end: the rest of the text was read as its cell.",
        ),
        (
            &format!(
                "workSpId,username\nws-1,\"a\n{}\nws-2,\"a\nws-3,b",
                "x".repeat(300)
            ),
            vec![(5, "ws-3")],
            (2, 1),
            "The line is longer than 200 bytes, or has more than 256 cells. A quote that was opened on line 2 may be missing its end.",
        ),
    ] {
        let (gathered, ended) = everywhere(Declared::Csv, text.as_bytes());
        assert_eq!(ended, Ok(()), "{text}");
        assert_eq!(ids(&gathered), kept, "{text}");
        assert_eq!(errors(&gathered), [(place.0, place.1, wording)], "{text}");
    }
    let (_, ended) = everywhere(Declared::Csv, b"workSpId,\"username\nws-1,a\n");
    assert!(
        ended
            .is_err_and(|why| why.starts_with("The quote that begins cell 2 on line 1 has no end")),
    );
    // The last quote of a text ends it.
    let (gathered, ended) = everywhere(Declared::Csv, b"workSpId,username\nws-1,\"a\"");
    assert_eq!((ended, ids(&gathered)), (Ok(()), vec![(2, "ws-1")]));
}

#[test]
fn csv_whose_first_line_is_wrong_is_unreadable() {
    for (text, wording) in [
        ("", "The CSV is empty"),
        ("\r\n\n", "The CSV is empty"),
        (
            "workSpaceIdent,user\nws-1,a",
            "among them workSpId or WorkspaceId. Is it workSpaceIdent?",
        ),
        ("Id;State\nws-1;AVAILABLE", "WorkspaceId. Is it Id?"),
        (
            "name;username\nws-1;a",
            "among them workSpId or WorkspaceId.",
        ),
        ("sep=;\n#TYPE X\n", "The CSV is empty"),
        ("workSpId,state,STATE\n", "names STATE twice"),
        ("workSpId,\u{0}\u{0}", ""),
    ] {
        let (gathered, ended) = everywhere(Declared::Csv, text.as_bytes());
        assert_eq!(gathered.records.len(), 0);
        if wording.is_empty() {
            assert_eq!(ended, Ok(()));
        } else {
            assert!(
                ended.as_ref().is_err_and(|why| why.contains(wording)),
                "{ended:?}"
            );
        }
    }
    let long = format!("workSpId,{}", "x".repeat(300));
    assert!(everywhere(Declared::Csv, long.as_bytes()).1.is_err());
    assert!(everywhere(Declared::Csv, b"workSpId,\xff\n").1.is_err());
}

#[test]
fn error_names_place_found_value_and_expected_one() {
    let lines = [
        r#"{"workSpId":"ws-1","state":5}"#,
        r#"{"workSpId":"ws-2","#,
        r#"{"state":"AVAILABLE"}"#,
        &format!(r#"{{"workSpId":"{}"}}"#, "x".repeat(300)),
        "5",
        r#"{"workSpId":"ws-6","workSpId":"ws-7"}"#,
    ]
    .join("\n");
    let (gathered, ended) = everywhere(Declared::Lines, lines.as_bytes());
    assert_eq!(ended, Ok(()));
    assert_eq!(
        errors(&gathered),
        [
            (
                1,
                28,
                "$.state: invalid type: integer `5`, expected a string or null."
            ),
            (2, 19, "$: EOF while parsing a value."),
            (3, 1, "$: no member is workSpId or WorkspaceId."),
            (4, 1, "The record is longer than 200 bytes."),
            (5, 1, "$: invalid type: integer `5`, expected an object."),
            (6, 29, "$.workSpId: the property is given twice."),
        ]
    );
    let elements = r#"[{"workSpId":"ws-1" "x":1}, 5,{"workSpId":"ws-3"},"x",null]"#;
    let (gathered, ended) = everywhere(Declared::Json, elements.as_bytes());
    assert_eq!(ended, Ok(()));
    assert_eq!(ids(&gathered), [(3, "ws-3")]);
    let lines: Vec<_> = errors(&gathered)
        .into_iter()
        .map(|(line, ..)| line)
        .collect();
    assert_eq!(lines, [1, 2, 4, 5]);
    let (gathered, _) = everywhere(Declared::Lines, b"{\"workSpId\":\"\xff\"}");
    assert!(
        errors(&gathered)[0]
            .2
            .ends_with("save and send it as UTF-8.")
    );
    let rows = b"workSpId,region\nws-1,\xff\n\"\",x\nws-3,x,y\n";
    let (gathered, _) = everywhere(Declared::Csv, rows);
    assert_eq!(
        errors(&gathered),
        [
            (2, 2, "The cell is not UTF-8: save the file as UTF-8."),
            (
                3,
                1,
                "The field workSpId must be a string of 1 to 64 characters."
            ),
            (4, 2, "The line has 3 cells, the first line 2."),
        ]
    );
}

#[test]
fn first_errors_are_those_of_the_first_lines() {
    let mut errors = LineErrors::default();
    for line in (51..=200).chain(1..=50) {
        errors.add(line, None, String::new());
    }
    assert_eq!(errors.count(), 200);
    let lines: Vec<_> = errors.first().iter().map(|error| error.line).collect();
    assert_eq!(lines, (1..=100).collect::<Vec<_>>());
}

#[test]
fn unknown_names_are_warned_of_once_each_with_the_nearest_name() {
    let lines = r#"{"workSpId":"ws-1","userName2":"a"}
        {"workSpId":"ws-2","username2":1,"colour":{"workspId":[]}}"#;
    let (gathered, ended) = everywhere(Declared::Lines, lines.as_bytes());
    assert_eq!(ended, Ok(()));
    let warning = |line, message: &str| LineWarning {
        line,
        message: message.to_owned(),
    };
    assert_eq!(
        gathered.warnings,
        [
            warning(1, "unknown member userName2; did you mean username?"),
            warning(2, "unknown member colour"),
        ]
    );
    let (gathered, _) = everywhere(Declared::Csv, b"workSpId,sate\n");
    assert_eq!(
        gathered.warnings,
        [warning(1, "unknown column sate; did you mean state?")]
    );
    let mut many = Gathered::default();
    let mut reader = ImportReader::new(Declared::Lines, 100_000);
    let members: Vec<_> = (0..1000)
        .map(|name| format!("\"member{name}\":1"))
        .collect();
    let line = format!("{{{}}}", members.join(","));
    reader.push(line.as_bytes(), &mut many).unwrap();
    reader.finish(&mut many).unwrap();
    assert_eq!(many.warnings.len(), 20);
}

#[test]
fn text_in_another_encoding_is_named() {
    for (text, wording) in [
        (
            &b"\x1f\x8b\x08\0"[..],
            "The body is gzip-compressed: send Content-Encoding: gzip, or unpack it.",
        ),
        (
            b"PK\x03\x04x",
            "The body is a zip archive, as spreadsheets are: unpack it, or save it as CSV.",
        ),
        (b"\xfd7zXZ\0", "The body is xz-compressed: unpack it."),
        (b"\xff\xfe[\0]\0", "The body is UTF-16: save it as UTF-8."),
        (b"\xfe\xff\0[\0]", "The body is UTF-16: save it as UTF-8."),
        (b"[\0]\0", "The body is UTF-16: save it as UTF-8."),
        (b"\0[\0]", "The body is UTF-16: save it as UTF-8."),
    ] {
        for declared in [
            Declared::Json,
            Declared::Lines,
            Declared::Csv,
            Declared::Nothing,
        ] {
            assert_eq!(everywhere(declared, text).1, Err(wording.to_owned()));
        }
    }
}

#[test]
fn broken_document_says_where() {
    let one = r#"{"workSpId":"ws-1"}"#;
    for (text, wording) in [
        (
            format!("[{one}"),
            "The body ends too early, after element 1 of the array.",
        ),
        (
            format!("[{one},"),
            "The body ends too early, after element 1 of the array.",
        ),
        (
            "[".into(),
            "The body ends too early, before the first element of the array.",
        ),
        (
            format!(r#"{{"workSpaces":[{one}]"#),
            "The body ends too early, after element 1 of the array.",
        ),
    ] {
        for declared in [Declared::Json, Declared::Lines, Declared::Nothing] {
            let (_, ended) = everywhere(declared, text.as_bytes());
            assert_eq!(ended, Err(wording.to_owned()), "{text}");
        }
    }
    for text in [
        "{}",
        "5",
        "[{},]",
        "[{}] x",
        "<html>",
        r#"{"hasMore" false}"#,
        r#"{"workSpaces":5}"#,
        r#"{"hasMore":false}"#,
    ] {
        let (gathered, ended) = everywhere(Declared::Lines, text.as_bytes());
        assert_eq!(ended, Ok(()), "{text}");
        let first = &gathered.errors.first()[0].message;
        let expected = format!("The body has no workspace that can be read. Record 1: {first}");
        let (_, ended) = everywhere(Declared::Json, text.as_bytes());
        assert_eq!(ended, Err(expected), "{text}");
    }
    for text in ["", " \n", "\u{feff}"] {
        let (_, ended) = everywhere(Declared::Json, text.as_bytes());
        assert!(
            ended.is_err_and(|why| why.starts_with("The body is empty")),
            "{text}"
        );
        for declared in [Declared::Lines, Declared::Nothing] {
            assert_eq!(everywhere(declared, text.as_bytes()).1, Ok(()));
        }
    }
}

#[test]
fn broken_record_of_a_document_costs_no_other() {
    let one = r#"{"workSpId":"ws-1"}"#;
    let two = r#"{"workSpId":"ws-2"}"#;
    for text in [
        format!("[{one},]\n{two} x"),
        format!("[{one} {two}] x"),
        format!("{one}\n{{\"workSpId\":\"ws-3\n{two}\n"),
        format!("[\n  {one},\n  {{\n    \"workSpId\":\n  }},\n  {two}\n]\n"),
        format!("{{\"workSpaces\":[{one},5,{two}]}}"),
    ] {
        for declared in [Declared::Json, Declared::Lines, Declared::Nothing] {
            let (gathered, ended) = everywhere(declared, text.as_bytes());
            assert_eq!(ended, Ok(()), "{text}");
            let ids: Vec<_> = ids(&gathered).into_iter().map(|(_, id)| id).collect();
            assert_eq!(ids, ["ws-1", "ws-2"], "{text}");
            assert_eq!(gathered.errors.count(), 1, "{text}");
        }
    }
}

#[test]
fn record_and_skipped_member_take_bounded_memory() {
    let long = "x".repeat(1000);
    let text = format!(
        r#"{{"hasMore":"{long}","workSpaces":[{{"region":"{long}"}},{{"workSpId":"ws-2"}}]}}"#
    );
    let (gathered, ended) = everywhere(Declared::Json, text.as_bytes());
    assert_eq!(ended, Ok(()));
    assert_eq!(
        errors(&gathered),
        [(1, 1, "The record is longer than 200 bytes.")]
    );
    assert_eq!(ids(&gathered), [(2, "ws-2")]);
    let rows = format!(
        "workSpId,region\nws-1,{long}\nws-2,y\nws-3{}\nws-4,\n",
        ",".repeat(1000)
    );
    let (gathered, ended) = everywhere(Declared::Csv, rows.as_bytes());
    assert_eq!(ended, Ok(()));
    assert_eq!(ids(&gathered), [(3, "ws-2"), (5, "ws-4")]);
    assert_eq!(gathered.errors.count(), 2);
}
