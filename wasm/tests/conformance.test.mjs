// The conformance cases: what the native engine answers, this one answers, byte by byte.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Engine, memoryStorage } from "../pkg/index.node.js";
import { play } from "./conformance.mjs";
import { transcriptFile } from "./transcripts.mjs";

test("the conformance cases give the bytes of the native engine", async (context) => {
    const { cases, answers, differences } = await play(readFileSync(transcriptFile(), "utf8"), (options) => Engine.open(options), memoryStorage);
    context.diagnostic(`${cases} cases with ${answers} answers were compared`);
    assert.equal(differences.length, 0, `${differences.length} answers differ, the first:\n${differences.slice(0, 5).join("\n")}`);
    assert.ok(cases >= 300 && answers >= 3000, `only ${cases} cases with ${answers} answers were compared`);
});
