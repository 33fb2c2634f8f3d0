//! The engine as one part of an axum application, under `/fleet`, through `tower_service::Service`.
//!
//! `cargo run --example axum_nested -p deskfleet --features tower`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::routing::get;
use deskfleet::{Engine, NewKey, Scope};
use http_body_util::BodyExt;
use tower_service::Service;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let engine = Engine::in_memory()?;
    let key = engine.issue_key(NewKey::new("example", [Scope::Admin]))?;
    // Long reads run on blocking threads, so that they do not hold up the rest of the application.
    let fleet = engine.service(|work| {
        tokio::task::spawn_blocking(work);
    });
    let fleet = fleet.with_events(tokio::time::sleep);
    let app = Router::new()
        .route("/", get(|| async { "the rest of the application" }))
        .nest_service("/fleet", fleet);

    // A server would pass `app` to `axum::serve`; the example sends it four requests and ends.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    let paths = [
        "/".to_owned(),
        "/fleet/api/Stats/queue/count".to_owned(),
        format!(
            "/fleet/api/Information/GetAllWorkSpaces?apiKey={}",
            key.secret
        ),
    ];
    let mut requests = vec![
        Request::post("/fleet/api/Stats/Post")
            .header("content-type", "application/json")
            .body(Body::from(r#"{"username":"jdoe","processorInUse":12}"#))?,
    ];
    for path in paths {
        requests.push(Request::get(path).body(Body::empty())?);
    }
    for request in requests {
        let (status, text) = runtime.block_on(ask(app.clone(), request))?;
        println!("{status} {text}");
        assert_eq!(status, StatusCode::OK);
    }
    Ok(())
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
