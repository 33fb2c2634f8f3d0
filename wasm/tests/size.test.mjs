// The module that a page or a Worker loads stays small. A budget is raised only for what is worth it to every user.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

// The standard library that rustup installs is compiled for speed and is larger than one built for size, as `cargo wasm --std debian`
// does. Its panic messages name its source files by their paths on the machine of its makers.
const BUDGETS = {
    stock: { gzip: 646_000, brotli: 525_000 },
    small: { gzip: 624_000, brotli: 511_000 },
};

test("module_stays_within_its_budget", (t) => {
    const module = readFileSync(new URL("../pkg/deskfleet.wasm", import.meta.url));
    const std = module.includes("/rustc/") ? "stock" : "small";
    const sizes = { gzip: gzipSync(module, { level: 9 }).length, brotli: brotliCompressSync(module, brotli(module.length)).length };
    t.diagnostic(`deskfleet.wasm: ${module.length} bytes, ${sizes.gzip} in gzip, ${sizes.brotli} in brotli; the ${std} standard library`);
    for (const [encoding, max] of Object.entries(BUDGETS[std])) {
        assert.ok(sizes[encoding] <= max, `${sizes[encoding]} bytes in ${encoding}, more than the ${max} of the ${std} standard library`);
    }
});

function brotli(length) {
    return { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: length } };
}
