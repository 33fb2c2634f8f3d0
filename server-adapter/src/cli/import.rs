//! `import`: workspaces from a file of JSON lines or of one JSON array.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use deskfleet::limits::{BULK_UPSERT_CHUNK, LINE_ERRORS_MAX};
use deskfleet::{Engine, ErrorKind, Workspace, error_chain};
use serde::Serialize;
use serde_json::Value;

use super::failure::Failure;
use super::output::{data_json, say};
use super::store::{builder, open};

/// A workspace, or why it is none, with its line; in an array, with its place counted from 1.
type Numbered = (u64, serde_json::Result<Workspace>);
/// Ends at the first error of reading.
type Lines<'a> = Box<dyn Iterator<Item = Result<Numbered, Failure>> + 'a>;

/// What became of the lines; written as the response of `POST /operator/workspaces`.
#[derive(Debug, Default, Serialize)]
struct Outcome {
    upserted: u64,
    rejected: u64,
    /// The first of the rejected ones.
    errors: Vec<LineError>,
}

#[derive(Debug, Serialize)]
struct LineError {
    line: u64,
    message: String,
}

/// Imports `file`, or standard input where it is `-`, into the store `into`.
pub(crate) fn run(file: &Path, into: &Path) -> Result<(), Failure> {
    let what = format!("cannot read {}", file.display());
    let mut input: Box<dyn BufRead> = if file == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        let opened = File::open(file).map_err(|error| Failure::caused(&what, &error))?;
        Box::new(BufReader::new(opened))
    };
    let mut lines = lines(&mut input, &what)?;
    let engine = open(builder(), into, &when_locked(file))?;
    let mut outcome = Outcome::default();
    loop {
        let chunk: Vec<Numbered> = lines
            .by_ref()
            .take(BULK_UPSERT_CHUNK)
            .collect::<Result<_, _>>()?;
        if chunk.is_empty() {
            break;
        }
        store(&engine, chunk, &mut outcome)?;
    }
    engine.close()?;
    data_json(&outcome)?;
    say!(
        "{} upserted, {} rejected",
        outcome.upserted,
        outcome.rejected
    );
    match outcome.rejected {
        0 => Ok(()),
        _ => Err(Failure("not every line was imported".to_owned())),
    }
}

fn when_locked(file: &Path) -> String {
    format!(
        "If that is a running server, import through it:\n  \
         curl -X POST -H \"X-Api-Key: $ADMIN_KEY\" -H 'content-type: application/x-ndjson' \
         --data-binary @{} http://127.0.0.1:8080/operator/workspaces",
        file.display()
    )
}

/// The workspaces of `input`; what its first character says decides how they are written.
fn lines<'a>(input: &'a mut dyn BufRead, what: &'a str) -> Result<Lines<'a>, Failure> {
    let unreadable = move |error: std::io::Error| Failure::caused(what, &error);
    if first_byte(input).map_err(unreadable)? == Some(b'[') {
        let values: Vec<Value> =
            serde_json::from_reader(input).map_err(|error| Failure::caused(what, &error))?;
        let workspaces = values.into_iter().map(serde_json::from_value);
        return Ok(Box::new((1..).zip(workspaces).map(Ok)));
    }
    let lines = (1..)
        .zip(input.split(b'\n'))
        .filter_map(move |(number, line)| match line {
            Ok(line) if line.trim_ascii().is_empty() => None,
            Ok(line) => Some(Ok((number, serde_json::from_slice(&line)))),
            Err(error) => Some(Err(unreadable(error))),
        });
    Ok(Box::new(lines))
}

/// The first byte that is no space, left unread. Line ends stay unread too: lines are counted.
fn first_byte(input: &mut dyn BufRead) -> std::io::Result<Option<u8>> {
    const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
    if input.fill_buf()?.starts_with(BYTE_ORDER_MARK) {
        input.consume(BYTE_ORDER_MARK.len());
    }
    let start = input.fill_buf()?;
    Ok(start
        .iter()
        .copied()
        .find(|byte| !byte.is_ascii_whitespace()))
}

/// Stores a chunk in one commit, or one by one where one of them is refused.
fn store(engine: &Engine, chunk: Vec<Numbered>, outcome: &mut Outcome) -> Result<(), Failure> {
    let mut good = Vec::with_capacity(chunk.len());
    for (line, workspace) in chunk {
        match workspace {
            Ok(workspace) => good.push((line, workspace)),
            Err(error) => outcome.reject(line, without_line(&error)),
        }
    }
    let workspaces = good.iter().map(|(_, workspace)| workspace.clone());
    match engine.put_workspaces(workspaces.collect()) {
        Ok(count) => {
            outcome.upserted += count;
            return Ok(());
        }
        Err(error) if error.kind() == ErrorKind::InvalidParameter => {}
        Err(error) => return Err(error.into()),
    }
    for (line, workspace) in good {
        match engine.put_workspace(workspace) {
            Ok(()) => outcome.upserted += 1,
            Err(error) if error.kind() == ErrorKind::InvalidParameter => {
                outcome.reject(line, error_chain(&error));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

impl Outcome {
    fn reject(&mut self, line: u64, message: String) {
        self.rejected += 1;
        if self.errors.len() < LINE_ERRORS_MAX {
            say!("line {line}: {message}");
            self.errors.push(LineError { line, message });
        }
    }
}

/// serde's own message counts lines within the one line it was given.
fn without_line(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((message, _)) if error.column() > 0 => {
            format!("{message} at byte {}", error.column())
        }
        _ => text,
    }
}
