// What a page sends to the worker with the engine of a body that is too large, and of an import. The worker is a stand-in.

import assert from "node:assert/strict";
import { test } from "node:test";
import { connectThrough } from "../pkg/browser/client.js";

const MIB = 1024 * 1024;
/** A page has events of its lifecycle, and locks, without which a store is refused; this program has neither. */
globalThis.addEventListener = () => {};
Object.defineProperty(globalThis, "navigator", { value: { locks: {} }, configurable: true });

/** A worker that keeps the length of each body. */
class Echo extends EventTarget {
    lengths = [];

    postMessage({ open, calls, close }) {
        if (open) this.#say({ opened: true });
        if (close) this.#say({ closed: true });
        for (const { id, argument } of calls ?? []) {
            const { body } = argument;
            this.lengths.push(body.byteLength);
            this.#say({ answers: [{ id, value: { status: 200, headers: [], body: null } }] });
        }
    }

    terminate() {}

    #say(data) {
        queueMicrotask(() => this.dispatchEvent(Object.assign(new Event("message"), { data })));
    }
}

async function connected(options) {
    const worker = new Echo();
    const engine = await connectThrough(() => worker, options);
    const post = (path, length) => engine.fetch(path, { method: "POST", body: new Uint8Array(length) });
    return { engine, worker, post };
}

test("body_above_the_largest_limit_is_refused_and_no_part_of_it_is_sent", async () => {
    const { engine, worker, post } = await connected();
    const refused = await post("/operator/telemetry", 8 * MIB + 1);
    const { status, code, title } = await refused.json();
    assert.deepEqual([refused.status, status, code, title], [413, 413, "PayloadTooLarge", "Content Too Large"]);
    assert.equal(refused.headers.get("content-type"), "application/problem+json; charset=utf-8");
    // An unusual spelling of the path of an import is not read as one, but no part of it is sent either.
    assert.equal((await post("/operator/%77orkspaces", 8 * MIB + 1)).status, 413);
    assert.equal((await post("/operator/telemetry", 8 * MIB)).status, 200);
    assert.deepEqual(worker.lengths, [8 * MIB]);
    await engine.close();
});

test("import_of_any_length_is_sent_whole", async () => {
    const { engine, worker, post } = await connected();
    assert.equal((await post("/Operator/Workspaces/?x=1", 9 * MIB)).status, 200);
    assert.deepEqual(worker.lengths, [9 * MIB]);
    await engine.close();
});

test("limit_in_text_is_a_bound_as_a_number_is", async () => {
    for (const batchBodyBytes of ["9 MiB", "8MiB 1024KiB", 9 * MIB]) {
        const { engine, worker, post } = await connected({ limits: { batchBodyBytes } });
        assert.equal((await post("/operator/telemetry", 9 * MIB)).status, 200);
        assert.equal((await post("/operator/telemetry", 9 * MIB + 1)).status, 413);
        assert.deepEqual(worker.lengths, [9 * MIB]);
        await engine.close();
    }
});
