// What a page or a Worker loads stays small. A budget is raised only for what is worth it to every user.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

// In kB of gzip, added to the 414 of the first version: 27 for comparing names in NFC and simple case folding (20 are the tables of
// Unicode and what reads them, the rest is the rewriting of files with other keys, and the counting of equal refusals), and 28 for
// lists made in chunks, writes in doubt, and telemetry that costs the same for each byte however alike its records are.
// The standard library that rustup installs is compiled for speed and takes more than that of Debian's packages, which is built for size.
const [GZIP_BYTES_MAX, BROTLI_BYTES_MAX] = process.env.DESKFLEET_WASM_TOOLCHAIN === "debian" ? [471_000, 380_000] : [515_000, 409_000];

test("the module stays within its budget", (t) => {
    const module = readFileSync(new URL("../pkg/deskfleet.wasm", import.meta.url));
    const gzip = gzipSync(module, { level: 9 }).length;
    const brotli = brotliCompressSync(module, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: module.length } }).length;
    t.diagnostic(`deskfleet.wasm: ${module.length} bytes, ${gzip} in gzip, ${brotli} in brotli`);
    assert.ok(gzip <= GZIP_BYTES_MAX, `${gzip} bytes in gzip, more than ${GZIP_BYTES_MAX}`);
    assert.ok(brotli <= BROTLI_BYTES_MAX, `${brotli} bytes in brotli, more than ${BROTLI_BYTES_MAX}`);
});
