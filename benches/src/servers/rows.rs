//! axum and SQLite, written by hand with care: the JSON into a struct, the struct into columns, one writer thread that
//! commits all that gathered during its last commit.

use std::path::Path;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use axum::serve::ListenerExt;
use axum::{Json, Router};

use super::{announce, listen};
use crate::sqlite::{Indexed, SqliteSink};
use crate::stats_row::StatsRow;
use crate::writer::Writer;

/// On the runtime that `#[tokio::main]` would make.
pub(super) fn serve(folder: &Path, indexed: Indexed) {
    let writer = Arc::new(Writer::new(SqliteSink::create(folder, indexed)));
    let app = Router::new()
        .route("/api/Stats/Post", post(put))
        .with_state(writer);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let listener = listen().await;
        let stopped = announce(listener.local_addr().expect("an address"));
        let listener = listener.tap_io(|stream| {
            stream.set_nodelay(true).expect("an option of the socket");
        });
        tokio::select! {
            served = axum::serve(listener, app).into_future() => served.expect("it serves"),
            _ = stopped => {}
        }
    });
}

async fn put(State(writer): State<Arc<Writer<StatsRow>>>, Json(row): Json<StatsRow>) -> StatusCode {
    writer.put(row).await;
    StatusCode::OK
}
