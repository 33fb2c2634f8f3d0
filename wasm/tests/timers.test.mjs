// Fake timers of a test runner, which stand still, hold up no commit.

import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { runInNewContext } from "node:vm";
import { Engine } from "../pkg/index.node.js";
import { fileStorage } from "../pkg/node.js";
import { afterThisTurn } from "../pkg/turn.js";
import { post, postRequest } from "./faulty.mjs";
import { emptyFolder } from "./packed.mjs";
import { output } from "./processes.mjs";

test("commit_and_close_with_fake_timers_complete", async () => {
    mock.timers.enable({ apis: ["setTimeout", "setInterval", "setImmediate", "Date"], now: 1_700_000_000_000 });
    try {
        const engine = await Engine.open({ storage: fileStorage(`${emptyFolder()}/fleet.redb`) });
        assert.equal((await engine.fetch(postRequest())).status, 200);
        const stalled = new Request("http://fleet/api/Stats/Post", { method: "POST", headers: { "content-type": "application/json" }, body: new ReadableStream({}), duplex: "half" });
        const refused = assert.rejects(engine.fetch(stalled), { code: "EngineClosed" });
        await engine.close();
        await refused;
    } finally {
        mock.timers.reset();
    }
});

test("default_clock_follows_a_fake_date", async () => {
    const engine = await Engine.open({ seed: 1 });
    mock.timers.enable({ apis: ["Date"], now: 1_700_000_000_000 });
    try {
        await engine.putWorkspaces([{ workSpId: "ws-1" }]);
        const { events } = await engine.readEvents(0);
        assert.match(JSON.stringify(events.at(-1)), /2023-11-14T22:13:20/);
    } finally {
        mock.timers.reset();
        await engine.close();
    }
});

test("timers_faked_before_the_import_are_not_waited_for", async () => {
    const script = `
        for (const name of ["setTimeout", "setImmediate"]) {
            globalThis[name] = () => {};
            globalThis[name].clock = {};
        }
        const { afterThisTurn } = await import(${JSON.stringify(new URL("../pkg/turn.js", import.meta.url).href)});
        for (let turn = 0; turn < 3; turn++) await new Promise(afterThisTurn);
        console.log("done");`;
    assert.equal(await output(process.execPath, ["--input-type=module", "--eval", script]), "done\n");
    await new Promise(afterThisTurn);
});

test("bytes_and_dates_of_another_realm_are_taken", async () => {
    const { bytes, date, buffer } = runInNewContext('({ bytes: new Uint8Array([123, 125]), date: new Date(0), buffer: new ArrayBuffer(4) })');
    assert.ok(!(bytes instanceof Uint8Array));
    const engine = await Engine.open();
    assert.equal(post(engine, bytes).status, 200);
    assert.ok(await engine.removeTelemetry({ before: date, stream: "stats" }));
    await assert.rejects(Engine.open({ wasm: buffer }), /not a WebAssembly module/);
    const snapshot = await engine.snapshot();
    const copy = runInNewContext("new Uint8Array(length)", { length: snapshot.length });
    copy.set(snapshot);
    await (await Engine.restore(copy)).close();
    await engine.close();
});
