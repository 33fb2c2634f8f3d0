//! `GET /query/workspaces`

use crate::api::{Call, Completion, Handled};
use crate::limits::PAGE_TEXT_BYTES_MAX;
use crate::view::query::workspaces::{WorkspaceRow, WorkspaceRowsQuery};
use crate::wire::rows::{Format, Shape};

pub(super) fn answer(call: &Call<'_>) -> Handled {
    let shape = Shape::of(call.headers, call.query, WorkspaceRow::COLUMNS)?;
    let query = WorkspaceRowsQuery {
        filter: call.query.filter()?,
        paging: if shape.format == Format::Columns {
            call.query.paging_of_columns()?
        } else {
            call.query.paging()?
        },
        window: call.query.window()?,
    };
    let rows = call.core.workspace_rows(&query, PAGE_TEXT_BYTES_MAX)?;
    Ok(Completion::Response(shape.response(&rows)))
}
