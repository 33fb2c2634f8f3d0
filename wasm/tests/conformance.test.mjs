// The conformance cases: what the native engine answers, this one answers, byte by byte.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { Engine, memoryStorage } from "../pkg/index.node.js";
import { play } from "./conformance.mjs";

/** The native engine's answers: from a file that is there already, or made now. */
function transcripts() {
    if (process.env.DESKFLEET_TRANSCRIPTS) return readFileSync(process.env.DESKFLEET_TRANSCRIPTS, "utf8");
    const folder = mkdtempSync(path.join(tmpdir(), "deskfleet-"));
    try {
        const file = path.join(folder, "transcripts.ndjson");
        const root = new URL("../..", import.meta.url);
        const cargo = ["run", "--quiet", "--package", "deskfleet-tests", "--example", "write_transcripts", "--", file];
        execFileSync("cargo", cargo, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
        return readFileSync(file, "utf8");
    } finally {
        rmSync(folder, { recursive: true });
    }
}

test("the conformance cases give the bytes of the native engine", async (context) => {
    const { cases, answers, differences } = await play(transcripts(), (options) => Engine.open(options), memoryStorage);
    context.diagnostic(`${cases} cases with ${answers} answers were compared`);
    assert.equal(differences.length, 0, `${differences.length} answers differ, the first:\n${differences.slice(0, 5).join("\n")}`);
    assert.ok(cases >= 300 && answers >= 3000, `only ${cases} cases with ${answers} answers were compared`);
});
