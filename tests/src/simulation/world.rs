//! The engine under simulation and everything around it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use deskfleet::{CommitDriver, Config, Engine, Event, NewKey, Scope, Timestamp};
use fastrand::Rng;
use http::Request;

use crate::files::Queue;
use crate::model::hosting;
use crate::model::rules::HOSTED;

use super::calls::{Call, answer, ending, typed};
use super::disk::Disk;
use super::fact::{Answer, Ending, Fact, Intent, Mark, Observer, Upkeep};
use super::fault::Fault;
use super::fault_schedule::Time;
use super::fleet::{STABLE, json, stable_json};
use super::providers::Provider;
use super::reader::AcceptedReader;
use super::reading::{Probe, read};
use super::{Outcome, Tally};

/// Facts that are shown with a broken promise.
const LAST_FACTS: usize = 30;
/// Most steps of a run.
const STEPS_MAX: u32 = 200;

/// An event as text, and the count of [`Event::Filed`].
type EventText = (String, Option<u64>);

/// The events of the engine.
#[derive(Debug, Clone, Default)]
pub(super) struct Heard(Arc<Mutex<Vec<EventText>>>);

impl Heard {
    pub(super) fn take(&self) -> Vec<EventText> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether telemetry was filed that no observer has seen yet.
    fn has_filed(&self) -> bool {
        let heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        heard.iter().any(|(_, filed)| filed.is_some())
    }

    pub(super) fn record_event(&self, event: &Event<'_>) {
        let filed = if let Event::Filed { records } = event {
            Some(*records)
        } else {
            None
        };
        let mut heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        heard.push((format!("{event:?}"), filed));
    }
}

/// One run.
pub(super) struct World {
    pub(super) chance: Rng,
    pub(super) time: Time,
    pub(super) disk: Disk,
    /// Where the queue of the engine is.
    pub(super) queue: Queue,
    pub(super) seed: u64,
    pub(super) opened: u64,
    pub(super) config: Config,
    pub(super) engine: Option<Engine>,
    pub(super) heard: Heard,
    pub(super) reader: Option<AcceptedReader>,
    observers: Vec<Box<dyn Observer>>,
    pub(super) calls: Vec<Call>,
    next_call: u64,
    pub(super) next_record: i32,
    /// Records that were sent, for retries.
    pub(super) sent: Vec<Mark>,
    pub(super) providers: [Provider; 2],
    /// How many processes of providers there were.
    pub(super) processes: u32,
    /// The key with all scopes.
    pub(super) key: String,
    /// Other keys with their secrets.
    pub(super) keys: BTreeMap<u64, String>,
    /// The engine's time of the last sweep.
    pub(super) swept: Timestamp,
    /// Encodes a record as the engine does, without storing it there.
    probe: Probe,
    /// Records that were there when everything was last read.
    records: u64,
    /// The token of the next page of the walk under way.
    pub(super) token: Option<String>,
    transcript: String,
    pub(super) tally: Tally,
}

impl World {
    /// A new fleet on this empty disk.
    pub(super) fn new(
        seed: u64,
        disk: Disk,
        observers: Vec<Box<dyn Observer>>,
    ) -> Result<Self, String> {
        let mut chance = Rng::with_seed(seed);
        let mut config = hosting(&HOSTED);
        config.commit_driver = if chance.bool() {
            CommitDriver::Host
        } else {
            CommitDriver::Caller
        };
        config.quick_repair = chance.u32(..4) == 0;
        config.limits.queue_records = chance.choice([40, 1000]).unwrap_or(40);
        config.limits.queue_high_water = chance.choice([15, 60, 2000]).unwrap_or(60);
        config.limits.cache_bytes = 1024 * 1024;
        let start: Timestamp = "2026-11-20T12:00:00Z".parse().map_err(|_| "a start")?;
        let mut world = Self {
            chance,
            time: Time::new(start),
            disk,
            queue: Queue::Table,
            seed,
            opened: 0,
            config,
            engine: None,
            heard: Heard::default(),
            reader: AcceptedReader::of_seed(seed),
            observers,
            calls: Vec::new(),
            next_call: 0,
            next_record: 0,
            sent: Vec::new(),
            providers: [Provider::new(0), Provider::new(1)],
            processes: 2,
            key: String::new(),
            keys: BTreeMap::new(),
            swept: start,
            probe: Probe::new()?,
            records: 0,
            token: None,
            transcript: String::new(),
            tally: Tally::default(),
        };
        world.clock_moved()?;
        world.choose_queue();
        world.open()?;
        world.read_accepted(true)?;
        world.key = world.issue_first()?;
        for desk in STABLE {
            let target = format!("/operator/workspaces/{desk}");
            let put = super::fleet::request(http::Method::PUT, &target, &world.key, stable_json());
            world.ask(&Intent::Put(desk), put)?;
        }
        Ok(world)
    }

    fn issue_first(&mut self) -> Result<String, String> {
        let issued = self
            .engine()?
            .issue_key(NewKey::new("simulation", Scope::ALL));
        let issued = issued.map_err(|error| error.to_string())?;
        self.notify(&Fact::Issued(issued.info.id, &issued.secret))?;
        Ok(issued.secret)
    }

    /// Runs all steps and a last reading.
    pub(super) fn live(mut self) -> Result<Outcome, String> {
        let steps = self.chance.u32(STEPS_MAX / 3..STEPS_MAX);
        for _ in 0..steps {
            self.step()?;
            self.may_read_accepted()?;
        }
        self.repair_and_read()?;
        let holds_key = self.disk.holds("dfk_");
        self.notify(&Fact::Disk(holds_key))?;
        self.tally.faults = self.disk.met();
        Ok(Outcome {
            transcript: self.transcript,
            tally: self.tally,
        })
    }

    /// The engine; absent only between a power cut and the next opening.
    pub(super) fn engine(&self) -> Result<Engine, String> {
        self.engine.clone().ok_or_else(|| "no engine".to_owned())
    }

    /// Shows a fact to every observer.
    pub(super) fn notify(&mut self, fact: &Fact<'_>) -> Result<(), String> {
        writeln!(self.transcript, "{fact:?}").map_err(|error| error.to_string())?;
        for observer in &mut self.observers {
            if let Err(broken) = observer.see(fact) {
                let lines: Vec<_> = self.transcript.lines().rev().take(LAST_FACTS).collect();
                let last: Vec<_> = lines
                    .iter()
                    .rev()
                    .map(|line| line.chars().take(400).collect::<String>())
                    .collect();
                return Err(format!(
                    "{}\nbroken: {}: {broken}",
                    last.join("\n"),
                    observer.promise()
                ));
            }
        }
        Ok(())
    }

    /// Whether calls commit by themselves.
    pub(super) fn callers_commit(&self) -> bool {
        self.config.commit_driver == CommitDriver::Caller
    }

    fn number(&mut self, intent: &Intent) -> Result<u64, String> {
        self.next_call += 1;
        self.tally.calls += 1;
        let now = self.time.now();
        self.notify(&Fact::Sent(self.next_call, intent, now))?;
        Ok(self.next_call)
    }

    /// Sends a request and leaves it pending.
    pub(super) fn send(&mut self, intent: Intent, request: Request<Bytes>) -> Result<(), String> {
        let number = self.number(&intent)?;
        let future = Some(Box::pin(self.engine()?.call(request)));
        self.calls.push(Call {
            number,
            intent,
            future,
        });
        Ok(())
    }

    /// Sends a request that writes and waits for its answer. Pending calls are committed with it and answered before
    /// it.
    pub(super) fn ask(
        &mut self,
        intent: &Intent,
        request: Request<Bytes>,
    ) -> Result<Answer, String> {
        let number = self.number(intent)?;
        let answer = answer(&self.engine()?.handle(request));
        self.end_calls()?;
        self.answered(number, intent, &answer)?;
        self.hear()?;
        Ok(answer)
    }

    /// Sends a request that only reads; pending calls stay pending, unless it commits them and files.
    pub(super) fn look_up(
        &mut self,
        intent: &Intent,
        request: Request<Bytes>,
    ) -> Result<Answer, String> {
        let number = self.number(intent)?;
        let answer = answer(&self.engine()?.handle(request));
        if self.heard.has_filed() {
            self.collect()?;
        }
        self.answered(number, intent, &answer)?;
        Ok(answer)
    }

    /// Makes a typed call that writes.
    pub(super) fn typed<T: std::fmt::Debug>(
        &mut self,
        intent: &Intent,
        call: impl FnOnce(&Engine) -> deskfleet::Result<T>,
    ) -> Result<Ending, String> {
        let number = self.number(intent)?;
        let answer = typed(&call(&self.engine()?));
        self.end_calls()?;
        let ending = self.answered(number, intent, &answer)?;
        self.hear()?;
        Ok(ending)
    }

    fn answered(
        &mut self,
        number: u64,
        intent: &Intent,
        answer: &Answer,
    ) -> Result<Ending, String> {
        let ending = ending(answer);
        match (&ending, intent) {
            (Ending::Done, Intent::Telemetry(marks)) => {
                self.tally.done += 1;
                self.tally.records += marks.len() as u64;
            }
            (Ending::Done, _) => self.tally.done += 1,
            (Ending::Unknown, _) => self.tally.unknown += 1,
            (Ending::Refused(_), _) => {}
        }
        self.notify(&Fact::Answered(number, intent, &ending, answer))?;
        if let (Intent::IssueKey(_), Ending::Done) = (intent, &ending) {
            let issued: serde_json::Value =
                serde_json::from_str(&answer.body).map_err(|error| error.to_string())?;
            let (id, key) = (issued["id"].as_u64(), issued["key"].as_str());
            let (id, key) = id.zip(key).ok_or("an issued key without id or key")?;
            self.keys.insert(id, key.to_owned());
            self.notify(&Fact::Issued(id, key))?;
        }
        Ok(ending)
    }

    /// Commits pending calls, and notes their ends and the events of the engine.
    pub(super) fn collect(&mut self) -> Result<(), String> {
        self.end_calls()?;
        self.hear()
    }

    /// Commits pending calls and notes their ends, in the order in which they were sent.
    fn end_calls(&mut self) -> Result<(), String> {
        self.engine()?.commit_pending();
        for mut call in std::mem::take(&mut self.calls) {
            if call.future.is_none() {
                self.tally.unknown += 1;
                self.notify(&Fact::Lost(call.number, &call.intent))?;
                continue;
            }
            let response = call.poll();
            let response = response.ok_or_else(|| format!("{call:?} never ends"))?;
            self.answered(call.number, &call.intent, &answer(&response))?;
        }
        Ok(())
    }

    /// Notes the events of the engine.
    pub(super) fn hear(&mut self) -> Result<(), String> {
        for (text, filed) in self.heard.take() {
            self.notify(&Fact::Log(&text))?;
            if let Some(records) = filed {
                self.tally.filed += records;
                self.notify(&Fact::Filed(records))?;
            }
            if text.starts_with("CommitFailed") {
                self.notify(&Fact::Upkeep(false))?;
            }
        }
        Ok(())
    }

    /// Reads the engine's time of the last sweep.
    pub(super) fn see_swept(&mut self, how: Upkeep) -> Result<(), String> {
        self.swept = self.probe.swept(&self.engine()?, &self.time)?;
        self.notify(&Fact::Swept(how, self.time.now(), self.swept))
    }

    /// Stores a record: what a failed write left in doubt in the segments is settled by the next record alone.
    fn settle_queue(&mut self) -> Result<(), String> {
        let mut refused = 0;
        while self.queue == Queue::Folder {
            let mark = self.mark();
            let body = json(&mark);
            let stream = mark.stream;
            let ended = self.typed(&Intent::Telemetry(vec![mark]), |engine| {
                let mut batch = engine.batch();
                batch.push_json(stream, body.as_bytes())?;
                Ok(engine.record_batch(batch)?)
            })?;
            match ended {
                Ending::Done => break,
                Ending::Refused(code) if code == "QueueFull" => {
                    let filed = self.engine()?.file_pending();
                    self.collect()?;
                    self.notify(&Fact::Upkeep(filed.is_ok()))?;
                }
                Ending::Refused(_) | Ending::Unknown => {
                    refused += 1;
                    self.notify(&Fact::Refusing(refused))?;
                }
            }
        }
        Ok(())
    }

    /// Repairs the disk, writes once so that what can be seen is durable, and reads everything.
    pub(super) fn repair_and_read(&mut self) -> Result<(), String> {
        self.disk.fail(None, Fault::None, false);
        self.collect()?;
        let mut refused = 0;
        loop {
            let held = STABLE[0];
            let hold = |engine: &Engine| engine.place_hold(held, "a look", None);
            if self.typed(&Intent::Hold(held), hold)? == Ending::Done {
                break;
            }
            refused += 1;
            self.notify(&Fact::Refusing(refused))?;
        }
        self.settle_queue()?;
        self.tally.readings += 1;
        let limit = self.chance.choice([1, 3, 100]).unwrap_or(3);
        let reading = read(&self.engine()?, limit).map_err(|error| format!("{error:?}"))?;
        let records = reading.records.values().map(Vec::len).sum::<usize>() as u64;
        self.tally.removed += self.records.saturating_sub(records);
        self.records = records;
        self.notify(&Fact::Read(&reading))?;
        self.read_accepted(true)
    }
}
