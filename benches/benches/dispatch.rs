//! A small GET in process: route, key, query, handler, response; the same three routes in axum beside it.
//!
//! Building the request is not measured. Both responses are complete: axum's body is collected into bytes.

use axum::body::Body;
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use deskfleet_benches::{axum_app, open, ready};
use http::Request;
use http_body_util::BodyExt;
use tower_service::Service;

const PATHS: [(&str, &str); 3] = [
    ("test", "/api/Stats/Test"),
    ("queue_count", "/api/Stats/queue/count"),
    (
        "admin_activity",
        "/api/Information/GetAdminActivity?numberOfActivities=0",
    ),
];

fn dispatch(criterion: &mut Criterion) {
    let fixture = open(None, |_| {});
    let mut app = axum_app(&fixture.key);
    for (name, path) in PATHS {
        let mut group = criterion.benchmark_group(format!("dispatch/{name}"));
        group.bench_function("deskfleet", |bencher| {
            bencher.iter_batched(
                || fixture.get(path),
                |request| fixture.engine.handle(request),
                BatchSize::SmallInput,
            );
        });
        group.bench_function("axum", |bencher| {
            bencher.iter_batched(
                || fixture.get(path).map(Body::from),
                |request| answer(&mut app, request),
                BatchSize::SmallInput,
            );
        });
        group.finish();
    }
}

fn answer(app: &mut axum::Router, request: Request<Body>) -> http::Response<bytes::Bytes> {
    ready(async {
        let Ok(response) = app.call(request).await;
        let (parts, body) = response.into_parts();
        let body = body
            .collect()
            .await
            .map(http_body_util::Collected::to_bytes);
        http::Response::from_parts(parts, body.unwrap_or_default())
    })
}

criterion_group!(benches, dispatch);
criterion_main!(benches);
