//! Workspaces and the audit, as lines of JSON or as CSV.

use bytes::Bytes;
use deskfleet::limits::PAGE_ITEMS_MAX;
use deskfleet::{
    AuditEntry, AuditQuery, Engine, Timestamp, Workspace, WorkspaceList, query::ExportFormat,
};
use deskfleet_server::PageTokens;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::client::Client;
use super::export_args::ListedRows;
use super::failure::Failure;
use super::server_url::target;

/// One row, as JSON.
pub(super) type Row = Box<RawValue>;
/// Ends after the first failure.
pub(super) type Rows<'s> = Box<dyn Iterator<Item = Result<Row, Failure>> + 's>;

/// A text, chunk by chunk. Ends after the first failure.
pub(super) type Chunks<'s> = Box<dyn Iterator<Item = Result<Bytes, Failure>> + 's>;

/// The span of the rows; workspaces have none.
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

/// The members of a row, in their order.
pub(super) fn columns(rows: ListedRows) -> &'static [&'static str] {
    match rows {
        ListedRows::Workspaces => &Workspace::FIELDS,
        ListedRows::Audit => &AUDIT_FIELDS,
    }
}

pub(super) fn of_store(engine: &Engine, rows: ListedRows, (from, to): Span) -> Rows<'_> {
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

pub(super) fn of_server(client: &Client, rows: ListedRows, (from, to): Span) -> Rows<'_> {
    let path = match rows {
        ListedRows::Workspaces => "/operator/workspaces",
        ListedRows::Audit => "/operator/audit",
    };
    let page_target = move |name, value: String| {
        let parameters = [
            ("limit", Some(PAGE_ITEMS_MAX.to_string())),
            ("from", from.map(|from| from.to_string())),
            ("to", to.map(|to| to.to_string())),
            (name, Some(value)),
        ];
        target(path, &parameters)
    };
    // The audit has one row of the export and not one of each page.
    let mut next = Some(page_target("export", "true".to_owned()));
    let mut tokens = PageTokens::default();
    let pages = std::iter::from_fn(move || {
        let page = page(client, &next.take()?).and_then(|mut page| {
            let token = tokens.next(page.next_token.take());
            let token = token.map_err(|repeated| Failure(repeated.to_string()))?;
            next = token.map(|token| page_target("nextToken", token));
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

/// The rows as text, in CSV after a line of the names.
pub(super) fn lines(rows: Rows<'_>, rows_are: ListedRows, format: ExportFormat) -> Chunks<'_> {
    let is_csv = format == ExportFormat::Csv;
    let head = is_csv.then(|| Ok(csv_line(columns(rows_are))));
    let line = move |row: Result<Row, Failure>| {
        if is_csv {
            csv_row(&row?, rows_are)
        } else {
            row.map(|row| format!("{row}\n"))
        }
    };
    let lines = head.into_iter().chain(rows.map(line));
    Box::new(lines.map(|line| line.map(Bytes::from)))
}

fn csv_row(row: &Row, rows_are: ListedRows) -> Result<String, Failure> {
    let row: Map<String, Value> = serde_json::from_str(row.get())
        .map_err(|error| Failure::caused("a row is not an object", &error))?;
    let cells = columns(rows_are)
        .iter()
        .map(|column| match row.get(*column) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) if rows_are == ListedRows::Audit => no_formula(text),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        });
    Ok(csv_line(cells))
}

/// A text of the audit. Spreadsheets read it and it is never imported; callers choose some of these texts.
fn no_formula(text: &str) -> String {
    let apostrophe = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    format!("{}{text}", if apostrophe { "'" } else { "" })
}

/// One line of CSV (RFC 4180); a cell is quoted where it must be.
fn csv_line<T: AsRef<str>>(cells: impl IntoIterator<Item = T>) -> String {
    let quoted = |cell: T| {
        let cell = cell.as_ref();
        if cell.contains(['"', ',', '\n', '\r']) || cell.trim() != cell {
            return format!("\"{}\"", cell.replace('"', "\"\""));
        }
        cell.to_owned()
    };
    let cells: Vec<_> = cells.into_iter().map(quoted).collect();
    cells.join(",") + "\r\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_cell_is_quoted_where_it_must_be() {
        let cells = [
            "plain",
            "",
            "a,b",
            "say \"hi\"",
            "two\nlines",
            " space",
            "Grün",
        ];
        assert_eq!(
            csv_line(cells),
            "plain,,\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",\" space\",Grün\r\n"
        );
    }

    #[test]
    fn formulas_are_made_text_in_the_audit_alone() {
        let csv = |rows_are, row: &str| {
            let row = RawValue::from_string(row.to_owned()).unwrap();
            csv_row(&row, rows_are).unwrap()
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
