//! Deflates the OpenAPI document for the binary: to a tenth.

use std::env::var_os;
use std::io::{Error, Result, Write as _};
use std::path::Path;

use flate2::Compression;
use flate2::write::DeflateEncoder;

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=openapi.json");
    let out = var_os("OUT_DIR").ok_or_else(|| Error::other("Cargo sets OUT_DIR"))?;
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&std::fs::read("openapi.json")?)?;
    std::fs::write(
        Path::new(&out).join("openapi.json.deflate"),
        encoder.finish()?,
    )
}
