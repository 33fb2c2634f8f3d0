// The conformance cases: the responses of the native engine, byte by byte.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Engine, memoryStorage } from "../pkg/index.node.js";
import { assertSame, play } from "./conformance.mjs";
import { transcripts } from "./transcripts.mjs";

test("conformance_cases_return_the_bytes_of_the_native_engine", async (context) => {
    assertSame(assert, context, await play(transcripts(), (options) => Engine.open(options), memoryStorage));
});
