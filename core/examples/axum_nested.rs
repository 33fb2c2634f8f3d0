//! The engine as one part of an axum application, under `/fleet`, through `tower_service::Service`.
//!
//! `cargo run --example axum_nested -p deskfleet --features tower`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]
#![expect(clippy::disallowed_methods, reason = "a host has a real clock")]

use std::error::Error;
use std::time::SystemTime;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{Request, Response, StatusCode};
use axum::routing::get;
use deskfleet::{Engine, NewKey, Scope};
use http_body_util::BodyExt;
use tower_service::Service;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let engine = Engine::builder()
        .clock(SystemTime::now)
        .random(getrandom::fill)
        .open_in_memory()?;
    let key = engine.issue_key(NewKey {
        name: "example".into(),
        scopes: [Scope::Admin].into_iter().collect(),
        expires: None,
    })?;
    let app = Router::new()
        .route("/", get(|| async { "the rest of the application" }))
        .nest("/fleet", Router::new().fallback(fleet).with_state(engine));

    // A server would pass `app` to `axum::serve`; the example sends it three requests and ends.
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let paths = [
        "/".to_owned(),
        "/fleet/api/Stats/queue/count".to_owned(),
        format!(
            "/fleet/api/Information/GetAllWorkSpaces?apiKey={}",
            key.secret
        ),
    ];
    for path in paths {
        let request = Request::get(path).body(Body::empty())?;
        let (status, text) = runtime.block_on(ask(app.clone(), request))?;
        println!("{status} {text}");
        assert_eq!(status, StatusCode::OK);
    }
    Ok(())
}

/// Reads the body, up to the limit of its endpoint, and passes the request on.
async fn fleet(State(mut engine): State<Engine>, request: Request<Body>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let route = engine.route(&parts.method, parts.uri.path());
    let max = route.map_or(0, |route| route.body_bytes_max(&engine.config().limits));
    let body = match read(body, max).await {
        Ok(body) => body,
        Err(_gone) => return Response::new(Body::empty()),
    };
    let Ok(response) = Service::call(&mut engine, Request::from_parts(parts, body)).await;
    response.map(Body::from)
}

/// The body, or `max + 1` bytes of it: then the engine returns 413.
async fn read(mut body: Body, max: usize) -> Result<Bytes, axum::Error> {
    let mut read = Vec::new();
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame?.into_data() {
            read.extend_from_slice(&data);
        }
        if read.len() > max {
            break;
        }
    }
    Ok(read.into())
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
