//! Records of texts in every shape, whole and cut anywhere.

use proptest::prelude::*;

use super::*;

const LISTS: &[&str] = &["workSpaces", "rows", "items", "value"];

/// What is read of a text: each record with its number, `!` before one that is not JSON, and last the error of a list that does not end.
fn read_pieces(pieces: &[&[u8]], lists: &'static [&'static str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut add = |number: u64, record: Result<&[u8], NoRecord>| {
        let (mark, text) = match &record {
            Ok(text) => {
                let is_json = serde_json::from_slice::<serde_json::Value>(text).is_ok();
                let text = String::from_utf8_lossy(text);
                (
                    if is_json { "" } else { "!" },
                    text.replace(char::is_whitespace, ""),
                )
            }
            Err(none) => ("!!", none.message.clone()),
        };
        found.push(format!("{number}{mark} {text}"));
    };
    let mut values = Values::new(100, lists);
    for piece in pieces {
        values.push(piece, &mut add);
        assert!(values.bytes() <= 256, "{values:?}");
    }
    let end = values.finish(&mut add);
    found.extend(
        end.err()
            .map(|(number, message)| format!("{number}!!! {message}")),
    );
    found
}

/// The same, of the text cut anywhere as well.
fn read(text: &str) -> Vec<String> {
    let whole = read_pieces(&[text.as_bytes()], LISTS);
    let bytes: Vec<_> = text.as_bytes().chunks(1).collect();
    assert_eq!(read_pieces(&bytes, LISTS), whole, "{text}");
    for cut in 0..text.len() {
        let (left, right) = text.as_bytes().split_at(cut);
        assert_eq!(read_pieces(&[left, right], LISTS), whole, "{cut} {text}");
    }
    whole
}

const ONE: &str = r#"{"a":1}"#;
const TWO: &str = r#"{"b":["x",{"c":"}]\"\\"}]}"#;

#[test]
fn whole_records_are_read_in_every_shape() {
    let pretty = "{\n  \"b\": [\n    \"x\",\n    {\n      \"c\": \"}]\\\"\\\\\"\n    }\n  ]\n}";
    let in_lines = "{\n\"b\":\n[\n\"x\",\n{\n\"c\":\n\"}]\\\"\\\\\"\n}\n]\n}";
    for (text, numbers) in [
        (format!("{ONE}\n{TWO}"), [1, 2]),
        (format!("\n {ONE}\r\n\r\n{TWO}\r\n\n"), [2, 4]),
        (format!("{ONE}{TWO}"), [1, 1]),
        (format!("{ONE},\n{TWO},\n"), [1, 2]),
        (format!("{ONE} \t{TWO}"), [1, 1]),
        (format!("\u{feff}{ONE}\n\u{feff}{TWO}"), [1, 2]),
        (format!("\u{1e}{ONE}\n\u{1e}{TWO}\n"), [1, 2]),
        (format!("[{ONE},{TWO}]"), [1, 2]),
        (format!("[\n{ONE}\n, {TWO}\n]\n"), [1, 2]),
        (format!("[{ONE} {TWO},]"), [1, 2]),
        (format!("[{ONE}]\n[{TWO}]"), [1, 2]),
        (format!("[[{ONE}],[],[[{TWO}]]]"), [1, 2]),
        (format!("{ONE}\n{pretty}"), [1, 2]),
        (format!("{ONE}\n{in_lines}\n"), [1, 2]),
        (
            format!("[\n  {ONE},\n  {}\n]", pretty.replace('\n', "\n  ")),
            [1, 2],
        ),
        (
            format!(r#"{{"workSpaces":[{ONE},{TWO}],"n":[1,{{}}]}}"#),
            [1, 2],
        ),
        (
            format!(
                "{{ \"n\" : \"}}[\" , \"o\":{{\"items\":[]}}, \"WorkSpaces\" :\n[ {ONE} ,{TWO}\n] }}"
            ),
            [1, 2],
        ),
        (
            format!(r#"{{"rows":{ONE}}}{{"Value":{TWO},"Count":1}}"#),
            [1, 2],
        ),
        (format!(r#"{{"items":[{ONE}],"rows":[{TWO}]}}"#), [1, 2]),
        (
            format!("{{\"workspaces\":[{ONE}]}}\n{{\n\"workspaces\":[\n{TWO}]\n}}\n"),
            [1, 2],
        ),
        (format!(r#"[{{"rows":[{ONE}]}},{{"rows":{TWO}}}]"#), [1, 2]),
        (
            format!(r#"{{"rows":[]}} [] {{"rows":[{ONE},{TWO}]}}"#),
            [1, 2],
        ),
    ] {
        let expected = [ONE, TWO].iter().zip(numbers);
        let expected: Vec<_> = expected
            .map(|(one, number)| format!("{number} {one}"))
            .collect();
        assert_eq!(read(&text), expected, "{text}");
    }
    for text in [
        "",
        " \r\n\t",
        "[]",
        "\u{feff}",
        "[[],[\n]]",
        ",",
        r#"{"rows":[]}"#,
    ] {
        assert_eq!(read(text), [""; 0], "{text}");
    }
}

#[test]
fn pages_are_records_where_no_list_is_named() {
    let text = br#"{"rows":[{"a":1}]}"#;
    assert_eq!(read_pieces(&[text], &[]), [r#"1 {"rows":[{"a":1}]}"#]);
    // Nor is a list that is no member of the record itself, or that holds no objects.
    for text in [
        r#"{"a":{"rows":[{}]}}"#,
        r#"{"rows":5,"a":[{}]}"#,
        r#"{"a":"rows","b":[{}]}"#,
        r#"{"rowsrowsrowsrowsrows":[]}"#,
        r#"{"r\u006fws":[]}"#,
    ] {
        assert_eq!(read(text), [format!("1 {text}")]);
    }
}

/// Texts, and what is read of them.
const BROKEN: &[(&str, &[&str])] = &[
    // Cut off in a string, a name, a number, between members, after a bracket, a colon, a comma.
    ("{\"a\":\"x\n{\"b\":1}", &["1! {\"a\":\"x", "2 {\"b\":1}"]),
    (
        "{\"a\":\"x\\\n{\"b\":1}",
        &["1! {\"a\":\"x\\", "2 {\"b\":1}"],
    ),
    ("{\"a\n{\"b\":1}", &["1! {\"a", "2 {\"b\":1}"]),
    ("{\"a\":1\n  {\"b\":1}", &["1! {\"a\":1", "2 {\"b\":1}"]),
    ("{\"a\":1,\n{\"b\":1}", &["1! {\"a\":1,", "2 {\"b\":1}"]),
    ("{\n{\"b\":1}", &["1! {", "2 {\"b\":1}"]),
    (
        "{\"a\":\n{\"b\":1}\n{\"c\":1}",
        &["1! {\"a\":", "2 {\"b\":1}", "3 {\"c\":1}"],
    ),
    ("{\"a\":\n{\"b\":1}", &["1! {\"a\":", "2 {\"b\":1}"]),
    (
        "{\"a\":[\n{\"b\":1}\r\n{\"c\":1}",
        &["1! {\"a\":[", "2 {\"b\":1}", "3 {\"c\":1}"],
    ),
    (
        "{\"a\":[1,\n{\"b\":1}\n{\"c\":1}",
        &["1! {\"a\":[1,", "2 {\"b\":1}", "3 {\"c\":1}"],
    ),
    (
        "{\"a\":\n{\"b\":[\n{\"c\":\n{\"d\":1}",
        &["1! {\"a\":", "2! {\"b\":[", "3! {\"c\":", "4 {\"d\":1}"],
    ),
    // In the middle of a pretty-printed sequence.
    (
        "{\n  \"a\": [\n    {\n      \"b\": \"x\n    },\n    {\n      \"c\": 1\n    }\n  ]\n}\n{\n  \"d\": 1\n}",
        &["1! {\"a\":[{\"b\":\"x", "11 {\"d\":1}"],
    ),
    (
        "[\n  {\n    \"a\": 1\n    \"b\n  },\n  {\n    \"c\": 1\n  }\n]",
        &["1! {\"a\":1\"b", "2 {\"c\":1}"],
    ),
    // An array by its end, and one without.
    (
        "[{\"a\":{\"b\":1},{\"c\":2}]",
        &["1! {\"a\":{\"b\":1},", "2 {\"c\":2}"],
    ),
    (
        "[{\"a\":1},{\"b\":\"x}]\n[{\"c\":1}]\n",
        &["1 {\"a\":1}", "2! {\"b\":\"x}]", "3 {\"c\":1}"],
    ),
    (
        "[{\"a\":1}\n[{\"c\":1}]\n",
        &[
            "1 {\"a\":1}",
            "1!! The array has no end, after element 1 of the array.",
            "2 {\"c\":1}",
        ],
    ),
    // A page whose record, or which itself, breaks off.
    (
        "{\"rows\":[{\"a\":1},{\"b\n{\"rows\":[{\"c\":1}]}",
        &["1 {\"a\":1}", "2! {\"b", "3 {\"c\":1}"],
    ),
    (
        "{\"rows\":[{\"a\":1}],\"n\n{\"rows\":[{\"c\":1}]}",
        &[
            "1 {\"a\":1}",
            "1!! The object with the array has no end, after element 1 of the array.",
            "2 {\"c\":1}",
        ],
    ),
    (
        "{\"rows\":[{\"a\":1}]\n{\"rows\":[{\"c\":1}]}",
        &[
            "1 {\"a\":1}",
            "1!! The object with the array has no end, after element 1 of the array.",
            "2 {\"c\":1}",
        ],
    ),
    (
        "{\"rows\":[{\"a\":1},\n{\"rows\":[{\"c\":1}]}",
        &["1 {\"a\":1}", "2 {\"c\":1}"],
    ),
    // No records.
    (
        "<html>{\"a\":1}\n{\"b\":1}",
        &["1! <html>{\"a\":1}", "2 {\"b\":1}"],
    ),
    (
        "5\nnull\n\"x\"\n{\"b\":1} x",
        &["1 5", "2 null", "3 \"x\"", "4 {\"b\":1}", "4! x"],
    ),
    (
        "\"a\":1}\n{\"b\":1}}\n]\n{}",
        &["1! \"a\":1}", "2 {\"b\":1}", "2! }", "3! ]", "4 {}"],
    ),
    (
        "[5, \"x,]\" ,null,foo bar,{\"a\":1}},{\"b\":1}]",
        &[
            "1 5",
            "2 \"x,]\"",
            "3 null",
            "4! foobar",
            "5 {\"a\":1}",
            "6! }",
            "7 {\"b\":1}",
        ],
    ),
    (
        "[\"a\":{\"b\":1}\n,{\"c\":1}]",
        &["1! \"a\":{\"b\":1}", "2 {\"c\":1}"],
    ),
    ("[\"a\n{\"c\":1}]", &["1! \"a", "2 {\"c\":1}"]),
];

/// One line with an array of which one record lost a character, and what is read of it.
const ONE_LINE: &[(&str, &[&str])] = &[
    // A closing brace, of the inner object or of both.
    (
        r#"[{"a":{"b":1}},{"a":{"b":2},{"a":{"b":3}},{"a":{"b":4}}]"#,
        &[
            r#"1 {"a":{"b":1}}"#,
            r#"2! {"a":{"b":2},"#,
            r#"3 {"a":{"b":3}}"#,
            r#"4 {"a":{"b":4}}"#,
        ],
    ),
    (
        r#"[{"a":{"b":1}}, {"a":{"b":2 , {"a":{"b":3}}, {"a":{"b":4}}]"#,
        &[
            r#"1 {"a":{"b":1}}"#,
            r#"2! {"a":{"b":2,"#,
            r#"3 {"a":{"b":3}}"#,
            r#"4 {"a":{"b":4}}"#,
        ],
    ),
    // An opening brace.
    (
        r#"[{"a":1},"a":{"b":2}},{"c":{"b":3}},{"d":4}]"#,
        &[
            r#"1 {"a":1}"#,
            r#"2! "a":{"b":2}},"#,
            r#"3 {"c":{"b":3}}"#,
            r#"4 {"d":4}"#,
        ],
    ),
    // A bracket of an inner array.
    (
        r#"[{"a":[{"b":1}},{"a":[{"b":2}]},{"c":3}]"#,
        &[
            r#"1! {"a":[{"b":1}},"#,
            r#"2 {"a":[{"b":2}]}"#,
            r#"3 {"c":3}"#,
        ],
    ),
    (
        r#"[{"a":[{"b":1},{"a":[{"b":2}]},{"c":3}]"#,
        &[
            r#"1! {"a":[{"b":1},"#,
            r#"2 {"a":[{"b":2}]}"#,
            r#"3 {"c":3}"#,
        ],
    ),
    // A quote at the end of a text, of a name, and at the beginning of one.
    (
        r#"[{"a":{"b":"x}},{"a":{"b":"y"}},{"c":3}]"#,
        &[
            r#"1! {"a":{"b":"x}},"#,
            r#"2 {"a":{"b":"y"}}"#,
            r#"3 {"c":3}"#,
        ],
    ),
    (
        r#"[{"a":{"b:"x"}},{"a":{"b":"y"}},{"c":3}]"#,
        &[
            r#"1! {"a":{"b:"x"}},"#,
            r#"2 {"a":{"b":"y"}}"#,
            r#"3 {"c":3}"#,
        ],
    ),
    (
        r#"[{"a":{"b":x"}},{"a":{"b":"y"}},{"c":3}]"#,
        &[
            r#"1! {"a":{"b":x"}},"#,
            r#"2 {"a":{"b":"y"}}"#,
            r#"3 {"c":3}"#,
        ],
    ),
    // A quote too many.
    (
        r#"[{"a":"b"c"},{"a":"y"},{"c":3}]"#,
        &[r#"1! {"a":"b"c"},"#, r#"2 {"a":"y"}"#, r#"3 {"c":3}"#],
    ),
    // A comma.
    (
        r#"[{"a":1 "b":2},{"c":3}{"d":4}]"#,
        &[r#"1! {"a":1"b":2}"#, r#"2 {"c":3}"#, r#"3 {"d":4}"#],
    ),
];

#[test]
fn record_that_lost_a_character_costs_no_other_on_its_line() {
    for (text, expected) in ONE_LINE {
        assert_eq!(read(text), *expected, "{text}");
    }
}

#[test]
fn many_lines_that_break_off_cost_no_line_after_them() {
    for count in 1..15 {
        for broken in [
            "{\"a\":[1,",
            "{\"a\":",
            "{\"a\":\"x",
            "{",
            "{\"a\":[{\"b\":1},",
        ] {
            for around in [["", ""], ["[", "]"]] {
                let [begin, end] = around;
                let lines = format!("{broken}\n").repeat(count);
                let text = format!("{begin}\n{lines}{ONE},\n{TWO}\n{end}");
                let found = read(&text);
                assert_eq!(found.len(), count + 2, "{text} {found:?}");
                let whole = found.iter().filter(|record| !record.contains('!'));
                assert_eq!(whole.count(), 2, "{text} {found:?}");
            }
        }
    }
}

#[test]
fn record_that_breaks_off_costs_none_after_it_however_many_they_are() {
    let broken = r#"{"p":[{"a":1},"#;
    let one = |number| format!(r#"{{"s":{{"n":{number}}}}},"#);
    for count in [1, 5, 6, 7, 40] {
        for between in ["", "\n"] {
            // Once it shares its line with others, the objects of its list are taken for records.
            let expected = if between.is_empty() { 0 } else { count };
            let records: Vec<String> = (0..count).map(one).collect();
            let text = format!("[\n{broken}{between}{}\n]", records.join(between));
            let found = read(&text);
            let whole = found.iter().filter(|record| !record.contains('!'));
            assert!(whole.count() >= expected, "{text} {found:?}");
        }
    }
    let long = format!("{{\"a\":[{}\n{ONE},\n{TWO}\n]", "1,".repeat(60));
    assert_eq!(
        read(&format!("[\n{long}")),
        [
            "1!! The record is longer than 100 bytes.".to_owned(),
            format!("2 {ONE}"),
            format!("3 {TWO}")
        ]
    );
}

#[test]
fn broken_record_is_one_error_and_costs_no_other() {
    for (text, expected) in BROKEN {
        assert_eq!(read(text), *expected, "{text}");
    }
}

#[test]
fn text_that_ends_in_a_list_says_where() {
    for (text, expected) in [
        (
            "[",
            "1!!! The body ends too early, before the first element of the array.",
        ),
        (
            "[{},{}",
            "2!!! The body ends too early, after element 2 of the array.",
        ),
        (
            "[{},{",
            "2!!! The body ends too early, after element 2 of the array.",
        ),
        (
            "{\"rows\":[{}]",
            "1!!! The body ends too early, after element 1 of the array.",
        ),
        (
            "{\"rows\":[{}],\"a",
            "1!!! The body ends too early, after element 1 of the array.",
        ),
    ] {
        assert_eq!(read(text).last().unwrap(), expected, "{text}");
    }
}

#[test]
fn record_that_is_too_long_is_one_error_and_is_not_kept() {
    let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(92));
    assert_eq!(long.len(), 100);
    assert_eq!(read(&long), [format!("1 {long}")]);
    let longer = long.replacen('x', "xx", 1);
    let error = "The record is longer than 100 bytes.";
    for (text, expected) in [
        (
            format!("{longer}\n{ONE}"),
            vec![format!("1!! {error}"), format!("2 {ONE}")],
        ),
        (
            format!("[{longer},{ONE}]"),
            vec![format!("1!! {error}"), format!("2 {ONE}")],
        ),
        // One that breaks off as well.
        (
            format!("{}\n{ONE}", &longer[..90]),
            vec![format!("1! {}", &longer[..90]), format!("2 {ONE}")],
        ),
        (
            format!("{{\"y\":1,{}\n{ONE}\n", &longer[1..99]),
            vec![format!("1!! {error}"), format!("2 {ONE}")],
        ),
        (
            format!("{}\n{{\"b\":2}}{ONE}", "y".repeat(101)),
            vec![
                format!("1!! {error}"),
                "2 {\"b\":2}".to_owned(),
                format!("2 {ONE}"),
            ],
        ),
        // A page is no record, however much is before its list.
        (
            format!(r#"{{"n":"{}","rows":[{ONE}]}}"#, "x".repeat(200)),
            vec![format!("1 {ONE}")],
        ),
    ] {
        assert_eq!(read(&text), expected, "{text}");
    }
}

#[test]
fn depth_of_brackets_has_no_bound() {
    for count in [127, 128, 129, 1000] {
        let text = format!("{}{ONE}{}", "[".repeat(count), "]".repeat(count));
        assert_eq!(read_pieces(&[text.as_bytes()], LISTS), [format!("1 {ONE}")]);
        let text = format!(
            "{{\"a\":{}{}}}\n{ONE}",
            "[".repeat(count),
            "]".repeat(count)
        );
        let found = read_pieces(&[text.as_bytes()], LISTS);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[1], format!("2 {ONE}"));
    }
}

#[test]
fn lines_that_each_break_off_are_read_a_few_times_at_most() {
    let mut bytes = 0;
    let text = "{\"a\":[\n".repeat(20_000);
    let mut values = Values::new(1 << 20, LISTS);
    let mut count =
        |_: u64, record: Result<&[u8], NoRecord>| bytes += record.map_or(0, <[u8]>::len);
    values.push(text.as_bytes(), &mut count);
    let _ = values.finish(&mut count);
    assert!(bytes <= text.len(), "{bytes}");
}

/// Parts of texts that are whole and broken in many ways.
const PARTS: [&str; 20] = [
    "\n",
    "\n",
    "[",
    "]",
    ",",
    ",",
    "{",
    "}",
    "}}",
    ":",
    "\"",
    "\"x\"",
    " ",
    "{\"a\":1}",
    "{\"a\":{\"b\":1}}",
    "{\"a\":{\"b\":1}",
    "{\"rows\":[",
    "{\"a\":[{\"b\":\"",
    "x",
    "0123456789012345678901234567890123456789",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn any_text_cut_anywhere_has_the_same_records(parts in proptest::collection::vec(0..PARTS.len(), 0..40)) {
        let text: String = parts.into_iter().filter_map(|part| PARTS.get(part)).copied().collect();
        read(&text);
    }
}
