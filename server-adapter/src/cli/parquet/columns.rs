//! The columns of a Parquet file: the fields of a record, with their types and their documentation.

use std::collections::BTreeMap;

use deskfleet::fields::{FieldKind, FieldSpec};
use deskfleet::{ProcessItem, Stream};
use serde_json::value::RawValue;

use crate::cli::export_args::ListedRows;
use crate::cli::export_rows;

/// A column.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) kind: ColumnKind,
    /// Meaning and unit.
    pub(super) doc: &'static str,
    /// The member of the JSON that it comes from.
    member: &'static str,
    /// Whether that is one of a process item.
    of_item: bool,
}

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnKind {
    Int32,
    Int64,
    Float,
    Double,
    Text,
    /// In microseconds.
    Time,
}

impl ColumnKind {
    /// As a schema names it.
    pub(super) fn schema_type(self) -> (&'static str, &'static str) {
        match self {
            Self::Int32 => ("INT32", ""),
            Self::Int64 => ("INT64", ""),
            Self::Float => ("FLOAT", ""),
            Self::Double => ("DOUBLE", ""),
            Self::Text => ("BYTE_ARRAY", " (STRING)"),
            Self::Time => ("INT64", " (TIMESTAMP(MICROS,true))"),
        }
    }
}

/// A JSON object, its values unread.
pub(super) type Object<'l> = BTreeMap<&'l str, &'l RawValue>;

const ITEMS: &str = "processes";

/// The columns of a stream.
pub(super) fn of_stream(stream: Stream) -> Vec<Column> {
    let has_items = stream == Stream::Processes;
    let items = if has_items { ProcessItem::FIELDS } else { &[] };
    let received = Column {
        name: "receivedAt",
        kind: ColumnKind::Time,
        doc: "When the record was accepted.",
        member: "receivedAt",
        of_item: false,
    };
    let fields = stream
        .fields()
        .iter()
        .filter_map(|spec| column(spec, false));
    let items = items.iter().filter_map(|spec| column(spec, true));
    fields.chain([received]).chain(items).collect()
}

fn column(spec: &'static FieldSpec, of_item: bool) -> Option<Column> {
    let kind = match spec.kind {
        FieldKind::Int32 => ColumnKind::Int32,
        FieldKind::Int64 => ColumnKind::Int64,
        FieldKind::Float => ColumnKind::Float,
        FieldKind::Double => ColumnKind::Double,
        FieldKind::Text => ColumnKind::Text,
        FieldKind::Time => ColumnKind::Time,
        FieldKind::Items => return None,
    };
    let name = match spec.name {
        // The report has one as well.
        "username" if of_item => "processUsername",
        name => name,
    };
    Some(Column {
        name,
        kind,
        doc: spec.doc.trim(),
        member: spec.name,
        of_item,
    })
}

/// The columns of a list.
pub(super) fn of_list(rows: ListedRows) -> Vec<Column> {
    let column = |name: &&'static str| Column {
        name,
        kind: match *name {
            "id" | "apiKeyId" => ColumnKind::Int64,
            "activityTime" | "completedTime" => ColumnKind::Time,
            _ => ColumnKind::Text,
        },
        doc: "",
        member: name,
        of_item: false,
    };
    export_rows::columns(rows).iter().map(column).collect()
}

/// Calls `row` with each row that a record takes: one, or one for each process item of a report.
pub(super) fn rows<E: From<serde_json::Error>>(
    line: &[u8],
    mut row: impl FnMut(&Object<'_>, Option<&Object<'_>>) -> Result<(), E>,
) -> Result<(), E> {
    let record: Object<'_> = serde_json::from_slice(line)?;
    let items = record.get(ITEMS).map(|items| items.get());
    let items: Vec<Object<'_>> = serde_json::from_str(items.unwrap_or("[]"))?;
    if items.is_empty() {
        return row(&record, None);
    }
    items.iter().try_for_each(|item| row(&record, Some(item)))
}

impl Column {
    /// Its value in a row, as JSON; `None` where it is null or was not sent.
    pub(super) fn value<'l>(
        &self,
        record: &Object<'l>,
        item: Option<&Object<'l>>,
    ) -> Option<&'l str> {
        let object = if self.of_item { item? } else { record };
        let value = object.get(self.member)?.get();
        (value != "null").then_some(value)
    }
}
