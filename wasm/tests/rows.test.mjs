// Rows that a call writes in a Durable Object, which are billed; the table of the README has them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { durableObjectStorage } from "../pkg/durable-object.js";
import { Engine } from "../pkg/index.node.js";
import { JSON_HEADERS } from "./faulty.mjs";

/** A database with the statements of the storage, which counts written rows. */
function database() {
    const rows = new Map();
    let store;
    const counts = { written: 0 };
    const exec = (query, ...bindings) => {
        let found = [];
        if (query.startsWith("SELECT length")) found = store ? [store] : [];
        else if (query.startsWith("SELECT bytes")) found = rows.has(bindings[0]) ? [{ bytes: rows.get(bindings[0]) }] : [];
        else if (query.startsWith("DELETE")) for (const number of rows.keys()) number >= bindings[0] && rows.delete(number);
        else if (query.startsWith("INSERT")) {
            counts.written += 1;
            if (query.includes("deskfleet_rows")) rows.set(bindings[0], bindings[1].slice());
            else store = { length: bindings[0], row_bytes: bindings[1] };
        }
        return { toArray: () => found };
    };
    return { counts, sql: { exec }, transactionSync: (run) => run() };
}

test("post_in_a_durable_object_writes_at_most_seven_rows", async (context) => {
    const object = database();
    const engine = await Engine.open({ seed: 1, storage: durableObjectStorage(object) });
    object.counts.written = 0;
    const posts = 200;
    for (let id = 0; id < posts; id++) {
        const { status } = engine.handle("POST", "/api/Stats/Post", JSON_HEADERS, JSON.stringify({ id, instanceId: `ws-${id % 50}` }));
        assert.equal(status, 200);
    }
    context.diagnostic(`${object.counts.written / posts} rows a post`);
    assert.ok(object.counts.written <= 7 * posts);
    await engine.close();
    const again = await Engine.open({ storage: durableObjectStorage(object) });
    assert.equal(await again.queueCount(), posts);
    await again.close();
});
