//! The engine as one part of an axum application, under `/fleet`, with the users of that application.
//!
//! `cargo run --example axum_nested -p deskfleet --features tower`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::get;
use deskfleet::service::SlowWork;
use deskfleet::{AuditQuery, Engine, Principal, Scope};
use http_body_util::BodyExt;
use tower_service::Service;

/// Long reads that wait for a thread; more are refused with 503.
const WAITING_MAX: usize = 64;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let engine = Engine::in_memory()?;
    let fleet = engine
        .service(slow_threads())
        .with_events(tokio::time::sleep);
    let app = Router::new()
        .nest_service("/fleet", fleet)
        .layer(middleware::from_fn(sign_in))
        .route("/", get(|| async { "the rest of the application" }));

    // A server would pass `app` to `axum::serve`, with a graceful shutdown that calls `engine.close()` by `spawn_blocking`: streams of events end
    // with the engine. The example sends it four requests and ends.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    let asked = [
        ("POST", "/fleet/api/Stats/Post", StatusCode::OK),
        ("GET", "/", StatusCode::OK),
        ("GET", "/fleet/query/workspaces", StatusCode::OK),
        (
            "POST",
            "/fleet/api/Information/RemoveWorkSpaceDbEntry?workSpaceId=ws-1",
            StatusCode::FORBIDDEN,
        ),
    ];
    for (method, path, expected) in asked {
        let request = Request::builder().method(method).uri(path);
        let request = request
            .header("x-user", "jdoe")
            .header("content-type", "application/json");
        let request = request.body(Body::from(r#"{"username":"jdoe","processorInUse":12}"#))?;
        let (status, text) = runtime.block_on(ask(app.clone(), request))?;
        println!("{status} {text}");
        assert_eq!(status, expected);
    }
    for row in engine.audit(&AuditQuery::default())?.rows {
        println!(
            "{:?}: {:?} by {:?}",
            row.action, row.result, row.api_key_name
        );
    }
    engine.close()?;
    Ok(())
}

/// Threads for long reads: one less than there are processors, so that one is always free for everything else.
fn slow_threads() -> impl Fn(SlowWork) + Send + Sync {
    let (give, take) = mpsc::sync_channel::<SlowWork>(WAITING_MAX);
    let take = Arc::new(Mutex::new(take));
    let processors = thread::available_parallelism().map_or(1, usize::from);
    for _ in 0..processors.saturating_sub(1).max(1) {
        let take = Arc::clone(&take);
        thread::spawn(move || {
            let next = || take.lock().ok()?.recv().ok();
            while let Some(work) = next() {
                // Its request is refused; the thread goes on.
                let _ = catch_unwind(AssertUnwindSafe(work));
            }
        });
    }
    // Work for which there is no room is dropped, and its request refused.
    move |work| drop(give.try_send(work))
}

/// Says to the fleet who asks. A real application looks up the session here.
async fn sign_in(mut request: Request<Body>, next: Next) -> Response {
    let user = request.headers().get("x-user");
    if let Some(user) = user.and_then(|user| user.to_str().ok()) {
        let user = Principal::new(user, [Scope::Read]);
        request.extensions_mut().insert(user);
    }
    next.run(request).await
}

async fn ask(
    mut app: Router,
    request: Request<Body>,
) -> Result<(StatusCode, String), Box<dyn Error>> {
    let Ok(response) = app.call(request).await;
    let status = response.status();
    let body = response.into_body().collect().await?.to_bytes();
    Ok((status, String::from_utf8(body.to_vec())?))
}
