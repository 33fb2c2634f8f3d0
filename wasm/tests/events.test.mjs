// The event log: followed as an async iterator, resumed, and ended.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Engine } from "../pkg/index.node.js";
import { meddled, postRequest } from "./faulty.mjs";

const desk = (workSpId, state = "AVAILABLE") => ({ workSpId, username: "jdoe", state });

async function opened(options) {
    return Engine.open({ clock: () => Date.UTC(2026, 10, 20, 8), seed: 1, ...options });
}

async function taken(events, count) {
    const found = [];
    while (found.length < count) found.push((await events.next()).value);
    return found;
}

test("events_yields_what_there_is_and_then_what_comes", async () => {
    const engine = await opened();
    await engine.putWorkspaces([desk("ws-1")]);
    const { key } = await engine.issueKey({ name: "desk", scopes: ["admin"] });
    const events = engine.events({ after: 0 });
    assert.deepEqual((await taken(events, 3)).map(({ id, type }) => [id, type]), [[1, "workspace.changed"], [2, "import.committed"], [3, "key.issued"]]);

    // By a typed call, by fetch, by handle; telemetry and a read make none.
    for (const [act, type] of [
        [() => engine.placeHold("ws-1", { matter: "Doe v. Roe" }), "hold.placed"],
        [() => engine.fetch("http://fleet/api/Actions/RebootWorkSpace?workSpaceId=ws-1", { method: "POST", headers: { "x-api-key": key } }), "action.accepted"],
        [() => engine.handle("DELETE", "/operator/workspaces/ws-1/litigation-hold", { "x-api-key": key }), "hold.released"],
    ]) {
        const next = events.next();
        await engine.fetch(postRequest());
        assert.equal(await Promise.race([next, new Promise((resolve) => setTimeout(resolve, 20, "pending"))]), "pending", type);
        await act();
        const { value, done } = await next;
        assert.equal(done, false);
        assert.deepEqual([value.type, value.workSpaceId, value.username], [type, "ws-1", "jdoe"]);
    }
    await engine.filePending();
    assert.deepEqual((await events.next()).value.detail, { records: 3 });
    await engine.close();
});

test("events_without_a_position_begins_when_it_is_called", async () => {
    const engine = await opened();
    await engine.putWorkspaces([desk("ws-1")]);
    const events = engine.events();
    await engine.placeHold("ws-1", { matter: "Doe v. Roe" });
    assert.equal((await events.next()).value.type, "hold.placed");
    const { position } = await engine.readEvents();
    assert.equal(position, 3);
    assert.deepEqual((await engine.readEvents(2)).events.map(({ id }) => id), [3]);
    await engine.close();
});

test("every_follower_gets_every_event_once_and_a_walk_resumes", async () => {
    const engine = await opened();
    // Each has an event of its own, and one of its import.
    for (let number = 0; number < 125; number += 1) await engine.putWorkspaces([desk(`ws-${number}`)]);
    const all = Array.from({ length: 250 }, (_, index) => index + 1);
    const ids = async (after, count) => (await taken(engine.events({ after }), count)).map(({ id }) => id);
    const [whole, rest] = await Promise.all([ids(0, 250), ids(99, 151)]);
    assert.deepEqual(whole, all);
    assert.deepEqual(rest, all.slice(99));
    const [first] = await taken(engine.events({ after: 1000 }), 1);
    assert.deepEqual([first.type, first.id, first.detail], ["resync", 250, { oldest: 1 }]);
    await engine.close();
});

test("events_ends_with_the_loop_with_return_and_with_the_engine", async () => {
    const engine = await opened();
    await engine.putWorkspaces([desk("ws-1")]);
    for await (const event of engine.events({ after: 0 })) {
        assert.equal(event.id, 1);
        break;
    }
    const returned = engine.events();
    const pending = returned.next();
    await returned.return();
    assert.deepEqual(await pending, { value: undefined, done: true });
    const open = engine.events();
    const last = open.next();
    await engine.close();
    assert.deepEqual(await last, { value: undefined, done: true });
    assert.deepEqual(await open.next(), { value: undefined, done: true });
    assert.throws(() => engine.events(), { code: "EngineClosed" });
});

test("invalid_position_is_refused", async () => {
    const engine = await opened();
    for (const after of [-1, 1.5, "1", NaN, {}]) {
        assert.throws(() => engine.events({ after }), { code: "InvalidArgument" });
        await assert.rejects(engine.readEvents(after), { code: "InvalidArgument" });
    }
    await engine.close();
});

test("event_is_yielded_only_once_the_storage_has_settled", async () => {
    let settle;
    const storage = { ...meddled(), settled: () => settle };
    const engine = await opened({ storage });
    const events = engine.events();
    const next = events.next();
    await new Promise((resolve) => setTimeout(resolve, 5));
    let release;
    settle = new Promise((resolve) => (release = resolve));
    const put = engine.putWorkspaces([desk("ws-1")]);
    assert.equal(await Promise.race([next, put, new Promise((resolve) => setTimeout(resolve, 20, "pending"))]), "pending");
    release();
    await put;
    assert.equal((await next).value.type, "workspace.changed");
    settle = undefined;
    await engine.close();
});
