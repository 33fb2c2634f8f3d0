//! The cost of the worst telemetry, in instructions per byte posted: to accept it, to file it, and to read it. Families
//! of records are generated from seeds. Many of them are nearly alike in ways that once made loops quadratic: one
//! instance, one sent time, one field that differs, retries, reports of many processes. Each is counted at one size and
//! at four times that size.
//!
//! ```sh
//! cargo bench -p deskfleet-benches --bench cost                # the seeds of CI
//! cargo bench -p deskfleet-benches --bench cost -- --seeds 500 # a campaign
//! cargo bench -p deskfleet-benches --bench cost -- --seed 17   # one
//! ```
//!
//! It fails when a byte of the larger size takes more than [`GROWTH_MAX`] times the instructions of one of the smaller,
//! or more than [`RATIO_MAX`] times those of accepting a byte of ordinary telemetry. It also fails without valgrind,
//! unless `--optional` is given. Under `cargo test` one small family is run, uncounted.

#![expect(clippy::expect_used, reason = "a bench that cannot run must stop")]
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::fmt::Write;
use std::process::ExitCode;

use deskfleet::{Engine, HistoryQuery, Stream};
use deskfleet_benches::callgrind::{self, RUN};
use deskfleet_benches::figures::float;
use deskfleet_benches::{is_measuring, open};

/// Bytes of JSON of a family at its smaller size.
const BYTES: usize = 128 * 1024;
/// The larger size, as a multiple of that.
const SCALE: usize = 4;
/// The bound of the growth per byte at the larger size. A quadratic loop would be at nearly [`SCALE`].
const GROWTH_MAX: f64 = 2.0;
/// The bound of the cost of a byte in each phase, as a multiple of accepting a byte of ordinary telemetry.
const RATIO_MAX: f64 = 6.0;
/// Seeds that CI counts; 0 is ordinary telemetry.
const SEEDS: u64 = 8;
/// The phases that are counted, each in its own child process.
const PHASES: [&str; 4] = ["post", "read pending", "file", "read filed"];

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let number = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1)?.parse::<u64>().ok()
    };
    if let Some(seed) = number(RUN) {
        let scale = usize::try_from(number("--scale").expect("a scale")).expect("a scale");
        let phase = arguments.last().expect("a phase");
        println!("{}", run(seed, BYTES * scale, phase));
        return ExitCode::SUCCESS;
    }
    if !is_measuring() {
        println!("seed 1: {} bytes, not counted", run(1, 10_000, ""));
        return ExitCode::SUCCESS;
    }
    if !callgrind::is_there() {
        println!("valgrind is not installed, so no instructions can be counted");
        let optional = arguments.iter().any(|argument| argument == "--optional");
        return if optional {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        };
    }
    let ordinary = count(0, SCALE);
    show("0: ordinary telemetry", ordinary);
    let [accepting, ..] = ordinary;
    let seeds = match number("--seed") {
        Some(seed) => seed..=seed,
        None => 1..=number("--seeds").unwrap_or(SEEDS),
    };
    let mut holds = true;
    for seed in seeds {
        let (small, large) = (count(seed, 1), count(seed, SCALE));
        show(
            &format!("{seed}: {}", Family::from_seed(seed).name()),
            large,
        );
        for (name, (large, small)) in PHASES.into_iter().zip(large.into_iter().zip(small)) {
            let (growth, ratio) = (large / small, large / accepting);
            if growth > GROWTH_MAX || ratio > RATIO_MAX {
                println!(
                    "  {name} TOO HIGH: {growth:.2} times that of a quarter, {ratio:.2} of accepting"
                );
                holds = false;
            }
        }
    }
    if holds {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn show(name: &str, per_byte: [f64; PHASES.len()]) {
    println!("{name}");
    for (phase, count) in PHASES.iter().zip(per_byte) {
        println!("  {phase:12} {count:9.1} instructions a byte");
    }
}

/// Instructions for each byte posted, by phase.
fn count(seed: u64, scale: usize) -> [f64; PHASES.len()] {
    PHASES.map(|phase| {
        let arguments = [&seed.to_string(), "--scale", &scale.to_string(), phase];
        let counted = callgrind::count("*cost::counted*", &arguments);
        float(counted.total) / float(counted.printed)
    })
}

/// How the records of a family are alike.
struct Family {
    stream: Stream,
    /// After how many records an instance, a user, a sent time repeats; 1 means always the same one.
    instances: usize,
    users: usize,
    times: usize,
    /// `0` sends no time, `1` a believable one, `2` one far back.
    dating: u64,
    /// Whether each record is sent twice.
    retried: bool,
    /// Process items of a report.
    items: usize,
    /// Bytes of a text that is equal in all records.
    text: usize,
    /// Rounds of posts, each filed before the next.
    rounds: usize,
}

impl Family {
    fn from_seed(seed: u64) -> Self {
        // The low bits of a multiplication are poorly mixed; these are well mixed.
        let mut state = seed;
        let mut choose = |choices: &[usize]| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let at = usize::try_from(state >> 33).expect("31 bits") % choices.len();
            *choices.get(at).expect("a choice")
        };
        if seed == 0 {
            return Self {
                stream: Stream::Stats,
                instances: 100,
                users: 100,
                times: 100_000,
                dating: 1,
                retried: false,
                items: 0,
                text: 8,
                rounds: 2,
            };
        }
        let stream = Stream::ALL.get(choose(&[0, 0, 1, 2, 3]));
        let stream = *stream.expect("a stream");
        Self {
            stream,
            instances: choose(&[1, 1, 3, 1000]),
            users: choose(&[1, 1, 3, 1000]),
            times: choose(&[1, 1, 2, 100_000]),
            dating: choose(&[0, 1, 1, 2]) as u64,
            retried: choose(&[0, 0, 1]) == 1,
            items: if stream == Stream::Processes {
                choose(&[0, 1, 200, 4096])
            } else {
                0
            },
            text: choose(&[0, 8, 4000]),
            rounds: choose(&[1, 2, 4]),
        }
    }

    fn name(&self) -> String {
        format!(
            "{}, {} instances, {} users, {} times, dating {}, retried {}, {} items, {} bytes of text, {} rounds",
            self.stream.name(),
            self.instances,
            self.users,
            self.times,
            self.dating,
            self.retried,
            self.items,
            self.text,
            self.rounds
        )
    }

    /// A record that differs from the others of its instance and time only in its number.
    fn json(&self, number: usize) -> String {
        let (time, name) = match self.stream {
            Stream::Stats => ("updatetime", "osVersion"),
            Stream::Activity => ("activityTime", "activity"),
            Stream::Startup => ("baselineUtc", "computeTypeName"),
            Stream::Processes => ("createdDate", "computeTypeName"),
        };
        let (instance, user) = (number % self.instances, number % self.users);
        let mut json = format!(r#"{{"instanceId":"ws-{instance}","username":"user{user}""#);
        let step = number % self.times;
        let (minute, second) = (step / 60 % 60, step % 60);
        let day = match self.dating {
            0 => None,
            1 => Some("2026-11-20T07"),
            _ => Some("2001-01-01T07"),
        };
        if let Some(day) = day {
            write!(
                json,
                r#","{time}":"{day}:{minute:02}:{second:02}.{step:07}Z""#
            )
            .expect("a text");
        }
        let text = "x".repeat(if self.stream == Stream::Stats {
            self.text.min(20)
        } else {
            self.text
        });
        write!(json, r#","{name}":"{text}""#).expect("a text");
        match self.stream {
            Stream::Stats | Stream::Startup | Stream::Activity => {
                write!(json, r#","id":{number}}}"#).expect("a text");
            }
            Stream::Processes => {
                json.push_str(r#","processes":["#);
                for item in 0..self.items {
                    let usage = if item + 1 == self.items { number } else { 1 };
                    let comma = if item == 0 { "" } else { "," };
                    write!(
                        json,
                        r#"{comma}{{"processName":"a.exe","processorUsage":{usage}}}"#
                    )
                    .expect("a text");
                }
                json.push_str("]}");
            }
        }
        json
    }
}

/// Posts, files and reads about `bytes` bytes, one phase of it counted; returns the number of bytes posted.
fn run(seed: u64, bytes_max: usize, counted_phase: &str) -> usize {
    let count_in = |phase: &str, work: &mut dyn FnMut()| {
        if phase == counted_phase {
            counted(work);
        } else {
            work();
        }
    };
    let family = Family::from_seed(seed);
    let fixture = open(None, |_| {});
    let engine = &fixture.engine;
    let (mut number, mut bytes) = (0, 0);
    for round in 1..=family.rounds {
        let mut bodies = Vec::new();
        while bytes < bytes_max * round / family.rounds {
            let body = family.json(number);
            number += 1;
            for _ in 0..=usize::from(family.retried) {
                bytes += body.len();
                bodies.push(body.clone());
            }
        }
        count_in("post", &mut || {
            for bodies in bodies.chunks(64) {
                let mut batch = engine.batch();
                for body in bodies {
                    batch
                        .push_json(family.stream, body.as_bytes())
                        .expect("a record");
                }
                engine.record_batch(batch).expect("it is stored");
            }
        });
        count_in("read pending", &mut || read(engine, family.stream));
        count_in("file", &mut || {
            engine.file_pending().expect("it is filed");
        });
        count_in("read filed", &mut || read(engine, family.stream));
    }
    bytes
}

/// A page of a history, a user, and the activities of the last day.
fn read(engine: &Engine, stream: Stream) {
    for limit in [1, 500] {
        let page = engine.history(&HistoryQuery {
            limit,
            ..HistoryQuery::new(stream, "ws-0")
        });
        assert!(page.expect("a page").records.len() <= 500);
    }
    let _ = engine.user("user0").expect("a user");
    if stream == Stream::Activity {
        engine.activity_24_hours().expect("activities");
    }
}

/// The counted function: everything below it counts.
#[inline(never)]
fn counted(work: &mut dyn FnMut()) {
    work();
}
