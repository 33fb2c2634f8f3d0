//! The test double, as the test suite of a client uses it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "a latency takes real time, which no injected clock measures"
)]
#![allow(clippy::too_many_lines, reason = "one case after the other")]

use std::panic::catch_unwind;
use std::time::{Duration, Instant};

use bytes::Bytes;
use deskfleet::testing::{
    CONTROLS, Double, DoubleOptions, Journal, MEMBERS, Rule, StorageFault, fleet,
};
use deskfleet::{Code, Engine, ErrorKind, ManualClock, NewKey, Scope};
use http::{Request, Response};

fn double() -> Double {
    let double = Double::open(DoubleOptions::default()).unwrap();
    double.engine().put_workspaces(fleet(3)).unwrap();
    double
}

fn ask(double: &Double, method: &str, url: &str, body: &str) -> Response<Bytes> {
    let request = Request::builder()
        .method(method)
        .uri(url)
        .header("x-api-key", double.key())
        .header("content-type", "application/json");
    double.handle(request.body(Bytes::from(body.to_owned())).unwrap())
}

fn post(double: &Double) -> Response<Bytes> {
    ask(double, "POST", "/api/Stats/Post", r#"{"username":"user1"}"#)
}

fn code(response: &Response<Bytes>) -> String {
    let problem: serde_json::Value = serde_json::from_slice(response.body()).unwrap();
    problem["code"].as_str().unwrap().to_owned()
}

/// A client that tries a reboot again while another action runs: what the double is for.
fn reboot(double: &Double, id: &str) -> Result<u32, u16> {
    for attempt in 1..=3 {
        let url = format!("/api/Actions/RebootWorkSpace?workSpaceId={id}");
        match ask(double, "POST", &url, "").status().as_u16() {
            200 => return Ok(attempt),
            409 => double.advance(Duration::from_secs(60)).unwrap(),
            other => return Err(other),
        }
    }
    Err(409)
}

#[test]
fn client_with_two_refusals_succeeds_at_the_third_attempt() {
    let double = double();
    let busy = Rule::operation("rebootWorkSpace").code(Code::OperationInProgress);
    double.fail(busy.times(2)).unwrap();
    assert_eq!(reboot(&double, "ws-000000001"), Ok(3));
    double.journal().assert_count("rebootWorkSpace", 3);
    // The reboot takes its time on the clock of the double.
    let state = || {
        let view = double.engine().workspace("ws-000000001").unwrap().unwrap();
        view.workspace.state.unwrap().to_string()
    };
    assert_eq!(state(), "REBOOTING");
    double.advance(Duration::from_secs(3600)).unwrap();
    assert_eq!(state(), "AVAILABLE");
}

#[test]
fn rule_with_after_and_times_applies_to_those_requests_alone() {
    let double = double();
    let rule = Rule::operation("postStats").code(Code::QueueFull);
    double.fail(rule.after(1).times(2)).unwrap();
    let statuses: Vec<_> = (0..5).map(|_| post(&double).status().as_u16()).collect();
    assert_eq!(statuses, [200, 503, 503, 200, 200]);
    assert_eq!(double.engine().queue_count(), 3, "a refusal stores nothing");
}

#[test]
fn rule_with_a_status_alone_has_no_body_and_any_rule_meets_every_request() {
    let double = double();
    double
        .fail(Rule::operation("*").status(502).times(2))
        .unwrap();
    let response = post(&double);
    assert_eq!(
        (response.status().as_u16(), response.body().len()),
        (502, 0)
    );
    assert_eq!(ask(&double, "GET", "/nowhere", "").status(), 502);
    assert_eq!(ask(&double, "GET", "/nowhere", "").status(), 404);
}

#[test]
fn refusal_of_a_rule_is_that_of_the_engine() {
    let double = double();
    for code in Code::ALL {
        let rule = Rule::operation("postStats").code(*code);
        double.fail(rule.times(1)).unwrap();
        let ours = post(&double);
        let theirs = double.engine().problem(*code, "", None);
        let read = |response: &Response<Bytes>| {
            let mut body: serde_json::Value = serde_json::from_slice(response.body()).unwrap();
            let members = body.as_object_mut().unwrap();
            assert!(members.remove("traceId").is_some());
            members.remove("detail");
            body
        };
        assert_eq!(ours.status(), theirs.status(), "{code:?}");
        assert_eq!(read(&ours), read(&theirs), "{code:?}");
        for (name, value) in theirs.headers() {
            assert_eq!(ours.headers().get(name), Some(value), "{code:?} {name}");
        }
        let has = |name: &str| ours.headers().contains_key(name);
        assert_eq!(has("retry-after"), matches!(code.status(), 429 | 503));
        assert_eq!(has("allow"), *code == Code::MethodNotAllowed);
    }
    // Byte for byte, with the trace id of the client, where the engine refuses by itself.
    double.engine().put_workspaces(fleet(1)).unwrap();
    let traced = |body: &str| {
        let request = Request::post("/api/Stats/Post")
            .header("content-type", "application/json")
            .header(
                "traceparent",
                "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            );
        double.handle(request.body(Bytes::from(body.to_owned())).unwrap())
    };
    double
        .fail(Rule::operation("postStats").code(Code::LowDisk).times(1))
        .unwrap();
    let by_rule = traced("{}");
    double.fail(Rule::storage(StorageFault::Full)).unwrap();
    assert_eq!(by_rule.body(), traced("{}").body());
}

#[test]
fn latency_takes_real_time_or_an_advance_of_the_clock() {
    let double = double();
    let rule = Rule::operation("postStats").times(1);
    double
        .fail(rule.clone().latency(Duration::from_millis(40)))
        .unwrap();
    let begun = Instant::now();
    assert_eq!(post(&double).status(), 200);
    assert!(begun.elapsed() >= Duration::from_millis(40));

    double.fail(rule.latency(Duration::from_secs(600))).unwrap();
    let other = double.clone();
    let waiting = std::thread::spawn(move || post(&other).status().as_u16());
    while !waiting.is_finished() {
        double.advance(Duration::from_secs(600)).unwrap();
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(waiting.join().unwrap(), 200);
    assert!(begun.elapsed() < Duration::from_secs(60));
}

#[test]
fn full_storage_refuses_writes_until_the_rule_is_gone() {
    let double = double();
    double.fail(Rule::storage(StorageFault::Full)).unwrap();
    assert_eq!(code(&post(&double)), "LowDisk");
    let read = ask(&double, "GET", "/api/Information/GetAllWorkSpaces", "");
    assert_eq!(read.status(), 200);
    double.clear_rules();
    assert_eq!(post(&double).status(), 200);
}

#[test]
fn slow_storage_holds_back_each_commit() {
    let double = double();
    let slow = Rule::storage(StorageFault::Slow).latency(Duration::from_millis(30));
    double.fail(slow).unwrap();
    let begun = Instant::now();
    assert_eq!(post(&double).status(), 200);
    assert!(begun.elapsed() >= Duration::from_millis(30));
}

#[test]
fn torn_write_loses_nothing_that_was_acknowledged() {
    for after in 0..8 {
        let double = double();
        assert_eq!(post(&double).status(), 200);
        double
            .fail(Rule::storage(StorageFault::Torn).after(after).times(1))
            .unwrap();
        let mut acknowledged = 1;
        let mut refused = Vec::new();
        for _ in 0..10 {
            let response = post(&double);
            match response.status().as_u16() {
                200 => acknowledged += 1,
                _ => refused.push(code(&response)),
            }
        }
        let known = ["StorageUnavailable", "Indeterminate"];
        assert!(
            refused.iter().all(|code| known.contains(&code.as_str())),
            "{refused:?}"
        );
        double.clear_rules();
        double.restart().unwrap();
        let kept = double.engine().queue_count();
        assert!(
            kept >= acknowledged,
            "{kept} of {acknowledged}, torn after {after}"
        );
        assert_eq!(
            double.engine().check().unwrap().problems,
            Vec::<String>::new()
        );
    }
}

#[test]
fn lost_sync_loses_acknowledged_writes_in_a_power_cut() {
    let double = double();
    assert_eq!(post(&double).status(), 200);
    double.fail(Rule::storage(StorageFault::LostSync)).unwrap();
    let engine = double.engine();
    assert_eq!(
        [post(&double), post(&double)].map(|of| of.status().as_u16()),
        [200; 2]
    );
    assert_eq!(double.engine().queue_count(), 3);
    double.clear_rules();
    double.restart().unwrap();
    assert_eq!(double.engine().queue_count(), 1);
    // The engine from before the cut reaches the new storage no more.
    assert_eq!(
        engine.put_workspaces(fleet(1)).unwrap_err().kind(),
        ErrorKind::StorageUnavailable
    );
    drop(engine);
    assert_eq!(post(&double).status(), 200, "the key is still accepted");
    assert_eq!(
        double.engine().check().unwrap().problems,
        Vec::<String>::new()
    );
}

#[test]
fn key_from_after_a_restart_is_no_key_from_before_it() {
    let double = double();
    let new = |name: &str| {
        let issued = double.engine().issue_key(NewKey::new(name, [Scope::Read]));
        issued.unwrap().secret
    };
    let mut keys = vec![double.key(), new("before")];
    double.restart().unwrap();
    keys.extend([new("after"), new("last")]);
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 4, "a secret was given twice");
}

#[test]
fn recorded_response_of_a_coded_body_has_no_coding() {
    let request = Request::get("/query/workspaces")
        .body(Bytes::new())
        .unwrap();
    let response = Response::builder()
        .header("content-encoding", "gzip")
        .header("content-type", "application/json");
    let mut journal = Journal::default();
    journal.record(&request, &response.body(Bytes::from_static(b"{}")).unwrap());
    let headers = &journal.exchanges[0].response_headers;
    assert_eq!(headers.keys().collect::<Vec<_>>(), ["content-type"]);
}

#[test]
fn journal_is_bounded_with_its_headers() {
    let double = double();
    for _ in 0..400 {
        let request = Request::get("/api/Stats/queue/count").header("accept", "a".repeat(400_000));
        let _ = double.handle(request.body(Bytes::new()).unwrap());
    }
    let kept = double.journal().exchanges.len();
    assert!((100..=167).contains(&kept), "{kept}");
}

#[test]
fn misspelled_rule_names_line_member_and_nearest_name() {
    for (json, line, words) in [
        (
            "[\n{\"opertaion\": \"postStats\"}]",
            2,
            ["\"opertaion\"", "\"operation\"?"],
        ),
        (
            "[\n\n{\"operation\": \"postStat\",\n\"status\": 502}]",
            3,
            ["\"postStat\"", "\"postStats\"?"],
        ),
        (
            "{\"operation\": \"postStats\",\n\"code\": \"QueFull\"}",
            2,
            ["\"QueFull\"", "\"QueueFull\"?"],
        ),
        ("{\"storage\": \"ful\"}", 1, ["\"ful\"", "\"full\"?"]),
        (
            "{\"storage\": \"full\", \"times\": 0}",
            1,
            ["times", "from 1 to 1000000"],
        ),
        (
            "{\"storage\": \"full\", \"times\": 1.5}",
            1,
            ["times", "whole number"],
        ),
        (
            "{\"storage\": \"full\", \"code\": \"LowDisk\"}",
            1,
            ["neither code", "status"],
        ),
        (
            "{\"storage\": \"full\", \"storage\": \"slow\"}",
            1,
            ["storage", "twice"],
        ),
        ("{\"storage\": \"slow\"}", 1, ["slow", "latency"]),
        (
            "{\"storage\": \"torn\", \"latency\": 5}",
            1,
            ["latency", "slow"],
        ),
        (
            "{\"operation\": \"postStats\"}",
            1,
            ["code, status", "latency"],
        ),
        ("{\"operation\": 7}", 1, ["operation", "string"]),
        ("{\"latency\": 7}", 1, ["operation", "storage"]),
        (
            "{\"operation\": \"postStats\", \"code\": \"QueueFull\", \"status\": 500}",
            1,
            ["500", "503"],
        ),
        (
            "{\"operation\": \"postStats\", \"status\": 200}",
            1,
            ["status", "from 400 to 599"],
        ),
    ] {
        let error = Rule::parse(json).unwrap_err().to_string();
        assert!(
            words.iter().all(|word| error.contains(word)),
            "{json}: {error}"
        );
        assert!(error.contains(&format!("line {line} ")), "{json}: {error}");
    }
    let double = double();
    let wrong = double
        .fail(Rule::operation("postStat").status(500))
        .unwrap_err();
    assert_eq!(wrong.kind(), ErrorKind::Configuration);
    assert!(wrong.context().contains("postStats"), "{wrong}");
    let both = Rule::parse(r#"[{"operation":"*","status":500},{"storage":"lost-sync","after":3}]"#);
    assert_eq!(both.unwrap().len(), 2);
    let texts = MEMBERS.iter().all(|member| member.text.ends_with('.'));
    assert!(texts && CONTROLS.iter().all(|control| control.text.ends_with('.')));
}

#[test]
fn journal_has_no_key_wherever_it_was_sent() {
    let double = double();
    let key = double.key();
    let foreign = "a-key-of-another-service";
    for (url, header, value) in [
        (
            "/api/Information/GetAllWorkSpaces".to_owned(),
            "x-api-key",
            key.clone(),
        ),
        (
            "/api/Information/GetAllWorkSpaces".to_owned(),
            "authorization",
            format!("Bearer {foreign}"),
        ),
        (
            format!("/query/workspaces?limit=1&apiKey={key}"),
            "x-a",
            String::new(),
        ),
        (
            format!("/query/workspaces?ap%69kEY={foreign}&limit=1"),
            "x-a",
            String::new(),
        ),
        (
            format!("/query/workspaces?%ff={foreign}"),
            "x-a",
            String::new(),
        ),
        (format!("/operator/workspaces/{key}"), "x-a", String::new()),
    ] {
        let request = Request::get(url).header(header, value);
        let _ = double.handle(request.body(Bytes::new()).unwrap());
    }
    let body = format!("{{\"name\":\"{key} {key}\",\"scopes\":[\"read\"]}}");
    let issued = ask(&double, "POST", "/operator/keys", &body);
    let issued: serde_json::Value = serde_json::from_slice(issued.body()).unwrap();
    let secret = issued["key"].as_str().unwrap();
    let journal = double.journal();
    assert_eq!(journal.exchanges.len(), 7);
    let text = serde_json::to_string(&journal).unwrap() + &format!("{journal:?}");
    for gone in [key.as_str(), secret, foreign, "dfk_", "Bearer a"] {
        assert!(!text.contains(gone), "{gone} in {text}");
    }
    assert_eq!(journal.exchanges[2].url, "/query/workspaces?limit=1");
    assert!(journal.bodies("issueKey")[0].contains("removed removed"));
}

#[test]
fn journal_asserts_counts_and_order() {
    let double = double();
    let _ = post(&double);
    let _ = ask(&double, "GET", "/api/Information/GetAllWorkSpaces", "");
    let _ = post(&double);
    let journal = double.journal();
    journal.assert_count("postStats", 2);
    journal.assert_order(&["postStats", "getAllWorkSpaces", "postStats"]);
    assert_eq!(journal.bodies("postStats"), [r#"{"username":"user1"}"#; 2]);
    let wrong = |run: &(dyn Fn() + std::panic::RefUnwindSafe)| catch_unwind(run).is_err();
    let journal = std::panic::AssertUnwindSafe(journal);
    let journal = &journal;
    assert!(wrong(&|| journal.assert_count("postStats", 1)));
    assert!(wrong(
        &|| journal.assert_order(&["getAllWorkSpaces", "getAllWorkSpaces"])
    ));
    double.clear_journal();
    assert_eq!(double.journal(), Journal::default());
}

#[test]
fn recorded_exchanges_replay_in_order_and_others_reach_the_engine() {
    // The real service: an engine of its own.
    let clock = ManualClock::new("2026-11-20T08:00:00Z".parse().unwrap());
    let real = Engine::builder()
        .clock(clock)
        .seed(2)
        .open_in_memory()
        .unwrap();
    let get = || {
        Request::get("/api/Stats/queue/count?apiKey=dfk_x")
            .body(Bytes::new())
            .unwrap()
    };
    let mut recorded = Journal::default();
    recorded.record(&get(), &real.handle(get()));
    let post = Request::post("/api/Stats/Post").header("content-type", "application/json");
    let _ = real.handle(
        post.body(Bytes::from_static(b"{\"username\":\"a\"}"))
            .unwrap(),
    );
    recorded.record(&get(), &real.handle(get()));

    let file = serde_json::to_string(&recorded).unwrap();
    let double = double();
    double.replay(serde_json::from_str(&file).unwrap());
    let count = |url: &str| {
        let response = ask(&double, "GET", url, "");
        String::from_utf8(response.body().to_vec()).unwrap()
    };
    let counts = [0; 3].map(|_| count("/api/Stats/queue/count"));
    assert_ne!(counts[0], counts[1]);
    assert_eq!(counts[1], counts[2], "the last one stays");
    assert_eq!(
        count("/api/Stats/queue/count?x=1"),
        counts[0],
        "the engine's own"
    );
}

#[test]
fn reset_gives_the_same_key_time_and_trace_ids_again() {
    let double = double();
    let run = || {
        double.engine().put_workspaces(fleet(2)).unwrap();
        double
            .fail(Rule::operation("postStats").code(Code::Throttled).times(1))
            .unwrap();
        let refused = post(&double);
        let list = ask(&double, "GET", "/api/Information/GetAllWorkSpaces", "");
        double.advance(Duration::from_millis(1500)).unwrap();
        (
            double.key(),
            double.now(),
            refused.into_body(),
            list.into_body(),
        )
    };
    double.reset().unwrap();
    let first = run();
    double.reset().unwrap();
    assert_eq!(run(), first);
    double.reset().unwrap();
    assert_eq!(double.journal(), Journal::default());
    assert_eq!(double.now(), DoubleOptions::default().clock);
    assert!(double.engine().workspace("ws-000000001").unwrap().is_none());
}

#[test]
fn control_requests_do_what_the_methods_do_and_are_not_in_the_journal() {
    let double = double();
    let send = |method: &str, path: &str, body: &str| {
        let response = ask(&double, method, path, body);
        let text = String::from_utf8(response.body().to_vec()).unwrap();
        (response.status().as_u16(), text)
    };
    assert_eq!(
        send(
            "POST",
            "/double/rules",
            r#"{"operation":"postStats","status":504}"#
        )
        .0,
        204
    );
    assert_eq!(post(&double).status(), 504);
    assert_eq!(send("DELETE", "/double/rules", "").0, 204);
    assert_eq!(
        send("POST", "/double/advance", r#"{"milliseconds":90000}"#).0,
        204
    );
    assert_eq!(
        send("GET", "/double", ""),
        (200, r#"{"now":"2026-01-01T00:01:30Z"}"#.to_owned())
    );
    let (_, journal) = send("GET", "/double/journal", "");
    let journal: Journal = serde_json::from_str(&journal).unwrap();
    assert_eq!(journal.operations(), ["postStats"]);
    assert_eq!(send("DELETE", "/double/journal", "").0, 204);
    assert_eq!(double.journal(), Journal::default());
    assert_eq!(send("POST", "/double/restart", "").0, 204);
    assert_eq!(send("POST", "/double/replay", "[]").0, 204);
    assert_eq!(send("POST", "/double/reset", "").0, 204);
    let (status, message) = send("POST", "/double/rules", r#"{"operatoin":"postStats"}"#);
    assert!(
        status == 400 && message.contains("\"operation\"?"),
        "{message}"
    );
    assert_eq!(send("POST", "/double/advance", r#"{"seconds":1}"#).0, 400);
    assert_eq!(
        send(
            "POST",
            "/double/advance",
            r#"{"milliseconds":315576000001}"#
        )
        .0,
        400
    );
    let (status, message) = send("POST", "/double/advnace", "");
    assert!(
        status == 404 && message.contains("/double/advance"),
        "{message}"
    );
    assert_ne!(send("GET", "/doubles", "").1, message);
}
