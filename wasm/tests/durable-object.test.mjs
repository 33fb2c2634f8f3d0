// The Durable Object of the example, served by workerd: acknowledged records are there after its object was evicted,
// left idle, or its process killed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { objectFolder } from "./object-folder.mjs";
import { serve } from "./workerd.mjs";

/** workerd evicts an object after ten seconds without a request. */
const IDLE_MS = 13_000;
const RECORD = { method: "POST", headers: { "content-type": "application/json" } };

/** Calls a test endpoint of the object. */
async function ask(url, door, ...parameters) {
    const response = await fetch(`${url}/${door}`, { method: "POST", body: JSON.stringify(parameters) });
    const text = await response.text();
    if (response.status !== 200) throw new Error(text);
    return JSON.parse(text);
}

/** Posts records with ids from `first`, until the server is gone; returns the ids that were acknowledged. */
async function postUntilGone(url, first, acknowledged) {
    let id = first;
    const sender = async () => {
        for (;;) {
            const mine = id++;
            try {
                const response = await fetch(`${url}/api/Stats/Post`, { ...RECORD, body: JSON.stringify({ id: mine, instanceId: "ws-1" }) });
                if (response.status === 200) acknowledged.add(mine);
            } catch {
                return;
            }
        }
    };
    await Promise.all(Array.from({ length: 8 }, sender));
}

/** The ids of all records in the store. */
async function recordIds(url) {
    const { key } = await ask(url, "fleet/call", "issueKey", [{ name: `check ${crypto.randomUUID()}`, scopes: ["admin"] }]);
    while ((await ask(url, "fleet/call", "filePending", [])) > 0);
    const ids = new Set();
    for (let token = ""; token !== null; ) {
        const query = new URLSearchParams({ instanceId: "ws-1", limit: "500", ...(token && { nextToken: token }) });
        const response = await fetch(`${url}/operator/telemetry/stats?${query}`, { headers: { "x-api-key": key } });
        assert.equal(response.status, 200);
        const { records, nextToken } = await response.json();
        for (const { id } of records) ids.add(id);
        token = nextToken;
    }
    return ids;
}

test("durable_object_example_keeps_its_data_across_restarts_and_evictions", async (context) => {
    const made = await objectFolder(context);
    if (!made) return;
    let server = await serve(made.workerd, made.folder);
    const post = () => fetch(`${server.url}/api/Stats/Post`, { ...RECORD, body: "{}" }).then(({ status }) => status);
    const count = () => fetch(`${server.url}/api/Stats/queue/count`).then((response) => response.json());
    assert.equal(await ask(server.url, "fleet/putWorkspaces", [{ workSpId: "ws-1", state: "AVAILABLE" }]), 1);
    const { key } = await ask(server.url, "fleet/issueKey", { name: "desk", scopes: ["read"] });
    assert.equal(await post(), 200);
    assert.equal(await ask(server.url, "fleet/openTwice"), "StorageLocked");

    const first = await ask(server.url, "fleet/made");
    await assert.rejects(ask(server.url, "fleet/lose"), /lost/);
    const second = await ask(server.url, "fleet/made");
    assert.notEqual(second, first);
    assert.equal(await count(), 1);
    assert.equal(await post(), 200);

    await pause(IDLE_MS);
    assert.notEqual(await ask(server.url, "fleet/made"), second, "the object was evicted");
    assert.equal(await count(), 2);

    await server.kill();
    server = await serve(made.workerd, made.folder);
    assert.equal(await count(), 2);
    const list = await fetch(`${server.url}/api/Information/GetAllWorkSpaces`, { headers: { "x-api-key": key } });
    assert.equal((await list.json()).workSpaces[0].workSpId, "ws-1");
    await server.kill();
});

test("killed_workerd_keeps_acknowledged_records", async (context) => {
    const made = await objectFolder(context);
    if (!made) return;
    const acknowledged = new Set();
    for (let life = 0; life < 4; life++) {
        const server = await serve(made.workerd, made.folder);
        const before = acknowledged.size;
        const posting = postUntilGone(server.url, life * 1_000_000, acknowledged);
        await server.until(() => acknowledged.size >= before + 40 + 17 * life);
        await server.kill();
        await posting;
    }
    const server = await serve(made.workerd, made.folder);
    const ids = await recordIds(server.url);
    await server.kill();
    const lost = [...acknowledged].filter((id) => !ids.has(id));
    context.diagnostic(`${acknowledged.size} records acknowledged, ${ids.size} there`);
    assert.deepEqual(lost, []);
});

test("durable_object_storage_equals_plain_bytes", async (context) => {
    const made = await objectFolder(context);
    if (!made) return;
    const server = await serve(made.workerd, made.folder);
    for (let seed = 1; seed <= 8; seed++) {
        const { counts, difference } = await ask(server.url, `store/compare?name=${seed}`, seed, 400);
        assert.equal(difference, undefined);
        assert.ok(Object.values(counts).every((count) => count > 10), JSON.stringify(counts));
        const hash = await ask(server.url, `store/hash?name=${seed}`);
        await assert.rejects(ask(server.url, `store/lose?name=${seed}`), /lost/);
        assert.equal(await ask(server.url, `store/hash?name=${seed}`), hash);
    }
    await server.kill();
});

test("full_or_foreign_durable_object_is_refused_with_its_code", async (context) => {
    const made = await objectFolder(context);
    if (!made) return;
    const server = await serve(made.workerd, made.folder);
    assert.match(await ask(server.url, "store/full?name=full", 1_000_000), /^503 .*"LowDisk"/);
    assert.match(await ask(server.url, "store/full?name=roomy", 100_000_000), /^200 $/);
    assert.equal(await ask(server.url, "store/wrongVersion?name=other"), "NewerFormat");
    assert.equal(await ask(server.url, "store/inlined"), "ModuleUnavailable");
    await server.kill();
});
