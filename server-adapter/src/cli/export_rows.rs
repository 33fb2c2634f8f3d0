//! Workspaces and the audit, as lines of JSON or as CSV.

use std::io::{self, Write};

use deskfleet::limits::PAGE_ITEMS_MAX;
use deskfleet::{
    AuditEntry, AuditQuery, Engine, ExportFormat, Timestamp, Workspace, WorkspaceList,
};
use deskfleet_server::PageTokens;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::client::Client;
use super::export_args::ListedRows;
use super::export_source::{Source, Unwritten};
use super::failure::Failure;

/// One row, as JSON.
pub(super) type Row = Box<RawValue>;
pub(super) type Rows = Box<dyn Iterator<Item = Result<Row, Failure>>>;

/// Which of the rows, by their time; of workspaces all.
pub(super) type Span = (Option<Timestamp>, Option<Timestamp>);

/// A row of the audit as the endpoint returns it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AuditRow {
    #[serde(flatten)]
    entry: AuditEntry,
    api_key_id: Option<u64>,
}

/// The members of an [`AuditRow`].
const AUDIT_FIELDS: [&str; 14] = [
    "id",
    "activityTime",
    "requester",
    "action",
    "workSpaceId",
    "username",
    "computerName",
    "result",
    "previousState",
    "newState",
    "completedTime",
    "detail",
    "apiKeyName",
    "apiKeyId",
];

/// The rows of a source, without those outside the span.
pub(super) fn rows(source: Source, rows: ListedRows, span: Span) -> Rows {
    match source {
        Source::Store(engine) => rows_of_store(&engine, rows, span),
        Source::Server(client) => rows_of_server(*client, rows, span),
    }
}

/// The members of a row, in their order.
pub(super) fn columns(rows: ListedRows) -> &'static [&'static str] {
    match rows {
        ListedRows::Workspaces => &Workspace::FIELDS,
        ListedRows::Audit => &AUDIT_FIELDS,
    }
}

fn rows_of_store(engine: &Engine, rows: ListedRows, (from, to): Span) -> Rows {
    fn row(value: &impl Serialize) -> Result<Row, Failure> {
        to_raw_value(value).map_err(|error| Failure::caused("cannot write JSON", &error))
    }
    match rows {
        ListedRows::Workspaces => {
            let workspaces = engine.all_workspaces(WorkspaceList::All);
            Box::new(workspaces.map(|workspace| row(&workspace?)))
        }
        ListedRows::Audit => {
            let entries = engine.all_audit(AuditQuery {
                from,
                to,
                limit: PAGE_ITEMS_MAX.unsigned_abs(),
                ..AuditQuery::default()
            });
            Box::new(entries.map(|entry| {
                let entry = entry?;
                let api_key_id = entry.api_key_id;
                row(&AuditRow { entry, api_key_id })
            }))
        }
    }
}

/// A page of a list of the server.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    #[serde(rename = "workSpaces", alias = "activities")]
    rows: Vec<Row>,
    next_token: Option<String>,
}

/// Ends after the first failure.
fn rows_of_server(client: Client, rows: ListedRows, (from, to): Span) -> Rows {
    let list = match rows {
        ListedRows::Workspaces => "workspaces",
        ListedRows::Audit => "audit",
    };
    let mut path = format!("/operator/{list}?limit=500");
    for (name, time) in [("from", from), ("to", to)] {
        if let Some(time) = time {
            path.extend(["&", name, "=", &time.to_string()]);
        }
    }
    // The audit has a row of the export, and not of each page.
    let mut next = Some(format!("{path}&export=true"));
    let mut tokens = PageTokens::default();
    let pages = std::iter::from_fn(move || {
        let page = page(&client, &next.take()?).and_then(|mut page| {
            let token = tokens.next(page.next_token.take());
            let token = token.map_err(|repeated| Failure(repeated.to_string()))?;
            next = token.map(|token| format!("{path}&nextToken={token}"));
            Ok(page)
        });
        Some(page)
    });
    Box::new(pages.flat_map(|page| {
        let (rows, failure) = match page {
            Ok(page) => (page.rows, None),
            Err(failure) => (Vec::new(), Some(Err(failure))),
        };
        rows.into_iter().map(Ok).chain(failure)
    }))
}

fn page(client: &Client, target: &str) -> Result<Page, Failure> {
    let body = client.get(target)?;
    serde_json::from_slice(&body)
        .map_err(|error| Failure::caused("the server's response is not a page", &error))
}

/// Writes all rows and returns their number.
pub(super) fn write(
    rows: impl Iterator<Item = Result<Row, Failure>>,
    rows_are: ListedRows,
    format: ExportFormat,
    out: &mut dyn Write,
) -> Result<u64, Unwritten> {
    let columns = columns(rows_are);
    if format == ExportFormat::Csv {
        write_fields(columns, out)?;
    }
    let mut count = 0;
    for row in rows {
        let row = row.map_err(Unwritten::Rows)?;
        match format {
            ExportFormat::Ndjson => writeln!(out, "{row}")?,
            ExportFormat::Csv => {
                let row: Map<String, Value> = serde_json::from_str(row.get())
                    .map_err(|error| Failure::caused("a row is not an object", &error))
                    .map_err(Unwritten::Rows)?;
                let fields = columns.iter().map(|column| match row.get(*column) {
                    None | Some(Value::Null) => String::new(),
                    Some(Value::String(text)) if rows_are == ListedRows::Audit => no_formula(text),
                    Some(Value::String(text)) => text.clone(),
                    Some(other) => other.to_string(),
                });
                write_fields(fields, out)?;
            }
        }
        count += 1;
    }
    Ok(count)
}

/// A text of the audit, which is read by spreadsheets and never imported: callers write some of them.
fn no_formula(text: &str) -> String {
    let apostrophe = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    format!("{}{text}", if apostrophe { "'" } else { "" })
}

/// One line of CSV (RFC 4180); a field is quoted where it must be.
fn write_fields<T: AsRef<str>>(
    fields: impl IntoIterator<Item = T>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut separator = "";
    for field in fields {
        let field = field.as_ref();
        let quoted = field.contains(['"', ',', '\n', '\r']) || field.trim() != field;
        if quoted {
            write!(out, "{separator}\"{}\"", field.replace('"', "\"\""))?;
        } else {
            write!(out, "{separator}{field}")?;
        }
        separator = ",";
    }
    out.write_all(b"\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_fields_are_quoted_where_they_must_be() {
        let mut line = Vec::new();
        let fields = [
            "plain",
            "",
            "a,b",
            "say \"hi\"",
            "two\nlines",
            " space",
            "Grün",
        ];
        write_fields(fields, &mut line).unwrap();
        assert_eq!(
            String::from_utf8(line).unwrap(),
            "plain,,\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",\" space\",Grün\r\n"
        );
    }

    #[test]
    fn formulas_are_made_text_in_the_audit_alone() {
        let csv = |rows_are, row: &str| {
            let rows = [Ok(RawValue::from_string(row.to_owned()).unwrap())];
            let mut out = Vec::new();
            let written = write(rows.into_iter(), rows_are, ExportFormat::Csv, &mut out);
            assert!(matches!(written, Ok(1)));
            let text = String::from_utf8(out).unwrap();
            text.split_once("\r\n").unwrap().1.to_owned()
        };
        for first in ["=", "+", "-", "@", "\\t", "\\r"] {
            let row = format!("{{\"id\":-1,\"requester\":\"{first}cmd\",\"detail\":\"a=b\"}}");
            let line = csv(ListedRows::Audit, &row);
            assert!(
                line.starts_with("-1,,'") || line.starts_with("-1,,\"'"),
                "{line}"
            );
            assert!(line.contains(",a=b,"), "{line}");
        }
        let line = csv(ListedRows::Workspaces, r#"{"workSpId":"=1"}"#);
        assert!(line.starts_with("=1,"), "{line}");
    }

    #[test]
    fn columns_of_workspaces_are_all_members_of_a_row() {
        let row = serde_json::to_value(Workspace::default()).unwrap();
        let mut names: Vec<_> = row.as_object().unwrap().keys().collect();
        let mut columns = columns(ListedRows::Workspaces).to_vec();
        names.sort();
        columns.sort_unstable();
        assert_eq!(names, columns);
    }
}
