// The responses of the native engine to the conformance cases.

import { execFileSync } from "node:child_process";
import { createReadStream, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";

let made;

/**
 * The file of the native engine's responses: an existing one, or one that is made now and lasts as long as this
 * process.
 */
export function transcriptFile() {
    if (process.env.DESKFLEET_TRANSCRIPTS) return process.env.DESKFLEET_TRANSCRIPTS;
    if (made === undefined) {
        const folder = mkdtempSync(path.join(tmpdir(), "deskfleet-"));
        process.on("exit", () => rmSync(folder, { recursive: true }));
        made = path.join(folder, "transcripts.ndjson");
        const root = new URL("../..", import.meta.url);
        const cargo = ["run", "--quiet", "--package", "deskfleet-tests", "--example", "write_transcripts", "--", made];
        execFileSync("cargo", cargo, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
    }
    return made;
}

/** The lines of that file; together they would be too long for one string. */
export function transcripts() {
    return createInterface({ input: createReadStream(transcriptFile()) });
}
