//! An agent that keeps what it measures in a file of lines, and hands it over when there is room. Killed at any moment, it loses nothing: what it
//! sends again is stored once, because each record carries its time.
//!
//! `cargo run --example store_and_forward -p deskfleet`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use deskfleet::{CommitDriver, Config, Engine, ErrorKind, Record, StatsRecord};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("deskfleet-agent-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let shown = show(&folder);
    fs::remove_dir_all(&folder)?;
    shown
}

fn show(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut config = Config::default();
    config.commit_driver = CommitDriver::Thread;
    // So small that a batch is refused now and then.
    config.limits.queue_records = 100;
    let fleet = Engine::builder()
        .config(config)
        .open(folder.join("fleet.redb"))?;
    let mut spool = Spool::open(folder)?;
    for minute in 0..150 {
        spool.keep(&Record::from(StatsRecord {
            update_time: Some(fleet.now().plus_seconds(-60 * minute)),
            processor_in_use: Some(12),
            instance_id: "ws-1".into(),
            ..StatsRecord::default()
        }))?;
    }
    drop(spool); // and the agent starts again
    let mut spool = Spool::open(folder)?;
    let sent = spool.send(&fleet)?;
    println!(
        "{sent} records are durable, {} are left",
        spool.send(&fleet)?
    );
    fleet.close()?;
    Ok(())
}

/// Two files: lines of records, and up to which byte they are handed over.
struct Spool {
    lines: File,
    /// The bytes of whole lines.
    bytes: u64,
    path: PathBuf,
    mark: PathBuf,
}

impl Spool {
    fn open(folder: &Path) -> Result<Self, Box<dyn Error>> {
        let (path, mark) = (folder.join("spool.jsonl"), folder.join("spool.sent"));
        let lines = File::options().create(true).append(true).open(&path)?;
        // A kill may have left half a line: it was never reported as kept.
        let whole = fs::read(&path)?;
        let end = whole.iter().rposition(|byte| *byte == b'\n');
        let bytes = end.map_or(0, |last| last + 1).try_into()?;
        lines.set_len(bytes)?;
        Ok(Self {
            lines,
            bytes,
            path,
            mark,
        })
    }

    /// Keeps a record; it survives a loss of power when this returns. A real agent bounds the file, and drops the oldest.
    fn keep(&mut self, record: &Record) -> Result<(), Box<dyn Error>> {
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        let kept = self.lines.write_all(&line);
        if let Err(error) = kept.and_then(|()| self.lines.sync_data()) {
            // What a full disk left of the line must not begin the next one.
            self.lines.set_len(self.bytes)?;
            return Err(error.into());
        }
        self.bytes += u64::try_from(line.len())?;
        Ok(())
    }

    /// Hands over what is left, in batches; returns how many records that were.
    fn send(&mut self, fleet: &Engine) -> Result<usize, Box<dyn Error>> {
        // Without a mark, or with half of one, all of it is sent again, which stores nothing twice.
        let mark = fs::read_to_string(&self.mark).unwrap_or_default();
        let mut sent = mark.parse().unwrap_or(0);
        let text = fs::read_to_string(&self.path)?;
        let left: Vec<_> = text.get(sent..).unwrap_or(&text).lines().collect();
        for part in left.chunks(60) {
            let mut batch = fleet.batch();
            for line in part {
                batch.push(&serde_json::from_str(line)?)?;
            }
            // A refused batch comes back, so that nothing has to be read or encoded again.
            while let Err(refused) = fleet.record_batch(batch) {
                if refused.error.kind() != ErrorKind::QueueFull {
                    return Err(refused.into());
                }
                batch = refused.batch;
                std::thread::sleep(Duration::from_millis(20));
            }
            // A kill before this sends the part again.
            sent += part.iter().map(|line| line.len() + 1).sum::<usize>();
            fs::write(&self.mark, sent.to_string())?;
        }
        // All of it is stored. In this order: a mark of lines that are gone would skip others.
        fs::write(&self.mark, "0")?;
        self.lines.set_len(0)?;
        self.bytes = 0;
        Ok(left.len())
    }
}
