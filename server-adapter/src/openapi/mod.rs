//! The OpenAPI 3.1 document, built from the engine's own tables: [`ROUTES`], the records' fields and the limits in force.

mod operations;
mod problems;
mod schemas;

use deskfleet::Config;
use deskfleet::routes::ROUTES;
use serde_json::{Map, Value, json};

use crate::page::Page;

const DESCRIPTION: &str = "Inventory, lifecycle actions and telemetry of virtual desktop workspaces. \
Paths and query names are matched without regard to case. Every GET answers HEAD too. \
The key may be sent as the query parameter apiKey, or, better kept out of logs, as X-Api-Key or as a bearer token.";

/// The document for an engine of this configuration.
#[must_use]
pub fn document(config: &Config) -> Value {
    let mut paths = Map::new();
    for route in &ROUTES {
        let operation = operations::operation(route, config);
        insert(
            &mut paths,
            route.path,
            &route.method.as_str().to_ascii_lowercase(),
            operation,
        );
    }
    for page in Page::ALL {
        insert(&mut paths, page.path(), "get", operations::page(page));
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "deskfleet",
            "summary": "Workspace Management Service",
            "description": DESCRIPTION,
            "version": "1.0.0",
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "tags": [
            {"name": "information", "description": "Reads workspaces and activity, and removes a workspace's entry."},
            {"name": "actions", "description": "Lifecycle actions on one workspace. 200 means accepted; the next read shows the transitional state."},
            {"name": "stats", "description": "Telemetry posted by workspace instances. 200 means durable."},
            {"name": "operator", "description": "The inventory, holds, history, outbox and keys."},
            {"name": "service", "description": "The server's own pages; no key."},
        ],
        "paths": paths,
        "components": {
            "schemas": schemas::all(),
            "securitySchemes": {
                "apiKey": {"type": "apiKey", "in": "query", "name": "apiKey"},
                "apiKeyHeader": {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
                "bearer": {"type": "http", "scheme": "bearer"},
            },
        },
    })
}

fn insert(paths: &mut Map<String, Value>, path: &str, method: &str, operation: Value) {
    let methods = paths.entry(path).or_insert_with(|| json!({}));
    if let Some(methods) = methods.as_object_mut() {
        methods.insert(method.to_owned(), operation);
    }
}
