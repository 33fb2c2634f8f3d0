//! The OpenAPI document, which `cargo openapi` writes.

mod version_3_0;

use std::sync::LazyLock;

use bytes::Bytes;
use flate2::{Decompress, FlushDecompress};

/// `openapi.json`, deflated by the build script.
const DEFLATED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/openapi.json.deflate"));
/// The length of `openapi.json`, in bytes.
const LENGTH: usize = include_bytes!("../../openapi.json").len();

/// The document that a query asks for: in version 3.1, or with `version=3.0` in that; `None` where it asks for another one.
pub(crate) fn asked(query: Option<&str>) -> Option<Bytes> {
    let mut pairs = query.unwrap_or_default().split('&');
    let value = pairs.find_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        (name.eq_ignore_ascii_case("version") && !value.is_empty()).then_some(value)
    });
    match value {
        None | Some("3.1" | "3.1.0") => Some(document()),
        Some("3.0" | "3.0.0" | "3.0.1" | "3.0.2" | "3.0.3") => Some(document_in_3_0()),
        Some(_) => None,
    }
}

fn document_in_3_0() -> Bytes {
    static DOCUMENT: LazyLock<Bytes> = LazyLock::new(|| {
        let document = serde_json::from_slice(&document());
        let document = document.map(|document| version_3_0::converted(&document));
        document.map_or_else(|_| Bytes::new(), |document| document.to_string().into())
    });
    DOCUMENT.clone()
}

/// The document in version 3.1; empty only if the build script wrote something else.
fn document() -> Bytes {
    static DOCUMENT: LazyLock<Bytes> = LazyLock::new(|| {
        let mut text = Vec::with_capacity(LENGTH);
        let mut inflate = Decompress::new(false);
        let done = inflate.decompress_vec(DEFLATED, &mut text, FlushDecompress::Finish);
        done.map(|_| text.into()).unwrap_or_default()
    });
    DOCUMENT.clone()
}

#[cfg(test)]
mod tests {
    use crate::request::operation::OWN_ROUTES;

    use super::*;

    #[test]
    fn version_of_the_document_is_the_one_that_is_asked_for() {
        let version = |query: &str| {
            let document: serde_json::Value = serde_json::from_slice(&asked(Some(query))?).unwrap();
            Some(document["openapi"].as_str().unwrap().to_owned())
        };
        for query in ["", "version=", "version=3.1", "x=1&VERSION=3.1.0"] {
            assert_eq!(version(query).as_deref(), Some("3.1.0"), "{query}");
        }
        for query in ["version=3.0", "Version=3.0.3&version=3.1"] {
            assert_eq!(version(query).as_deref(), Some("3.0.3"), "{query}");
        }
        for query in ["version=2.0", "version=3"] {
            assert_eq!(version(query), None, "{query}");
        }
        let text = String::from_utf8(asked(Some("version=3.0")).unwrap().to_vec()).unwrap();
        for word in [
            "\"const\":",
            "[\"string\",\"null\"]",
            "\"contentSchema\"",
            "{\"type\":\"null\"}",
        ] {
            assert!(!text.contains(word), "{word}");
        }
    }

    #[test]
    fn document_is_the_file_and_describes_every_own_route() {
        let file = include_str!("../../openapi.json");
        assert_eq!(document(), file);
        let document: serde_json::Value = serde_json::from_str(file).unwrap();
        for row in OWN_ROUTES {
            // The files of the console are no interface.
            if row.path == "/app/{file}" {
                continue;
            }
            let operations = document["paths"][row.path].as_object().unwrap();
            let taken = |method: &str| row.takes(&method.to_uppercase().parse().unwrap());
            let mut found = operations.iter().filter(|(method, _)| taken(method));
            assert_eq!(found.next().unwrap().1["operationId"], row.operation_id);
        }
    }
}
