// The questions about the fleet, as methods of an engine.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Engine } from "../pkg/index.node.js";

const WORKSPACES = [
    { workSpId: "ws-1", username: "jdoe", state: "AVAILABLE", region: "eu-central-1" },
    { workSpId: "ws-2", username: "a&b=c,d", state: "STOPPED", region: "eu central 1" },
    { workSpId: "ws-3", username: "ömer", state: "ERROR" },
];

async function withFleet() {
    const engine = await Engine.open({ clock: () => Date.UTC(2026, 10, 20, 8), seed: 1 });
    await engine.putWorkspaces(WORKSPACES);
    return engine;
}

test("question_by_method_returns_what_the_endpoint_does", async () => {
    const engine = await withFleet();
    const { key } = await engine.issueKey({ name: "desk", scopes: ["read"] });
    const headers = { "x-api-key": key };
    for (const [parameters, query] of [
        [undefined, ""],
        [{ state: ["STOPPED", "ERROR"], sort: ["-state", "workSpId"], fields: ["workSpId", "cpu"], limit: 1 }, "state=in.STOPPED,ERROR&sort=-state,workSpId&fields=workSpId,cpu&limit=1"],
        [{ region: { not: "eu-central-1" }, q: undefined, nextToken: null }, "region=ne.eu-central-1"],
        [{ username: "ömer" }, "username=%C3%B6mer"],
        [{ workSpId: ["ws-3", "ws-1", "ws-9"] }, "workSpId=in.ws-3,ws-1,ws-9"],
        [{ username: "a&b=c,d", region: "eu central 1" }, "username=a%26b%3Dc%2Cd&region=eu+central+1"],
    ]) {
        const answer = engine.handle("GET", `/query/workspaces?${query}`, headers);
        assert.equal(answer.status, 200, query);
        assert.deepEqual(await engine.query.workspaces(parameters), JSON.parse(new TextDecoder().decode(answer.body)), query);
    }
    await engine.close();
});

test("each_question_is_a_method", async () => {
    const engine = await withFleet();
    for (const [name, ask] of Object.entries(engine.query)) assert.equal(typeof ask, "function", name);
    assert.equal((await engine.query.fleet()).workSpaces, 3);
    const { rows } = await engine.query.top({ metric: "cpu", from: new Date(Date.UTC(2026, 10, 20)), to: "-1s" });
    assert.deepEqual(rows, []);
    await engine.placeHold("ws-2", { matter: "Doe v. Roe" });
    const holds = await engine.query.holds({ fields: ["workSpId", "matter"] });
    assert.deepEqual(holds.rows, [{ workSpId: "ws-2", matter: "Doe v. Roe" }]);
    await engine.close();
});

test("walk_by_tokens_returns_each_row_once", async () => {
    const engine = await withFleet();
    const found = [];
    let nextToken;
    do {
        const page = await engine.ask("workspaces", { sort: "-username", limit: 1, nextToken });
        found.push(...page.rows.map((row) => row.workSpId));
        nextToken = page.nextToken;
    } while (nextToken !== null);
    assert.deepEqual(found, ["ws-3", "ws-1", "ws-2"]);
    await engine.close();
});

test("preview_tells_what_an_action_would_do_and_changes_nothing", async () => {
    const engine = await withFleet();
    const { rows } = await engine.query.preview({ action: "RebootWorkSpace", workSpaceIds: ["ws-1", "ws-2", "ws-0"] });
    assert.deepEqual(rows, [
        { workSpaceId: "ws-1", outcome: "Accepted", code: null, state: "AVAILABLE", wouldBecome: "REBOOTING", simulated: true },
        { workSpaceId: "ws-2", outcome: "Refused", code: "InvalidResourceState", state: "STOPPED", wouldBecome: null, simulated: true },
        { workSpaceId: "ws-0", outcome: "Refused", code: "WorkSpaceNotFound", state: null, wouldBecome: null, simulated: true },
    ]);
    assert.deepEqual(await engine.pendingActions(), []);
    await assert.rejects(engine.query.preview({ action: "Remove", workSpaceIds: ["ws-1"] }), { code: "InvalidParameter", parameter: "body" });
    await engine.close();
});

test("wrong_parameter_is_named_and_wrong_argument_is_refused", async () => {
    const engine = await withFleet();
    await assert.rejects(engine.query.workspaces({ sort: "stat" }), { code: "InvalidParameter", parameter: "sort", message: "There is no column 'stat'. Did you mean 'state'?" });
    await assert.rejects(engine.query.workspaces({ stat: "ERROR" }), { code: "InvalidParameter", parameter: "query", message: "There is no parameter 'stat'. Did you mean 'state'?" });
    await assert.rejects(engine.query.workspaces({ limit: 501 }), { code: "InvalidParameter", parameter: "limit" });
    for (const wrong of [7, null, "state=ERROR"]) await assert.rejects(engine.query.workspaces(wrong), { code: "InvalidArgument" });
    for (const wrong of [{ limit: Number.NaN }, { state: {} }, { state: ["a,b"] }, { q: "\ud800" }, { sort: [{}] }, { q: new Date(Number.NaN) }, { q: () => 1 }]) {
        await assert.rejects(engine.query.workspaces(wrong), { code: "InvalidArgument" });
    }
    await assert.rejects(engine.ask("constructor"), { code: "InvalidArgument" });
    await engine.close();
    await assert.rejects(engine.query.workspaces(), { code: "EngineClosed" });
});
