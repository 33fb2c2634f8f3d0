//! Bodies in pieces, against the same bodies whole.

use bytes::Bytes;
use http::{Request, Response};
use proptest::prelude::*;

use crate::clock::ManualClock;
use crate::config::Config;
use crate::model::{NewKey, Received, Scope, Stream};
use crate::view::history::HistoryQuery;

use super::*;

/// An engine, and a request with a key of it and without a body.
fn engine(configure: impl FnOnce(&mut Config)) -> (Engine, Parts) {
    let mut config = Config::default();
    configure(&mut config);
    let engine = Engine::builder()
        .clock(ManualClock::new("2026-11-20".parse().unwrap()))
        .seed(1)
        .config(config)
        .open_in_memory()
        .unwrap();
    let new = NewKey::new("a", [Scope::Admin]);
    let key = engine.issue_key(new).unwrap().secret;
    let request = Request::post("/operator/telemetry").header("x-api-key", key);
    let (head, ()) = request.body(()).unwrap().into_parts();
    (engine, head)
}

fn finish(exchange: Exchange) -> Response<Bytes> {
    let mut future = exchange.finish();
    let mut context = Context::from_waker(std::task::Waker::noop());
    loop {
        if let Poll::Ready(response) = std::pin::Pin::new(&mut future).poll(&mut context) {
            return response.map(|body| body.into_bytes().unwrap());
        }
    }
}

fn whole(engine: &Engine, head: &Parts, body: &[u8]) -> Response<Bytes> {
    let body = Bytes::copy_from_slice(body);
    engine.handle(Request::from_parts(head.clone(), body))
}

fn in_pieces(engine: &Engine, head: &Parts, pieces: &[&[u8]]) -> Response<Bytes> {
    let mut exchange = engine.begin(head.clone());
    for piece in pieces {
        exchange.push(piece);
    }
    finish(exchange)
}

fn records(engine: &Engine) -> Vec<Received> {
    let of = |stream| engine.history(&HistoryQuery::new(stream, "ä")).unwrap();
    let pages = Stream::ALL.into_iter().map(of);
    pages.flat_map(|page| page.records).collect()
}

const LINES: [&[u8]; 12] = [
    "{\"stats\":{\"id\":1,\"instanceId\":\"ä\"}}".as_bytes(),
    "{\"stats\":{\"InstanceId\":\"\\u00e4\",\"username\":\"j€𝄞\"}}".as_bytes(),
    "\u{feff}{\"startup\":{\"instanceId\":\"ä\"}}".as_bytes(),
    " {\"activity\" : {\"instanceId\":\"ä\"}}\t".as_bytes(),
    b"{\"processes\":{\"processes\":[{}]}}",
    b"",
    b" \t",
    "\u{feff}".as_bytes(),
    b"x",
    b"{\"stats\":{\"id\":\"1\"}}",
    b"{\"stats\":{\"username\":\"\xff\"}}",
    // Longer than the lines of these engines may be.
    &[b' '; 200],
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn any_cut_gives_the_same_answer_and_the_same_records(
        lines in proptest::collection::vec((0..LINES.len(), any::<bool>()), 0..12),
        ends in any::<bool>(),
        cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..20),
    ) {
        let mut body = Vec::new();
        for (line, returns) in &lines {
            body.extend_from_slice(LINES[*line]);
            body.extend_from_slice(if *returns { b"\r\n" } else { b"\n" });
        }
        if !ends {
            body.pop();
        }
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
        cuts.extend([0, body.len()]);
        cuts.sort_unstable();
        let pieces: Vec<_> = cuts.windows(2).map(|cut| &body[cut[0]..cut[1]]).collect();
        let bytes: Vec<_> = body.chunks(1).collect();

        let small = |config: &mut Config| {
            config.limits.record_body_bytes = 100;
            config.limits.processes_body_bytes = 100;
        };
        let (expected, head) = engine(small);
        let answer = whole(&expected, &head, &body);
        for pieces in [&pieces, &bytes] {
            let (found, head) = engine(small);
            let streamed = in_pieces(&found, &head, pieces);
            prop_assert_eq!(streamed.status(), answer.status());
            prop_assert_eq!(streamed.body(), answer.body());
            prop_assert_eq!(streamed.headers(), answer.headers());
            prop_assert_eq!(records(&found), records(&expected));
            prop_assert_eq!(found.queue_count(), expected.queue_count());
        }
    }

    #[test]
    fn batch_in_any_shape_and_cut_anywhere_is_the_same_batch(
        texts in proptest::collection::vec(0..RECORDS.len(), 1..8),
        shape in 0..SHAPES.len(),
        pretty in any::<bool>(),
        cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..6),
    ) {
        let compact: Vec<_> = texts.iter().map(|text| RECORDS[*text].0).collect();
        let (expected, head) = engine(|_| {});
        let answer = whole(&expected, &head, compact.join("\n").as_bytes());
        let (begin, between, end) = SHAPES[shape];
        let indented: Vec<_> = texts.iter().map(|text| RECORDS[*text].1).collect();
        let shaped = if pretty { indented } else { compact };
        let body = [begin, &shaped.join(between), end].concat().into_bytes();
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
        cuts.extend([0, body.len()]);
        cuts.sort_unstable();
        let pieces: Vec<_> = cuts.windows(2).map(|cut| &body[cut[0]..cut[1]]).collect();
        let (found, head) = engine(|_| {});
        let streamed = in_pieces(&found, &head, &pieces);
        prop_assert_eq!(streamed.body(), answer.body());
        prop_assert_eq!(records(&found), records(&expected));
    }
}

/// Records in one line, and over several.
const RECORDS: [(&str, &str); 4] = [
    (
        r#"{"stats":{"instanceId":"ä","id":1,"username":"a\"},{[\\"}}"#,
        "{\n  \"stats\": {\n    \"instanceId\": \"ä\",\r\n    \"id\": 1,\n    \"username\": \"a\\\"},{[\\\\\"\n  }\n}",
    ),
    (
        r#"{"activity":{"instanceId":"ä","activity":"}{"}}"#,
        "{\"activity\":\n{\"instanceId\":\"ä\",\n\"activity\":\"}{\"}\n}",
    ),
    (
        r#"{"processes":{"instanceId":"ä","processes":[{"processName":"a"},{"processName":"]"}]}}"#,
        "{\n\"processes\":\n{\n\"instanceId\":\"ä\",\n\"processes\":\n[\n{\n\"processName\":\"a\"\n},\n{\"processName\":\"]\"}\n]\n}\n}",
    ),
    (
        r#"{"startup":{"instanceId":"ä"}}"#,
        "{\n\t\"startup\"\n: {\n\t\t\"instanceId\": \"ä\"\n\t}\n}",
    ),
];

/// What is before, between and after the records.
const SHAPES: [(&str, &str, &str); 8] = [
    ("", "\r\n", ""),
    ("", "", ""),
    ("", " \t", "\n"),
    ("[", ",", "]"),
    ("[\n", "\n,\n", "\n]\n"),
    ("[", "]\n[", "]"),
    ("[[", "],[", "]]"),
    ("\u{feff}", ",\n", ",\n"),
];

#[test]
fn record_of_a_batch_is_bounded_and_a_longer_one_is_an_error_of_its_own() {
    let (engine, head) = engine(|_| {});
    let line = |bytes: usize| {
        let mut line = b"{\"stats\":{}".to_vec();
        line.resize(bytes - 1, b' ');
        line.extend(b"}\n");
        line
    };
    let max = 1024 * 1024 + 64;
    let body = [line(20), line(max), line(max + 1), line(20)].concat();
    let expected = format!(
        r#"{{"accepted":3,"rejected":1,"errors":[{{"line":3,"message":"The record is longer than {max} bytes."}}],"warnings":[]}}"#
    );
    assert_eq!(whole(&engine, &head, &body).body(), expected.as_bytes());
    for size in [1000, 65_536, body.len() - 1] {
        let mut exchange = engine.begin(head.clone());
        for piece in body.chunks(size) {
            exchange.push(piece);
            assert!(exchange.bytes() < 2 * max + 10_000, "{exchange:?}");
        }
        assert_eq!(finish(exchange).body(), expected.as_bytes());
    }
}

#[test]
fn batch_keeps_the_records_and_not_their_text() {
    let (engine, head) = engine(|_| {});
    let mut exchange = engine.begin(head);
    let mut text = 0;
    for id in 0..20_000 {
        let unknown = "a property that nobody keeps, and a line that is refused";
        let line = format!("{{\"stats\":{{\"id\":{id},\"more\":\"{unknown}\"}}}}\n{unknown}\n");
        text += line.len();
        exchange.push(line.as_bytes());
    }
    assert!(exchange.bytes() * 5 < text, "{exchange:?} of {text}");
    let answer = finish(exchange);
    let answer = std::str::from_utf8(answer.body()).unwrap();
    assert!(answer.starts_with(r#"{"accepted":20000,"rejected":20000,"errors":["#));
    let (errors, warnings) = answer.split_once(r#""warnings":"#).unwrap();
    assert_eq!(errors.matches("\"line\":").count(), 100);
    assert_eq!(warnings.matches("\"line\":").count(), 1);
}

#[test]
fn exchange_that_does_not_end_or_is_refused_leaves_nothing() {
    let (engine, head) = engine(|config| {
        config.limits.batch_body_bytes = 40;
        config.limits.queue_records = 2;
    });
    let line = b"{\"stats\":{}}\n";
    let begun = || {
        let mut exchange = engine.begin(head.clone());
        exchange.push(line);
        assert!(!exchange.is_refused() && exchange.bytes() > 0);
        exchange
    };
    let refused = |exchange: Exchange, status: u16, code: &str| {
        let answer = finish(exchange);
        assert_eq!(answer.status(), status);
        let told = String::from_utf8_lossy(answer.body());
        assert!(told.ends_with(&format!("\"code\":\"{code}\"}}")), "{told}");
        assert_eq!(engine.queue_count(), 0);
    };
    drop(begun());

    let mut exchange = begun();
    exchange.push(&[b' '; 28]);
    assert!(exchange.is_refused() && exchange.bytes() == 0);
    exchange.push(b"\n{}\n");
    exchange.broken("Too late.");
    refused(exchange, 413, "PayloadTooLarge");

    let mut exchange = begun();
    exchange.too_large();
    refused(exchange, 413, "PayloadTooLarge");

    let mut exchange = begun();
    exchange.broken("Damaged.");
    exchange.too_large();
    refused(exchange, 400, "InvalidBody");

    let mut exchange = begun();
    exchange.push(line);
    exchange.push(line);
    refused(exchange, 503, "QueueFull");

    let mut exchange = begun();
    exchange.push(line);
    let _submitted = exchange.finish();
    engine.commit_pending();
    assert_eq!(engine.queue_count(), 2);
}

#[test]
fn exchange_checks_the_head_when_it_begins() {
    let (engine, head) = engine(|config| config.limits.uri_bytes = 100);
    let other = |change: fn(&mut Parts)| {
        let mut head = head.clone();
        change(&mut head);
        head
    };
    let operation = |head| engine.begin(head).route().map(|route| route.operation_id);
    for (head, expected) in [
        (other(|head| head.method = http::Method::GET), None),
        (
            other(|head| head.uri = "/operator/telemetry/x".parse().unwrap()),
            None,
        ),
        (
            other(|head| head.uri = "/operator/workspaces".parse().unwrap()),
            Some("importWorkspaces"),
        ),
        (
            other(|head| head.uri = "/Operator/TELEMETRY/".parse().unwrap()),
            Some("postTelemetryBatch"),
        ),
    ] {
        assert_eq!(operation(head), expected);
    }
    assert!(!engine.begin(head.clone()).is_refused());
    for (head, status) in [
        (other(|head| drop(head.headers.remove("x-api-key"))), 401),
        (
            other(|head| head.uri = "/operator/telemetry?x=%".parse().unwrap()),
            400,
        ),
        (
            other(|head| {
                head.uri = format!("/operator/telemetry?{}", "x".repeat(100))
                    .parse()
                    .unwrap();
            }),
            414,
        ),
        (
            other(|head| {
                drop(
                    head.headers
                        .insert("content-encoding", "br".parse().unwrap()),
                );
            }),
            415,
        ),
        (other(|head| head.method = http::Method::PUT), 405),
    ] {
        // So that both responses name the same trace.
        let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let mut head = head;
        head.headers.insert("traceparent", trace.parse().unwrap());
        let mut exchange = engine.begin(head.clone());
        assert!(exchange.is_refused());
        exchange.push(b"{\"stats\":{}}");
        exchange.too_large();
        let streamed = finish(exchange);
        assert_eq!(streamed.status(), status);
        assert_eq!(streamed.body(), whole(&engine, &head, b"").body());
    }
    assert_eq!(engine.queue_count(), 0);
}

#[test]
fn body_of_any_other_endpoint_is_kept_up_to_its_limit() {
    let (engine, head) = engine(|_| {});
    let mut head = head;
    head.uri = "/api/Stats/Post".parse().unwrap();
    head.method = http::Method::POST;
    head.headers
        .insert("content-type", "application/json".parse().unwrap());
    let max = 64 * 1024;
    let mut body = br#"{"username":"jdoe"}"#.to_vec();
    for (length, status) in [(19, 200), (max, 200), (max + 1, 413)] {
        body.resize(length, b' ');
        for size in [1, 1000, 40_000, body.len()] {
            let mut exchange = engine.begin(head.clone());
            assert_eq!(exchange.body_bytes_max(), max);
            for piece in body.chunks(size) {
                exchange.push(piece);
                assert!(exchange.bytes() <= max, "{exchange:?}");
            }
            assert_eq!(exchange.is_refused(), status == 413);
            assert_eq!(finish(exchange).status(), status);
        }
    }
    head.headers.insert("content-length", body.len().into());
    head.headers
        .insert("content-encoding", "br".parse().unwrap());
    let mut refused = engine.begin(head);
    refused.push(&body);
    assert_eq!(refused.bytes(), 0, "nobody reads it");
    assert_eq!(finish(refused).status(), 415);
}

#[test]
fn whole_body_takes_no_more_memory_than_its_declared_length() {
    let (engine, mut head) = engine(|_| {});
    head.uri = "/api/Stats/PostProcesses".parse().unwrap();
    head.headers
        .insert("content-type", "application/json".parse().unwrap());
    head.headers.insert("content-length", 3000.into());
    let mut exchange = engine.begin(head);
    for _ in 0..30 {
        exchange.push(&[b' '; 100]);
    }
    assert_eq!(exchange.bytes(), 3000);
}
