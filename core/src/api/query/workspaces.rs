//! `GET /query/workspaces`

use crate::api::{Call, Completion, Handled};
use crate::view::query::workspaces::{self, WorkspaceRow, WorkspaceRowsQuery};
use crate::wire::rows::Shape;

pub(super) fn answer(call: &Call<'_>) -> Handled {
    let shape = Shape::of(call.headers, call.query, WorkspaceRow::COLUMNS)?;
    let query = WorkspaceRowsQuery {
        filter: call.query.filter()?,
        paging: call.query.paging()?,
        window: call.query.window()?,
    };
    let rows = workspaces::workspaces(&call.core.rollup_reader()?, &query)?;
    Ok(Completion::Response(shape.response(&rows)))
}
