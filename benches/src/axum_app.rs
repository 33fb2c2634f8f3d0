//! The three routes of the dispatch bench as an axum application with the same key check and query.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde::Deserialize;
use sha2::{Digest, Sha256};

#[derive(Debug)]
struct App {
    /// SHA-256 of a key, and its name.
    keys: BTreeMap<[u8; 32], String>,
    queued: AtomicU64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    api_key: Option<String>,
    number_of_activities: Option<i32>,
}

/// The application; `key` is the key it accepts.
pub fn axum_app(key: &str) -> Router {
    let hash = Sha256::digest(key).into();
    let app = App {
        keys: BTreeMap::from([(hash, "bench".to_owned())]),
        queued: AtomicU64::new(0),
    };
    Router::new()
        .route("/api/Stats/Test", get(|| async { StatusCode::OK }))
        .route("/api/Stats/queue/count", get(queue_count))
        .route("/api/Information/GetAdminActivity", get(admin_activity))
        .with_state(Arc::new(app))
}

async fn queue_count(State(app): State<Arc<App>>) -> impl IntoResponse {
    let count = app.queued.load(Ordering::Relaxed);
    (
        [(CONTENT_TYPE, "application/json; charset=utf-8")],
        count.to_string(),
    )
}

async fn admin_activity(State(app): State<Arc<App>>, Query(params): Query<Params>) -> Response {
    let hash: [u8; 32] = Sha256::digest(params.api_key.unwrap_or_default()).into();
    if !app.keys.contains_key(&hash) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let count = params.number_of_activities.unwrap_or(50).clamp(0, 10_000);
    let rows: Vec<i32> = (0..count).collect();
    Json(rows).into_response()
}
