//! The OpenAPI document, which `cargo openapi` writes.

use std::sync::LazyLock;

use bytes::Bytes;
use flate2::{Decompress, FlushDecompress};

/// `openapi.json`, deflated by the build script.
const DEFLATED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/openapi.json.deflate"));
/// The length of `openapi.json`, in bytes.
const LENGTH: usize = include_bytes!("../../openapi.json").len();

/// The document; empty only if the build script wrote something else.
pub(crate) fn document() -> Bytes {
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
