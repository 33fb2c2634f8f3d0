// The vendored file is what its script makes, so that nobody edits it by hand.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { tool } from "../runtimes.mjs";

test("vendored_file_is_what_its_script_makes", async (context) => {
    if (!["esbuild", "preact", "@preact/signals", "htm"].every((name) => tool(name, context))) return;
    const { VENDORED, vendored } = await import("./vendor.mjs");
    assert.ok(readFileSync(VENDORED, "utf8") === (await vendored()), "run node wasm/tests/console/vendor.mjs");
});
