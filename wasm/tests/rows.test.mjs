// What a call writes in a Durable Object, in rows, which are billed; the table of the README has them. And the log of its storage.

import assert from "node:assert/strict";
import { test } from "node:test";
import { durableObjectStorage } from "../pkg/durable-object.js";
import { Engine } from "../pkg/index.node.js";
import { JSON_HEADERS } from "./faulty.mjs";
import { objectDatabase } from "./object-database.mjs";
import { compare } from "./storage-model.mjs";

const ROW_BYTES = 16_384;

function allOf(database) {
    const storage = durableObjectStorage(database);
    const bytes = new Uint8Array(storage.len());
    storage.read(0, bytes);
    storage.close();
    return bytes;
}

test("post_in_a_durable_object_writes_at_most_three_rows_and_16_kib", async (context) => {
    const object = objectDatabase();
    const engine = await Engine.open({ seed: 1, storage: durableObjectStorage(object) });
    Object.assign(object.counts, { rows: 0, bytes: 0 });
    const posts = 200;
    for (let id = 0; id < posts; id++) {
        const { status } = engine.handle("POST", "/api/Stats/Post", JSON_HEADERS, JSON.stringify({ id, instanceId: `ws-${id % 50}` }));
        assert.equal(status, 200);
    }
    const { rows, bytes } = object.counts;
    context.diagnostic(`${rows / posts} rows and ${(bytes / posts / 1024).toFixed(1)} KiB a post`);
    assert.ok(rows <= 3 * posts);
    assert.ok(bytes <= 16 * 1024 * posts);
    // As after the host was lost: nothing is written when it ends.
    const again = await Engine.open({ storage: durableObjectStorage({ ...object }) });
    assert.equal(await again.queueCount(), posts);
    await again.close();
});

test("durable_object_storage_with_failing_statements_equals_plain_bytes", () => {
    for (let seed = 1; seed <= 12; seed++) {
        let statements = 0;
        let failures = 0;
        let fails = true;
        const object = objectDatabase(() => {
            statements += 1;
            if (!fails || statements % 7 !== 0) return;
            fails = false;
            failures += 1;
            throw new Error("no room");
        });
        const patient = (call) => {
            try {
                call();
            } catch (error) {
                assert.equal(error.message, "no room");
                call();
            }
            fails = true;
        };
        const open = () => {
            const storage = durableObjectStorage(object);
            return { ...storage, sync: () => patient(() => storage.sync()), write: (at, bytes) => patient(() => storage.write(at, bytes)) };
        };
        const { counts, difference } = compare(open, seed, 200);
        assert.equal(difference, undefined);
        assert.ok(counts.reopen > 5 && failures > 5, JSON.stringify({ counts, failures }));
    }
});

test("changes_of_unsynced_writes_are_lost_and_those_of_the_log_are_kept", () => {
    const object = objectDatabase();
    const storage = durableObjectStorage(object);
    const model = new Uint8Array(5 * ROW_BYTES);
    storage.setLen(model.length);
    storage.sync();
    for (let step = 1; step <= 700; step++) {
        const bytes = new Uint8Array(40).fill(step);
        const at = (step * 7919) % (model.length - bytes.length);
        storage.write(at, bytes);
        if (step % 3 === 0) continue;
        storage.sync();
        for (const before of step % 3 === 1 && step > 1 ? [step - 1, step] : [step]) {
            model.fill(before, (before * 7919) % (model.length - 40), ((before * 7919) % (model.length - 40)) + 40);
        }
        if (step % 50 === 1) assert.deepEqual(allOf({ ...object }), model, `after ${step} writes`);
    }
    assert.ok(object.counts.rows < 700, `${object.counts.rows} rows`);
});

test("store_without_a_log_is_taken_over_and_a_damaged_log_is_refused", () => {
    const object = objectDatabase();
    object.sql.exec("INSERT OR REPLACE INTO deskfleet_store VALUES (1, ?, ?)", 2 * ROW_BYTES, ROW_BYTES);
    object.sql.exec("INSERT OR REPLACE INTO deskfleet_rows VALUES (?, ?)", 1, new Uint8Array(ROW_BYTES).fill(7));
    const storage = durableObjectStorage(object);
    storage.write(0, new Uint8Array(3).fill(1));
    storage.sync();
    storage.write(3, new Uint8Array(3).fill(2));
    storage.sync();
    storage.close();
    assert.deepEqual([...allOf(object).subarray(0, 8)], [1, 1, 1, 2, 2, 2, 0, 0]);
    assert.equal(allOf(object).at(-1), 7);
    // A version without a log compares this with the bytes of a row.
    assert.equal(object.tables.deskfleet_store.get(1)[2], 2);

    const [place, entry, length] = object.tables.deskfleet_log.get(1);
    for (const changes of [[1], [0, 0, 0, 0, 0, 0, 0, 9], [0, 0, 0, 0, 255, 255, 0, 1, 0]]) {
        object.tables.deskfleet_log.set(1, [place, entry, length, Uint8Array.from(changes).buffer]);
        assert.throws(() => durableObjectStorage({ ...object }), { code: "Corrupted" });
    }
    object.tables.deskfleet_log.clear();
    assert.throws(() => durableObjectStorage({ ...object }), { code: "Corrupted" });
    object.tables.deskfleet_store.set(1, [1, 0, 3]);
    assert.throws(() => durableObjectStorage({ ...object }), { code: "NewerFormat" });
});
