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
    use crate::request::page::Page;
    use crate::request::service::Service;

    use super::*;

    #[test]
    fn document_is_the_file_and_describes_every_page_and_service() {
        let file = include_str!("../../openapi.json");
        assert_eq!(document(), file);
        let document: serde_json::Value = serde_json::from_str(file).unwrap();
        for page in Page::ALL {
            // The files of the console have no path of their own, and are no interface.
            let Some(path) = page.path() else {
                continue;
            };
            let operation = &document["paths"][path]["get"];
            assert_eq!(operation["operationId"], page.name());
        }
        for service in Service::ALL {
            let operations = document["paths"][service.path()].as_object().unwrap();
            let taken = |method: &str| service.takes(&method.to_uppercase().parse().unwrap());
            let mut found = operations.iter().filter(|(method, _)| taken(method));
            assert_eq!(found.next().unwrap().1["operationId"], service.name());
        }
    }
}
