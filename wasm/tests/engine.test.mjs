import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { Engine } from "../pkg/index.node.js";
import { fileStorage } from "../pkg/node.js";

const json = { "content-type": "application/json" };

test("memory_engine_serves_fetch_and_handle", async () => {
    const engine = await Engine.open();
    assert.equal(engine.persisted(), false);
    assert.equal(await engine.putWorkspaces([{ workSpId: "ws-1", username: "jdoe", state: "AVAILABLE" }]), 1);
    const { key } = await engine.issueKey({ name: "desk", scopes: ["read"] });
    const request = new Request("http://fleet/api/Information/GetAllWorkSpaces", { headers: { "x-api-key": key } });
    const response = await engine.fetch(request);
    assert.equal(response.status, 200);
    assert.equal((await response.json()).workSpaces[0].workSpId, "ws-1");
    const answer = engine.handle("POST", "/api/Stats/Post", json, '{"instanceId":"ws-1","username":"jdoe"}');
    assert.equal(answer.status, 200);
    assert.equal(await engine.queueCount(), 1);
    await engine.close();
});

test("file_keeps_acknowledged_records", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "deskfleet-"));
    try {
        const file = path.join(folder, "fleet.redb");
        const first = await Engine.open({ storage: fileStorage(file) });
        assert.equal(first.persisted(), true);
        const post = () =>
            first.fetch(new Request("http://fleet/api/Stats/Post", { method: "POST", headers: json, body: '{"id":1}' }));
        const responses = await Promise.all([post(), post(), post()]);
        assert.deepEqual(responses.map((response) => response.status), [200, 200, 200]);
        assert.throws(() => fileStorage(file), { code: "StorageLocked" });
        await first.close();
        const second = await Engine.open({ storage: fileStorage(file) });
        assert.equal(await second.queueCount(), 3);
        await second.close();
    } finally {
        rmSync(folder, { recursive: true });
    }
});
