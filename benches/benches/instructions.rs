//! Instructions of fixed pieces of work, counted by callgrind: figures that do not depend on the load of the host,
//! compared with those in `benches/instructions.txt`.
//!
//! ```sh
//! cargo bench -p deskfleet-benches --bench instructions             # fails when a count is more than 3 % up
//! cargo bench -p deskfleet-benches --bench instructions -- --bless  # writes the counts of now into the file
//! ```
//!
//! Each piece runs in a child process under valgrind, which counts only inside [`counted`]. Without valgrind this
//! fails, unless `--optional` is given. Under `cargo test` each piece runs once, uncounted.

#![expect(clippy::expect_used, reason = "a bench that cannot run must stop")]
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::process::{Command, ExitCode};
use std::task::{Context, Poll, Waker};
use std::thread;

use deskfleet::{CommitDriver, Engine, HistoryQuery, IssuedKey, NewKey, Scope, Stream};
use deskfleet_benches::callgrind::{self, RUN};
use deskfleet_benches::figures::float;
use deskfleet_benches::load::{self, LoneClient, StreamClient};
use deskfleet_benches::samples::{STEPS_A_DAY, instance_id};
use deskfleet_benches::{FILE as FIXTURE, Fixture, is_measuring, open, stats_json, stats_post};
use deskfleet_server::{Server, ServerOptions};
use http::StatusCode;
use tokio::sync::oneshot;

/// The accepted counts.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/instructions.txt");
/// A count this much above the file fails; one this much below asks for a new file.
const TOLERANCE: f64 = 0.03;
const POSTS: u64 = 64;

/// A piece of work; returns the number of its repetitions.
type Work = fn() -> u64;

const WORK: [(&str, Work); 13] = [
    ("post_in_batches_of_64", post),
    ("post_to_segments_in_batches_of_64", post_to_segments),
    ("serve_a_post", serve),
    ("serve_a_post_over_http2", serve_http2),
    ("get_test", get_test),
    ("page_of_50", page),
    ("file_a_record_of_10000", file),
    ("file_one_of_each_instance", file_one_of_each),
    ("query_24_hours", query),
    ("open_a_queued_record", open_queue),
    ("refuse_unknown_key", || refuse(unknown_key)),
    ("refuse_similar_key", || refuse(similar_key)),
    ("refuse_revoked_key", || refuse(revoked_key)),
];

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    if has(RUN) {
        let work = WORK.iter().find(|(name, _)| has(name)).expect("a work");
        println!("{}", work.1());
        return ExitCode::SUCCESS;
    }
    if !is_measuring() {
        for (name, work) in WORK {
            println!("{name}: {} times, not counted", work());
        }
        return ExitCode::SUCCESS;
    }
    if !callgrind::is_there() {
        println!("valgrind is not installed, so no instructions can be counted");
        return if has("--optional") {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        };
    }
    let counts: Vec<_> = WORK.iter().map(|(name, _)| (*name, count(name))).collect();
    let compiler = compiler();
    if has("--bless") {
        bless(&counts, &compiler);
        return ExitCode::SUCCESS;
    }
    if compare(&counts, &compiler) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The compiler in use, which the counts depend on.
fn compiler() -> String {
    let message = Command::new("rustc").arg("--version").output();
    let message = message.expect("rustc prints its version").stdout;
    String::from_utf8_lossy(&message).trim().to_owned()
}

/// Instructions per repetition of a piece of work.
fn count(name: &str) -> f64 {
    let counted = callgrind::count("*instructions::counted*", &[name]);
    float(counted.total) / float(counted.printed)
}

fn bless(counts: &[(&str, f64)], compiler: &str) {
    let mut text = format!(
        "# Instructions; `cargo bench -p deskfleet-benches --bench instructions -- --bless` writes this.\n# {compiler}\n"
    );
    for (name, count) in counts {
        println!("{name:24} {count:>12.0}");
        writeln!(text, "{name} {count:.0}").expect("a text");
    }
    fs::write(FILE, text).expect("the file is written");
}

/// Prints the counts beside those of the file; returns whether none is too high.
fn compare(counts: &[(&str, f64)], compiler: &str) -> bool {
    let file = fs::read_to_string(FILE).unwrap_or_default();
    let before: BTreeMap<&str, f64> = file
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(name, count)| Some((name, count.parse().ok()?)))
        .collect();
    let same_compiler = file.lines().any(|line| line == format!("# {compiler}"));
    if !same_compiler {
        println!(
            "The file's counts were taken with another compiler than {compiler}: too high ones do not fail."
        );
    }
    let mut holds = true;
    for (name, count) in counts {
        let change = before.get(name).map(|before| count / before - 1.0);
        let verdict = match change {
            None => "  not in the file: --bless",
            Some(change) if change > TOLERANCE => "  TOO HIGH",
            Some(change) if change < -TOLERANCE => "  faster: --bless",
            Some(_) => "",
        };
        let percent = change.unwrap_or_default() * 100.0;
        println!("{name:24} {count:>12.0} {percent:>+7.2} %{verdict}");
        holds &= change.is_some_and(|change| change <= TOLERANCE);
    }
    holds || !same_compiler
}

/// The counted function: everything below it counts.
#[inline(never)]
fn counted(work: &mut dyn FnMut()) {
    work();
}

/// Stats posts through the future, 64 to a commit, into the table of a store in memory.
fn post() -> u64 {
    post_to(&open(None, |config| {
        config.commit_driver = CommitDriver::Host;
    }))
}

/// The same into segments, as a server with a disk does it: what the core has in a post.
fn post_to_segments() -> u64 {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    post_to(&open(Some(folder.path()), |config| {
        config.commit_driver = CommitDriver::Host;
    }))
}

fn post_to(fixture: &Fixture) -> u64 {
    let engine = &fixture.engine;
    let batches = if callgrind::is_child() { 64 } else { 2 };
    let mut context = Context::from_waker(Waker::noop());
    for batch in 0..batches {
        let numbers = batch * POSTS..(batch + 1) * POSTS;
        let requests: Vec<_> = numbers
            .map(|number| stats_post(stats_json(number)))
            .collect();
        let mut requests = Some(requests);
        counted(&mut || {
            let requests = requests.take().unwrap_or_default().into_iter();
            let mut answers: Vec<_> = requests.map(|request| engine.call(request)).collect();
            for answer in &mut answers {
                assert!(Pin::new(answer).poll(&mut context).is_pending());
            }
            engine.commit_pending();
            for answer in &mut answers {
                let answer = Pin::new(answer).poll(&mut context);
                assert!(matches!(answer, Poll::Ready(answer) if answer.status() == StatusCode::OK));
            }
        });
    }
    batches * POSTS
}

/// Stats posts of one client through a whole server: what its event loop has in a post, until it is handed to the thread that commits.
fn serve() -> u64 {
    let posts = if callgrind::is_child() { 2000 } else { 4 };
    served(|address| {
        let mut client = LoneClient::connect(address);
        for number in 0..posts {
            let body = stats_json(number);
            let head = format!(
                "POST /api/Stats/Post HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            client.ask(&[head.as_bytes(), &body].concat());
        }
    });
    posts
}

/// The same over one connection of HTTP/2, a stream at a time.
fn serve_http2() -> u64 {
    let posts = if callgrind::is_child() { 2000 } else { 4 };
    served(|address| {
        load::runtime().block_on(async {
            let mut client = StreamClient::connect(address).await.expect("HTTP/2");
            for number in 0..posts {
                assert!(client.post(&stats_json(number)).await.expect("an answer"));
            }
        });
    });
    posts
}

/// Has `ask` ask a server on a thread of its own, whose instructions are counted, and no others: not those of the thread that commits.
fn served(ask: impl FnOnce(SocketAddr)) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let Fixture { engine, .. } = open(Some(folder.path()), |config| {
        config.commit_driver = CommitDriver::Thread;
    });
    let options = ServerOptions {
        maintain_every: None,
        ..ServerOptions::default()
    };
    let runtime = load::runtime();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let server = runtime.block_on(Server::bind(address, engine.clone(), options));
    let server = server.expect("a free port");
    let address = server.local_addr().expect("an address");
    let (stop, stopped) = oneshot::channel::<()>();
    thread::scope(|scope| {
        let mut server = Some(server.run(async { drop(stopped.await) }));
        scope.spawn(move || {
            counted(&mut || {
                let server = server.take().expect("a server");
                let drained = runtime.block_on(server).expect("it serves");
                assert_eq!(drained.cut_off, 0);
            });
        });
        ask(address);
        drop(stop);
    });
    // Not by the server's end, which is counted.
    engine.close().expect("it closes");
}

fn get_test() -> u64 {
    gets(
        "/api/Stats/Test",
        0,
        if callgrind::is_child() { 10_000 } else { 10 },
    )
}

fn page() -> u64 {
    let path = "/api/Information/GetAllWorkSpaces?limit=50";
    if callgrind::is_child() {
        gets(path, 10_000, 200)
    } else {
        gets(path, 100, 2)
    }
}

fn gets(path: &str, workspaces: usize, times: u64) -> u64 {
    let fixture = open(None, |_| {});
    fixture.fill(workspaces);
    ask(&fixture, path, times, StatusCode::OK)
}

/// Sends a request `n` times, and counts the successful responses.
fn ask(fixture: &Fixture, path: &str, times: u64, status: StatusCode) -> u64 {
    for _ in 0..times {
        let mut request = Some(fixture.get(path));
        counted(&mut || {
            let request = request.take().expect("a request");
            assert_eq!(fixture.engine.handle(request).status(), status);
        });
    }
    times
}

/// Filing samples of 1000 instances, first and once more on top of that.
fn file() -> u64 {
    if callgrind::is_child() {
        file_passes(2, 1000, 10)
    } else {
        file_passes(2, 10, 2)
    }
}

/// Filing one sample of each instance, time after time: as many rows of rollups as records.
fn file_one_of_each() -> u64 {
    if callgrind::is_child() {
        file_passes(6, 4000, 1)
    } else {
        file_passes(2, 10, 1)
    }
}

fn file_passes(passes: usize, instances: usize, steps: usize) -> u64 {
    let fixture = open(None, |_| {});
    for _ in 0..passes {
        fixture.sample(instances, steps);
        let mut filed = 0;
        counted(&mut || filed = fixture.engine.file_pending().expect("filing"));
        assert!(filed > 0, "nothing was filed");
    }
    u64::try_from(passes * instances * steps).expect("a count")
}

/// The last day of one instance out of 100, all filed.
fn query() -> u64 {
    let fixture = open(None, |_| {});
    let (instances, times) = if callgrind::is_child() {
        (100, 50)
    } else {
        (2, 2)
    };
    fixture.live(instances, 24);
    let from = fixture.engine.now().plus_seconds(-86_400);
    for instance in 0..times {
        let id = instance_id(usize::try_from(instance).expect("a count") % instances);
        counted(&mut || {
            let page = fixture.engine.history(&HistoryQuery {
                from: Some(from),
                limit: 500,
                ..HistoryQuery::new(Stream::Stats, &id)
            });
            assert_eq!(page.expect("a page").records.len(), STEPS_A_DAY);
        });
    }
    times
}

/// Opening a file with records of 1000 instances in its queue.
fn open_queue() -> u64 {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let (instances, steps) = if callgrind::is_child() {
        (1000, 20)
    } else {
        (10, 2)
    };
    let fixture = open(Some(folder.path()), |_| {});
    fixture.sample(instances, steps);
    fixture.engine.close().expect("it closes");
    counted(&mut || {
        let builder = Engine::builder().seed(1).clock(fixture.clock.clone());
        let engine = builder.open(folder.path().join(FIXTURE));
        drop(engine.expect("it opens"));
    });
    u64::try_from(instances * steps).expect("a count")
}

/// A request with a bad key, among a hundred good ones. The time of the response should not reveal what is wrong with
/// the key.
fn refuse(bad: fn(&Fixture) -> String) -> u64 {
    let mut fixture = open(None, |_| {});
    for number in 0..100 {
        issue(&fixture, number);
    }
    fixture.key = bad(&fixture);
    let times = if callgrind::is_child() { 10_000 } else { 10 };
    let path = "/api/Information/GetAdminActivity";
    ask(&fixture, path, times, StatusCode::UNAUTHORIZED)
}

fn unknown_key(fixture: &Fixture) -> String {
    let start = fixture.key.find('_').expect("a prefix") + 1;
    let (prefix, secret) = fixture.key.split_at(start);
    format!("{prefix}{}", "x".repeat(secret.len()))
}

fn similar_key(fixture: &Fixture) -> String {
    let (rest, last) = fixture.key.split_at(fixture.key.len() - 1);
    format!("{rest}{}", if last == "A" { "B" } else { "A" })
}

fn revoked_key(fixture: &Fixture) -> String {
    let issued = issue(fixture, 100);
    fixture.engine.revoke_key(issued.info.id).expect("revoked");
    issued.secret
}

fn issue(fixture: &Fixture, number: usize) -> IssuedKey {
    let key = NewKey::new(format!("key {number}"), Scope::ALL);
    fixture.engine.issue_key(key).expect("a key is issued")
}
