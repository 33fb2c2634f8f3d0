// The API: fetch and handle, the typed calls, snapshots, closing, crashing.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { DeskfleetError, Engine, memoryStorage } from "../pkg/index.node.js";
import { JSON_HEADERS, meddled, post, postRequest } from "./faulty.mjs";

const NOW = Date.UTC(2026, 10, 20, 8);
const LIST = "/api/Information/GetAllWorkSpaces";

async function withKey(options, scopes = ["admin"]) {
    const engine = await Engine.open({ clock: () => NOW, seed: 1, ...options });
    const { key } = await engine.issueKey({ name: "desk", scopes });
    return { engine, headers: { "x-api-key": key } };
}

test("handle_and_fetch_return_the_same", async () => {
    const { engine, headers } = await withKey();
    await engine.putWorkspaces([{ workSpId: "ws-1", username: "jdoe", state: "AVAILABLE" }]);
    const trace = { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00" };
    for (const [method, target, more] of [
        ["GET", LIST, headers],
        ["HEAD", LIST, headers],
        ["GET", LIST, trace],
        ["GET", "/api/Stats/Test", trace],
        ["POST", "/api/Stats/Post", trace],
        ["DELETE", "/api/Stats/Post", trace],
        ["GET", "/nowhere", trace],
        ["GET", "/api/Information/GetUserInformation?username=jdoe#part", headers],
    ]) {
        const answer = engine.handle(method, target, more);
        const response = await engine.fetch(new Request(`http://fleet${target}`, { method, headers: more }));
        assert.equal(response.status, answer.status, target);
        const same = ([name]) => name !== "date";
        assert.deepEqual(Object.fromEntries([...response.headers].filter(same)), answer.headers, target);
        const text = (bytes) => new TextDecoder().decode(bytes).replace(/00-[0-9a-f]{32}-[0-9a-f]{16}-00/, "trace");
        assert.equal(text(new Uint8Array(await response.arrayBuffer())), text(answer.body), target);
    }
    await engine.close();
});

test("handle_takes_headers_and_bodies_of_every_kind", async () => {
    const engine = await Engine.open();
    const body = '{"instanceId":"ws-1"}';
    for (const headers of [JSON_HEADERS, new Headers(JSON_HEADERS), Object.entries(JSON_HEADERS), new Map(Object.entries(JSON_HEADERS))]) {
        assert.equal(engine.handle("POST", "/api/Stats/Post", headers, body).status, 200);
    }
    const bytes = new TextEncoder().encode(`--${body}--`).subarray(2, -2);
    assert.equal(engine.handle("POST", "http://any.host/api/Stats/Post", JSON_HEADERS, bytes).status, 200);
    assert.equal(await engine.queueCount(), 5);
    await engine.close();
});

test("writes_of_one_turn_share_a_commit_and_resolve_after_it", async () => {
    const storage = meddled();
    const engine = await Engine.open({ storage });
    const alone = storage.counts.sync;
    await engine.fetch(postRequest());
    const each = storage.counts.sync - alone;
    const before = storage.counts.sync;
    const posts = Array.from({ length: 50 }, () => engine.fetch(postRequest()));
    assert.equal(storage.counts.sync, before, "nothing is committed before the turn ends");
    const responses = await Promise.all(posts);
    assert.ok(responses.every((response) => response.status === 200));
    assert.ok(storage.counts.sync - before <= 2 * each, `${storage.counts.sync - before} syncs for 50 posts, ${each} for one`);
    assert.equal(await engine.queueCount(), 51);
    await engine.close();
});

test("handle_commits_at_once_with_pending_writes", async () => {
    const storage = meddled();
    const engine = await Engine.open({ storage });
    const waiting = engine.fetch(postRequest());
    const before = storage.counts.sync;
    assert.equal(post(engine).status, 200);
    assert.ok(storage.counts.sync > before);
    assert.equal((await waiting).status, 200);
    assert.equal(await engine.queueCount(), 2);
    await engine.close();
});

test("response_waits_until_the_storage_has_settled", async () => {
    const settling = [];
    const storage = meddled();
    storage.settled = () => new Promise((resolve, reject) => settling.push({ resolve, reject }));
    const opening = Engine.open({ storage });
    while (settling.length === 0) await new Promise(setImmediate);
    settling.shift().resolve();
    const engine = await opening;
    let answered = false;
    const posted = engine.fetch(postRequest()).then((response) => {
        answered = true;
        return response.status;
    });
    while (settling.length === 0) await new Promise(setImmediate);
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
    assert.equal(answered, false);
    settling.shift().resolve();
    assert.equal(await posted, 200);

    const lost = engine.fetch(postRequest());
    while (settling.length === 0) await new Promise(setImmediate);
    settling.shift().reject(new Error("quota"));
    const refusal = await lost;
    assert.deepEqual([refusal.status, (await refusal.json()).code], [503, "Indeterminate"]);

    const read = engine.fetch(new Request("http://fleet/api/Stats/queue/count"));
    while (settling.length === 0) await new Promise(setImmediate);
    settling.shift().resolve();
    assert.equal((await read).status, 200);

    const closing = engine.close();
    while (settling.length === 0) await new Promise(setImmediate);
    settling.shift().resolve();
    await closing;
});

test("typed_calls_put_hold_complete_issue_and_revoke", async () => {
    const { engine, headers } = await withKey({ actions: { driver: "host" } });
    assert.equal(await engine.putWorkspaces([{ workSpId: "ws-1", state: "AVAILABLE" }, { workSpId: "ws-2", state: "AVAILABLE" }]), 2);
    await engine.placeHold("ws-1", { matter: "2026-114", reason: "discovery" });
    const terminate = (id) => engine.handle("POST", `/api/Actions/TerminateWorkSpace?workSpaceId=${id}`, headers).status;
    assert.equal(terminate("ws-1"), 409);
    await engine.releaseHold("ws-1");
    assert.equal(terminate("ws-1"), 200);
    assert.equal(engine.handle("POST", "/api/Actions/RebootWorkSpace?workSpaceId=ws-2", headers).status, 200);
    const [first, second] = await engine.pendingActions();
    const unbegun = { attempts: 0, lastAttemptAt: null, provider: null, note: null };
    assert.deepEqual(
        { ...first, id: 0 },
        { id: 0, action: "TerminateWorkSpace", workSpaceId: "ws-1", requestedAt: "2026-11-20T08:00:00Z", dueAt: null, computeType: null, ...unbegun },
    );
    const begun = { attempts: 1, lastAttemptAt: "2026-11-20T08:00:00Z", provider: "cloud", note: null };
    for (let call = 0; call < 2; call++) assert.deepEqual(await engine.dispatchAction(first.id, { provider: "cloud", attempt: 1 }), { ...first, ...begun });
    await assert.rejects(engine.dispatchAction(first.id, { provider: "cloud", attempt: 1, instance: "another" }), { code: "InvalidResourceState" });
    await engine.noteAction(first.id, { attempt: 1, requestId: "request 1234" });
    assert.equal((await engine.pendingActions())[0].note, "request 1234");
    const { actions: page, ...rest } = await engine.actions({ limit: 1 });
    assert.deepEqual([page.map(({ id }) => id), rest.hasMore], [[first.id], true]);
    assert.deepEqual(await engine.actions({ nextToken: rest.nextToken }), { actions: [second], hasMore: false, nextToken: null });
    for (const [query, expected] of [
        [undefined, [first.id, second.id]],
        [{ state: "waiting" }, [second.id]],
        [{ state: "dispatched" }, [first.id]],
        [{ workSpaceId: "ws-2" }, [second.id]],
        [{ workSpaceId: "ws-2", state: "dispatched" }, []],
    ]) {
        assert.deepEqual((await engine.actions(query)).actions.map(({ id }) => id), expected, JSON.stringify(query));
    }
    await assert.rejects(engine.dispatchAction(first.id, { provider: "cloud", attempt: 3 }), { code: "InvalidResourceState" });
    await engine.completeAction(first.id);
    await engine.failAction(second.id, { state: "UNHEALTHY", detail: "no answer" });
    assert.deepEqual(await engine.pendingActions(), []);
    await assert.rejects(engine.completeAction(first.id), { code: "InvalidResourceState" });

    const issued = await engine.issueKey({ name: "reader", scopes: ["read"], expires: new Date(NOW + 3_600_000) });
    assert.match(issued.key, /^dfk_/);
    assert.equal(issued.expires, "2026-11-20T09:00:00Z");
    const list = () => engine.handle("GET", LIST, { "x-api-key": issued.key }).status;
    assert.equal(list(), 200);
    await engine.revokeKey(issued.id);
    assert.equal(list(), 401);
    const keys = await engine.keys();
    assert.deepEqual(keys.map(({ name, scopes, revoked }) => [name, scopes, revoked]), [
        ["desk", ["admin"], null],
        ["reader", ["read"], "2026-11-20T08:00:00Z"],
    ]);
    assert.ok(!JSON.stringify(keys).includes("dfk_"));
    await engine.close();
});

test("import_changes_what_it_names_and_reports_the_rest", async () => {
    const { engine, headers } = await withKey();
    const changes = [{ workSpId: "ws-1", username: "jdoe", state: "AVAILABLE" }, { workSpId: "ws-1", state: null, x: 1 }, { workSpId: 7 }];
    const report = await engine.importWorkspaces(changes);
    const { errors, ...counts } = report;
    const warnings = [{ line: 2, message: "unknown member x" }];
    assert.deepEqual(counts, { upserted: 2, rejected: 1, committed: 2, warnings });
    assert.deepEqual(errors, [{ line: 3, column: 13, message: "$.workSpId: invalid type: integer `7`, expected a string or null." }]);
    const [desk] = JSON.parse(new TextDecoder().decode(engine.handle("GET", LIST, headers).body)).workSpaces;
    assert.deepEqual([desk.username, desk.state], ["jdoe", null]);
    await assert.rejects(engine.importWorkspaces("ws-1"), { code: "InvalidArgument" });
    const lines = Array.from({ length: 2500 }, (_, id) => JSON.stringify({ workSpId: `ws-${id}` })).join("\n");
    const posted = await engine.fetch("/operator/workspaces", { method: "POST", headers, body: lines });
    assert.equal((await posted.json()).committed, 2500);
    await engine.close();
});

test("clock_of_the_host_can_be_advanced", async () => {
    const { engine, headers } = await withKey();
    await engine.putWorkspaces([{ workSpId: "ws-1", state: "AVAILABLE" }]);
    engine.handle("POST", "/api/Actions/RebootWorkSpace?workSpaceId=ws-1", headers);
    const state = () => JSON.parse(new TextDecoder().decode(engine.handle("GET", LIST, headers).body)).workSpaces[0].state;
    assert.equal(state(), "REBOOTING");
    engine.advanceClock(119_999);
    assert.equal(state(), "REBOOTING");
    engine.advanceClock(1);
    assert.equal(state(), "AVAILABLE");
    await engine.close();
});

test("telemetry_is_filed_and_kept", async () => {
    const { engine, headers } = await withKey();
    post(engine);
    assert.equal(await engine.queueCount(), 1);
    assert.equal(await engine.filePending(), 1);
    assert.equal(await engine.queueCount(), 0);
    await engine.maintain();
    const history = engine.handle("GET", "/operator/telemetry/stats?instanceId=ws-1", headers);
    assert.equal(JSON.parse(new TextDecoder().decode(history.body)).records.length, 1);
    await engine.close();
});

test("telemetry_that_is_selected_is_removed", async () => {
    const { engine, headers } = await withKey();
    await engine.putWorkspaces([{ workSpId: "ws-2", username: "jdoe", state: "AVAILABLE" }]);
    await engine.placeHold("ws-2", { matter: "A" });
    for (const instanceId of ["ws-1", "ws-2"]) post(engine, JSON.stringify({ id: 1, instanceId }));
    await assert.rejects(engine.removeTelemetry({}), { code: "InvalidParameter" });
    await assert.rejects(engine.removeTelemetry({ instanceId: "WS-2" }), { code: "LitigationHold" });
    for (const before of [new Date(NOW), "-1h"]) assert.deepEqual(await engine.removeTelemetry({ stream: "stats", before }), { removed: 0, kept: 0 });
    assert.deepEqual(await engine.removeTelemetry({ stream: "stats" }), { removed: 1, kept: 1 });
    const history = engine.handle("GET", "/operator/telemetry/stats?instanceId=ws-1", headers);
    assert.deepEqual(JSON.parse(new TextDecoder().decode(history.body)).records, []);
    await engine.close();
});

test("snapshot_restores_into_another_engine", async () => {
    const { engine, headers } = await withKey();
    await engine.putWorkspaces(Array.from({ length: 500 }, (_, id) => ({ workSpId: `ws-${id}` })));
    post(engine);
    const bytes = await engine.snapshot();
    assert.ok(bytes instanceof Uint8Array && bytes.length > 4096);
    await engine.putWorkspaces([{ workSpId: "later" }]);
    await engine.close();
    for (const options of [{}, { storage: memoryStorage() }, { storage: meddled() }]) {
        const restored = await Engine.restore(bytes, options);
        const list = restored.handle("GET", `${LIST}?limit=500`, headers);
        const { workSpaces, hasMore } = JSON.parse(new TextDecoder().decode(list.body));
        assert.deepEqual([workSpaces.length, hasMore], [500, false]);
        assert.equal(await restored.queueCount(), 1);
        await restored.close();
        if (options.storage) await assert.rejects(Engine.restore(bytes, options), { code: "InvalidArgument" });
    }
});

test("invalid_snapshot_is_refused", async () => {
    for (const bytes of [new Uint8Array(0), new Uint8Array(1), new Uint8Array(10_000), new Uint8Array(10_000).fill(7), new TextEncoder().encode("SQLite format 3")]) {
        await assert.rejects(Engine.restore(bytes), { name: "DeskfleetError", code: "ForeignFile" });
    }
});

test("engines_share_no_state", async () => {
    const [one, other] = await Promise.all([Engine.open(), Engine.open()]);
    post(one);
    assert.deepEqual([await one.queueCount(), await other.queueCount()], [1, 0]);
    await one.close();
    assert.equal(post(other).status, 200);
    await other.close();
});

test("closed_engine_completes_pending_calls_and_refuses_later_ones", async () => {
    const storage = meddled();
    const engine = await Engine.open({ storage });
    const waiting = engine.fetch(postRequest('{"id":1}'));
    await Promise.resolve();
    const closing = engine.close();
    assert.equal(engine.close(), closing);
    const [waited] = await Promise.allSettled([waiting, closing]);
    assert.equal(waited.value?.status, 200);
    assert.equal(storage.counts.close, 1);
    const closed = { name: "DeskfleetError", code: "EngineClosed" };
    assert.throws(() => post(engine), closed);
    await assert.rejects(engine.fetch(postRequest()), closed);
    await assert.rejects(engine.keys(), closed);
    await assert.rejects(engine.snapshot(), closed);
    await engine.close();
});

test("fetch_takes_an_address_and_request_init", async () => {
    const engine = await Engine.open();
    const init = { method: "POST", headers: JSON_HEADERS, body: '{"instanceId":"ws-1"}' };
    for (const address of ["/api/Stats/Post", "http://any.host/api/Stats/Post", new URL("http://fleet/api/Stats/Post")]) {
        assert.equal((await engine.fetch(address, init)).status, 200, String(address));
    }
    assert.equal((await engine.fetch(new Request("http://fleet/api/Stats/Post"), init)).status, 200);
    assert.equal(await (await engine.fetch("/api/Stats/queue/count")).json(), 4);
    for (const wrong of [["http://", undefined], ["/", { method: "G T" }], ["/", { method: "GET", body: "x" }], [{ method: "GET", url: "/", headers: new Headers() }, {}]]) {
        await assert.rejects(engine.fetch(...wrong), { name: "DeskfleetError", code: "InvalidArgument" });
    }
    await engine.close();
});

test("fetch_with_an_aborted_signal_rejects_with_its_reason", async () => {
    const engine = await Engine.open();
    const post = (signal, body) => engine.fetch("http://fleet/api/Stats/Post", { method: "POST", headers: JSON_HEADERS, body, signal, duplex: "half" });
    const reason = new Error("no longer wanted");
    await assert.rejects(post(AbortSignal.abort(reason), "{}"), reason);
    await assert.rejects(post(AbortSignal.abort(), "{}"), { name: "AbortError" });
    let cancelled;
    const stalled = () => new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode("{")), cancel: (why) => void (cancelled = why) });
    const aborting = new AbortController();
    const waiting = post(aborting.signal, stalled());
    await new Promise(setImmediate);
    aborting.abort(reason);
    await assert.rejects(waiting, reason);
    assert.equal(cancelled, reason, "the sender of the body is told");
    assert.equal(await engine.queueCount(), 0);
    const late = new AbortController();
    const written = post(late.signal, '{"id":1}');
    assert.equal((await written).status, 200);
    late.abort();
    assert.equal(await engine.queueCount(), 1);
    await engine.close();
});

test("posts_made_before_close_complete", async () => {
    const inner = memoryStorage();
    const engine = await Engine.open({ storage: meddled(undefined, inner) });
    const posts = Array.from({ length: 20 }, () => engine.fetch(postRequest()));
    const closing = engine.close();
    await assert.rejects(engine.fetch(postRequest()), { code: "EngineClosed" });
    assert.throws(() => post(engine), { code: "EngineClosed" });
    assert.deepEqual(new Set((await Promise.all(posts)).map(({ status }) => status)), new Set([200]));
    await closing;
    const again = await Engine.open({ storage: inner });
    assert.equal(await again.queueCount(), 20);
    await again.close();
});

test("post_with_a_stalled_body_rejects_with_engine_closed", async () => {
    const engine = await Engine.open();
    const stalled = engine.fetch("/api/Stats/Post", { method: "POST", headers: JSON_HEADERS, body: new ReadableStream(), duplex: "half" });
    stalled.catch(() => {});
    const began = Date.now();
    await engine.close();
    await assert.rejects(stalled, { code: "EngineClosed" });
    assert.ok(Date.now() - began < 30_000);
});

test("seed_used_again_after_a_reopen_issues_another_secret", async () => {
    const inner = memoryStorage();
    const issued = [];
    for (const scopes of [["read"], ["admin"], ["act"]]) {
        const engine = await Engine.open({ seed: 7, storage: meddled(undefined, inner), clock: () => NOW });
        issued.push((await engine.issueKey({ name: scopes[0], scopes })).key);
        if (scopes[0] === "admin") await assert.rejects(engine.revokeKey(issued.length), { code: "LastAdminKey" });
        await engine.revokeKey(issued.length, { force: true });
        await engine.close();
    }
    assert.equal(new Set(issued).size, 3);
    const engine = await Engine.open({ seed: 7, storage: meddled(undefined, inner), clock: () => NOW });
    assert.deepEqual((await engine.keys()).map(({ name }) => name), ["read", "admin", "act"]);
    await engine.close();
    const { headers } = await withKey({ seed: 7 }, ["read"]);
    assert.equal(headers["x-api-key"], issued[0], "a new store is repeatable");
});

test("stack_trace_of_the_module_with_its_names_names_functions", async () => {
    const [bare, names] = ["deskfleet.wasm", "deskfleet.names"].map((name) => readFileSync(new URL(`../pkg/${name}`, import.meta.url)));
    const frames = async (wasm) => {
        let stack = "";
        const storage = meddled((name) => {
            if (name === "sync") stack = new Error("here").stack;
        });
        const limit = Error.stackTraceLimit;
        Error.stackTraceLimit = 100;
        const engine = await Engine.open({ wasm, storage });
        assert.equal(post(engine).status, 200);
        const ofPost = stack;
        Error.stackTraceLimit = limit;
        await engine.close();
        return ofPost.split("\n").filter((line) => line.includes("wasm://"));
    };
    const named = await frames(Buffer.concat([bare, names]));
    assert.match(named[0], /HostStorage.*sync_data|host::Host::sync/);
    assert.match(named.at(-1), / core_handle /);
    const places = (lines) => lines.map((line) => /wasm-function\[\d+\]:0x\w+/.exec(line)[0]);
    assert.deepEqual(places(await frames(bare)), places(named), "the same module but for the names");
});

/** The module with a maximum memory: exceeding it ends in a trap, as a bug would. */
function cramped(pages) {
    const bytes = readFileSync(new URL("../pkg/deskfleet.wasm", import.meta.url));
    const number = (at) => {
        let value = 0;
        for (let shift = 0; ; shift += 7) {
            const byte = bytes[at++];
            value |= (byte & 127) << shift;
            if (byte < 128) return [value, at];
        }
    };
    const leb = (value) => (value < 128 ? [value] : [(value & 127) | 128, ...leb(value >> 7)]);
    for (let at = 8; at < bytes.length; ) {
        const [length, content] = number(at + 1);
        if (bytes[at] === 5) {
            const [least] = number(content + 2);
            const section = [1, 1, ...leb(least), ...leb(least + pages)];
            return Buffer.concat([bytes.subarray(0, at), Buffer.from([5, ...leb(section.length), ...section]), bytes.subarray(content + length)]);
        }
        at = content + length;
    }
    throw new Error("the module has no memory");
}

test("crashed_engine_refuses_calls_and_its_storage_opens_again", async () => {
    const inner = memoryStorage();
    const storage = meddled(undefined, inner);
    const bystander = await Engine.open();
    const engine = await Engine.open({ storage, wasm: cramped(40) });
    assert.equal(post(engine, '{"id":1,"instanceId":"ws-1"}').status, 200);
    const { key } = await engine.issueKey({ name: "desk", scopes: ["admin"] });
    const waiting = engine.fetch(postRequest('{"id":2,"instanceId":"ws-1"}'));
    await Promise.resolve();
    const crashed = { name: "DeskfleetError", code: "EngineCrashed" };
    const batch = new Uint8Array(8 * 1024 * 1024).fill(10);
    const headers = { ...JSON_HEADERS, "x-api-key": key };
    assert.throws(
        () => engine.handle("POST", "/operator/telemetry", headers, batch),
        (error) => {
            assert.ok(error instanceof DeskfleetError && error.code === "EngineCrashed", error.stack);
            assert.ok(error.cause instanceof Error, "the cause is told");
            return true;
        },
    );
    await assert.rejects(waiting, crashed, "what waited is told");
    assert.throws(() => post(engine), crashed);
    await assert.rejects(engine.fetch(postRequest()), crashed);
    await assert.rejects(engine.keys(), crashed);
    await engine.close();
    assert.equal(storage.counts.close, 1, "the storage is given back");
    assert.equal(post(bystander).status, 200);
    await bystander.close();
    const again = await Engine.open({ storage: inner });
    const history = again.handle("GET", "/operator/telemetry/stats?instanceId=ws-1", { "x-api-key": key });
    const { records } = JSON.parse(new TextDecoder().decode(history.body));
    assert.deepEqual(records.map(({ id }) => id), [1], "what was acknowledged is there");
    await again.close();
});
