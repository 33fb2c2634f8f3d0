//! The story of one desktop: what was done to it, which states it had, who used it.
//!
//! The audit rows and the records of its instances are merged by time. A page examines a bounded number of audit rows, and shows
//! no record older than those; its token has the position of the next page.

mod place;

use sha2::{Digest as _, Sha256};

use crate::domain::order::{Order, Picked};
use crate::domain::paging::{self, List};
use crate::domain::query::Query;
use crate::domain::range::Range;
use crate::error::{EngineError, Result};
use crate::limits::{TIMELINE_MOMENT_RECORDS_MAX, TIMELINE_TEXT_BYTES};
use crate::model::row::row;
use crate::model::{
    AuditAction, AuditEntry, AuditResult, Column, Nullable, Paging, Question, Received, Record,
    Row as _, Rows, Stream,
};
use crate::store::fleet::workspaces;
use crate::store::rollup::latest;
use crate::store::telemetry::queue::Wanted;
use crate::timestamp::Timestamp;
use crate::view::history::{self, HistoryQuery};
use crate::view::{Reader, activity, audit};

use super::{Ask, Fleet, FleetQuery};

use place::PageStart;

row! {
    /// Something that happened to a desktop.
    pub struct TimelineRow {
        /// When.
        at: Timestamp = "at",
        /// `audit`, a call; `state`, it had another state from then on; `hold`, a litigation hold was placed or released; `activity`, of a user;
        /// `startup`, a logon.
        kind: String = "kind",
        /// What: the action, the state, the activity.
        title: String = "title",
        /// More of it: the outcome of a call, the state before, how long a startup took.
        detail: Option<String> = "detail",
        /// Who: the requester of a call, the user.
        by: Option<String> = "by",
        /// Number of the row of the audit that says so.
        audit_id: Option<u64> = "auditId",
    }
}

/// Which desktop, and what time.
///
/// ```
/// use deskfleet::{Engine, Workspace, query::TimelineQuery};
///
/// let engine = Engine::in_memory()?;
/// engine.put_workspace(Workspace { id: "ws-1".into(), ..Workspace::default() })?;
/// let story = engine.query(&TimelineQuery::new("ws-1"))?;
/// assert!(story.rows.iter().all(|row| row.kind != "activity"));
/// # Ok::<(), deskfleet::EngineError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimelineQuery {
    /// Id of the workspace.
    pub workspace_id: String,
    /// What happened at this time or later. Default 7 days before `to`.
    pub from: Option<Timestamp>,
    /// What happened before this time. Default now.
    pub to: Option<Timestamp>,
    /// The page; `sort` is not read.
    pub paging: Paging,
}

impl TimelineQuery {
    /// The last 7 days of a workspace.
    pub fn new(workspace_id: impl Into<String>) -> Self {
        Self {
            workspace_id: workspace_id.into(),
            from: None,
            to: None,
            paging: Paging::default(),
        }
    }
}

const LIST: List = List::Rows(Question::Timeline);
/// The seconds of the default window.
const WINDOW_SECONDS: i64 = 7 * 24 * 60 * 60;

impl FleetQuery for TimelineQuery {
    type Answer = Rows<TimelineRow>;

    fn answer(&self, fleet: &Fleet<'_>) -> Result<Self::Answer> {
        timeline(fleet, self)
    }
}

impl Ask for TimelineQuery {
    const QUESTION: Question = Question::Timeline;
    const COLUMNS: &'static [Column] = TimelineRow::COLUMNS;

    fn parse(query: Query<'_>, now: Timestamp) -> Result<Self> {
        let id = query.text("workSpaceId").ok_or_else(|| {
            let message = "The workSpaceId field is required, such as workSpaceId=ws-1.";
            EngineError::invalid("workSpaceId", message)
        })?;
        let (from, to) = query.range(now)?;
        Ok(Self {
            from,
            to,
            paging: query.paging()?,
            ..Self::new(id)
        })
    }
}

/// A page of what happened, newest first.
fn timeline(fleet: &Fleet<'_>, query: &TimelineQuery) -> Result<Rows<TimelineRow>> {
    let reader = &fleet.readers.tables()?;
    let range = Range::between(query.from, query.to, WINDOW_SECONDS, reader.now)?;
    let Range { from, to } = range;
    let names = names(reader, &query.workspace_id)?;
    let mut place = match paging::position(LIST, query.paging.next_token.as_deref())? {
        Some(place) => place,
        None => PageStart::begin(audit::next_number(reader)?, to),
    };
    let mut page = Page::new(&place, query, range)?;
    let stopped = audit::of_workspace(
        reader,
        &query.workspace_id,
        place.audit,
        from,
        &mut |entry| {
            page.add_audit(entry);
        },
    )?;
    let oldest = stopped.map_or(from, |(_, time)| time.max(from));
    let known = names
        .clone()
        .unwrap_or_else(|| vec![query.workspace_id.clone()]);
    for instance in &known {
        for stream in [Stream::Activity, Stream::Startup] {
            let source = Source {
                reader: fleet
                    .readers
                    .telemetry(Wanted::Instance(stream, instance))?,
                stream,
                instance,
            };
            page.add_records(&source, oldest, &place)?;
        }
    }
    let is_left_out = page.is_left_out;
    let (rows, more) = page.picked.finish();
    place.next(rows.last().map(|row| row.at), more, stopped, oldest);
    let next_token = (!place.is_over).then(|| paging::token(LIST, &place));
    if names.is_none()
        && rows.is_empty()
        && next_token.is_none()
        && query.paging.next_token.is_none()
    {
        return Err(EngineError::no_workspace());
    }
    let message =
        "There are more records of one moment than are examined: some of them are left out.";
    Ok(Rows {
        next_token,
        warnings: is_left_out
            .then(|| message.to_owned())
            .into_iter()
            .collect(),
        ..Rows::whole(rows, reader.now)
    })
}

/// The names of the instances whose records belong to a workspace, as they were sent; `None` where it is not listed.
fn names(reader: &Reader, id: &str) -> Result<Option<Vec<String>>> {
    let read = &reader.snapshot;
    let found = workspaces::with_entry(read, id, |entry| {
        let listed = reader.listed(entry);
        Ok(listed.map(|entry| {
            (
                entry.id().to_owned(),
                entry.computer_name().map(str::to_owned),
            )
        }))
    })?;
    let Some((id, computer)) = found.flatten() else {
        return Ok(None);
    };
    let mut names = vec![id.clone()];
    if let Some(computer) = computer
        && computer != id
        && activity::workspace_of(reader, &computer)?.as_ref() == Some(&id)
    {
        names.push(computer);
    }
    for place in 0..names.len() {
        let Some(name) = names.get(place) else { break };
        let sent = latest::with_row(read, name, |row| Ok(row.name.to_owned()))?;
        names.extend(sent.filter(|sent| !names.contains(sent)));
    }
    Ok(Some(names))
}

/// A page that is being made.
struct Page {
    range: Range,
    limit: u32,
    picked: Picked<TimelineRow>,
    is_left_out: bool,
}

impl Page {
    fn new(place: &PageStart, query: &TimelineQuery, range: Range) -> Result<Self> {
        let paging = Paging {
            next_token: place.within.as_ref().map(|(_, token)| token.clone()),
            ..query.paging.clone()
        };
        let order = Order::parse("-at", TimelineRow::COLUMNS)?;
        Ok(Self {
            range,
            limit: paging.limit,
            picked: Picked::new(Question::Timeline, order, &paging)?,
            is_left_out: false,
        })
    }

    fn offer(&mut self, id: &str, row: TimelineRow) {
        if row.at >= self.range.from && row.at < self.range.to {
            let cell = row.clone();
            self.picked.offer(id, |column| cell.cell(column), || row);
        }
    }

    /// Adds a row of the audit, and the state that it led to.
    fn add_audit(&mut self, entry: AuditEntry) {
        let AuditEntry { id, time, .. } = entry;
        // Within one moment the newest comes first, and a state comes before the call that led to it.
        let place = u64::MAX - id;
        let is_hold = matches!(
            entry.action,
            AuditAction::PlaceHold | AuditAction::ReleaseHold
        );
        let outcome = entry.result.as_str();
        let detail = match &entry.detail {
            Some(detail) => format!("{outcome}: {detail}"),
            None => outcome.to_owned(),
        };
        let by = cut(&entry.requester);
        let happened = !matches!(entry.result, AuditResult::Refused | AuditResult::NoChange);
        let has_ended = entry.result != AuditResult::Accepted;
        let is_new = entry.new_state != entry.previous_state;
        let acted = matches!(entry.action, AuditAction::Lifecycle(_)) && has_ended;
        if let Some(state) = entry.new_state.filter(|_| happened && (is_new || acted)) {
            let row = TimelineRow {
                at: entry.completed_time.unwrap_or(time),
                kind: "state".to_owned(),
                title: cut(&state),
                detail: entry
                    .previous_state
                    .map(|state| format!("{} before the call", cut(&state))),
                by: Some(by.clone()),
                audit_id: Some(id),
            };
            self.offer(&format!("{place:020} 0"), row);
        }
        let row = TimelineRow {
            at: time,
            kind: if is_hold { "hold" } else { "audit" }.to_owned(),
            title: entry.action.as_str().to_owned(),
            detail: Some(cut(&detail)),
            by: Some(by),
            audit_id: Some(id),
        };
        self.offer(&format!("{place:020} 1"), row);
    }

    /// Adds the newest records of an instance, from `oldest` on up to the place at which the page begins.
    fn add_records(
        &mut self,
        source: &Source<'_>,
        oldest: Timestamp,
        place: &PageStart,
    ) -> Result<()> {
        let mut to = place.records;
        if let Some((at, _)) = place.within
            && at < place.records
        {
            self.add_moment(source, at)?;
            to = to.min(at);
        }
        let limit = self.limit.saturating_add(1);
        let mut rows = source.last(oldest, to, limit)?;
        if u32::try_from(rows.len()).is_ok_and(|count| count == limit) {
            // There may be more of the earliest moment.
            let earliest = rows.iter().map(|(_, row)| row.at).min();
            rows.retain(|(_, row)| Some(row.at) != earliest);
            if let Some(at) = earliest {
                self.add_moment(source, at)?;
            }
        }
        for (id, row) in rows {
            self.offer(&id, row);
        }
        Ok(())
    }

    /// Adds the records of one moment.
    fn add_moment(&mut self, source: &Source<'_>, at: Timestamp) -> Result<()> {
        let end = Timestamp::from_ticks(at.ticks() + 1);
        let rows = source.last(at, end, TIMELINE_MOMENT_RECORDS_MAX)?;
        self.is_left_out |= rows.len() >= TIMELINE_MOMENT_RECORDS_MAX as usize;
        for (id, row) in rows {
            self.offer(&id, row);
        }
        Ok(())
    }
}

/// The records of one stream of an instance.
struct Source<'s> {
    reader: Reader,
    stream: Stream,
    instance: &'s str,
}

impl Source<'_> {
    /// The ids and the rows of the last records from `from` to before `to`, at most `limit`.
    fn last(
        &self,
        from: Timestamp,
        to: Timestamp,
        limit: u32,
    ) -> Result<Vec<(String, TimelineRow)>> {
        let mut rows = Vec::new();
        if from < to {
            let query = HistoryQuery {
                from: Some(from),
                to: Some(to),
                limit,
                ..HistoryQuery::new(self.stream, self.instance)
            };
            history::each_last(&self.reader, &query, &mut |received| {
                let digest = Sha256::digest(content(&received.record));
                let start = digest.first_chunk().copied().unwrap_or_default();
                let (at, start) = (received.received_at.ticks(), u64::from_be_bytes(start));
                let id = format!("{} {at} {start:x}", self.stream.name());
                rows.push((id, row_of(received)));
            })?;
        }
        Ok(rows)
    }
}

/// An activity or a startup as a text that is different for each.
fn content(record: &Record) -> String {
    match record {
        Record::Activity(record) => format!("{record:?}"),
        Record::Startup(record) => format!("{record:?}"),
        // Those are left out: formatting their numbers would add 20 kB to the WebAssembly module.
        Record::Stats(_) | Record::Processes(_) => String::new(),
    }
}

/// The row of an activity or a startup.
fn row_of(received: Received) -> TimelineRow {
    let (kind, title, detail, by) = match received.record {
        Record::Activity(record) => {
            let title = record.activity.value().map(|title| cut(title));
            ("activity", title, None, record.username)
        }
        Record::Startup(record) => {
            let phases = [
                ("total", record.total_ms),
                ("profile", record.profile_ms),
                ("group policy", record.group_policy_ms),
                ("shell", record.shell_ms),
            ];
            let known = phases
                .iter()
                .filter_map(|(name, ms)| Some(format!("{name} {} ms", (*ms)?)));
            let known: Vec<String> = known.collect();
            let detail = (!known.is_empty()).then(|| known.join(", "));
            (
                "startup",
                Some("Startup".to_owned()),
                detail,
                record.username,
            )
        }
        Record::Stats(_) | Record::Processes(_) => ("", None, None, Nullable::Absent),
    };
    TimelineRow {
        at: received.filed_at,
        kind: kind.to_owned(),
        title: title.unwrap_or_default(),
        detail,
        by: by.value().map(|by| cut(by)),
        audit_id: None,
    }
}

/// The begin of a text.
fn cut(text: &str) -> String {
    let mut ends = (0..=TIMELINE_TEXT_BYTES.min(text.len())).rev();
    let begin = ends.find_map(|end| text.get(..end));
    begin.unwrap_or_default().to_owned()
}
