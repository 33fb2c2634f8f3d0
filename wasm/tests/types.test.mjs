// The declarations fit what a strict program does with them, and what they forbid is forbidden.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const GOOD = `
import { DeskfleetError, Engine, memoryStorage, type Answer, type EngineOptions, type ErrorCode, type IssuedKey, type Storage } from "deskfleet";
import { fileStorage } from "deskfleet/node";

class Mine implements Storage {
    readonly persisted = false;
    #bytes = new Uint8Array(0);
    len(): number { return this.#bytes.length; }
    read(offset: number, into: Uint8Array): void { into.set(this.#bytes.subarray(offset, offset + into.length)); }
    write(offset: number, from: Uint8Array): void { this.#bytes.set(from, offset); }
    setLen(bytes: number): void { const kept = this.#bytes.subarray(0, bytes); this.#bytes = new Uint8Array(bytes); this.#bytes.set(kept); }
    sync(): void {}
    close(): void {}
    async settled(): Promise<void> {}
}

export async function main(): Promise<ErrorCode | undefined> {
    const options: EngineOptions = { storage: new Mine(), clock: () => Date.now(), seed: 1, limits: { queueRecords: 10 }, actionDriver: "host" };
    const engine: Engine = await Engine.open(options);
    for (const storage of [memoryStorage(), fileStorage("fleet.redb"), fileStorage(new URL("file:///fleet.redb"), { breakLock: true })]) storage.close();
    const count: number = await engine.putWorkspaces([{ workSpId: "ws-1", state: null }]);
    const key: IssuedKey = await engine.issueKey({ name: "a", scopes: ["read", "admin"], expires: new Date() });
    const response: Response = await engine.fetch(new Request("http://fleet/"));
    const answer: Answer = engine.handle("GET", "/", new Headers({ "x-api-key": key.key }));
    const again: Engine = await Engine.restore(await engine.snapshot());
    engine.advanceClock(count + answer.status + response.status);
    await again.close();
    try {
        await engine.failAction(1, { state: "ERROR" });
    } catch (error) {
        if (error instanceof DeskfleetError) return error.code;
    }
    return engine.persisted() ? "Internal" : undefined;
}
`;

/** One line of each must not compile. */
const BAD = `
import { Engine, type Storage } from "deskfleet";
// @ts-expect-error engines are opened
new Engine();
// @ts-expect-error there is no such option
Engine.open({ colour: "red" });
// @ts-expect-error a storage is synchronous
const storage: Storage = { len: async () => 0, read() {}, write() {}, setLen() {}, sync() {}, close() {} };
// @ts-expect-error there is no such scope
export const issue = (engine: Engine) => engine.issueKey({ name: "a", scopes: ["root"] });
`;

test("strict programs compile against the declarations", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "deskfleet-"));
    try {
        mkdirSync(path.join(folder, "node_modules"));
        symlinkSync(fileURLToPath(new URL("../pkg", import.meta.url)), path.join(folder, "node_modules/deskfleet"));
        writeFileSync(path.join(folder, "package.json"), '{"type":"module"}');
        writeFileSync(path.join(folder, "good.ts"), GOOD);
        writeFileSync(path.join(folder, "bad.ts"), BAD);
        const tsc = path.join(path.dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
        for (const [module, resolution] of [["nodenext", "nodenext"], ["esnext", "bundler"]]) {
            const options = ["--strict", "--noEmit", "--target", "esnext", "--lib", "esnext,dom", "--types", ""];
            const run = spawnSync(process.execPath, [tsc, ...options, "--module", module, "--moduleResolution", resolution, "good.ts", "bad.ts"], { cwd: folder, encoding: "utf8" });
            assert.equal(run.status, 0, `${module}: ${run.stdout}${run.stderr}`);
        }
    } finally {
        rmSync(folder, { recursive: true });
    }
});
