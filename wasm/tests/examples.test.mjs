// The examples that end by themselves or serve, each from the installed package.

import assert from "node:assert/strict";
import { test } from "node:test";
import { installed } from "./packed.mjs";
import { answers, freePort, output, start } from "./processes.mjs";
import { runtime, tool } from "./runtimes.mjs";

test("node_example_prints_its_output", async () => {
    const printed = await output(process.execPath, ["main.mjs"], { cwd: installed({ example: "node" }) });
    assert.match(printed, /^200 \{\s+workSpaces: \[\s+\{\s+workSpId: 'ws-1',/);
});

test("provider_example_completes_an_action", async () => {
    const printed = await output(process.execPath, ["main.mjs"], { cwd: installed({ example: "provider" }) });
    assert.equal(printed, "RebootWorkSpace ws-1 completed\n");
});

test("msw_example_prints_its_output", async (context) => {
    if (!tool("msw", context)) return;
    const printed = await output(process.execPath, ["main.mjs"], { cwd: installed({ example: "msw", beside: ["msw"] }) });
    assert.match(printed, /^200 \{\s+workSpaces: \[\s+\{\s+workSpId: 'ws-1',/);
});

test("hono_example_prints_its_output", async (context) => {
    if (!tool("hono", context)) return;
    const printed = await output(process.execPath, ["main.mjs"], { cwd: installed({ example: "hono", beside: ["hono"] }) });
    assert.equal(printed, "200 1\n");
});

/** Starts an example that serves; returns once it does. */
async function serving(binary, parameters, options, port) {
    const server = start(binary, parameters, options);
    await server.until(() => answers(`http://127.0.0.1:${port}/api/Stats/Test`));
    return server;
}

/** Posts records, kills the server, and looks for them in the next. */
async function keepsRecords(binary, parametersOf, env, cwd) {
    let posted = 0;
    for (let life = 0; life < 3; life++) {
        const port = await freePort();
        const server = await serving(binary, parametersOf(port), { cwd, env: env(port) }, port);
        const url = `http://127.0.0.1:${port}/api/Stats`;
        if (life > 0) {
            const post = { method: "POST", headers: { "content-type": "application/json" } };
            const bodies = Array.from({ length: 10 }, (_, id) => JSON.stringify({ id, instanceId: `ws-${life}` }));
            const responses = await Promise.all(bodies.map((body) => fetch(`${url}/Post`, { ...post, body })));
            posted += responses.filter(({ status }) => status === 200).length;
        }
        assert.equal((await fetch(`${url}/queue/count`)).status, 200);
        await server.kill();
    }
    assert.equal(posted, 20);
    const script = `
        import { Engine } from "deskfleet";
        import { fileStorage } from "deskfleet/node";
        const engine = await Engine.open({ storage: fileStorage("fleet.redb") });
        const { key } = await engine.issueKey({ name: "check " + crypto.randomUUID(), scopes: ["admin"] });
        await engine.filePending();
        let records = 0;
        for (const instanceId of ["ws-1", "ws-2"]) {
            const { body } = engine.handle("GET", "/operator/telemetry/stats?limit=100&instanceId=" + instanceId, { "x-api-key": key });
            records += JSON.parse(new TextDecoder().decode(body)).records.length;
        }
        console.log(records);
        await engine.close();`;
    assert.equal(await output(process.execPath, ["--input-type=module", "--eval", script], { cwd }), "20\n");
}

test("deno_example_serves_requests", async (context) => {
    const deno = runtime("deno", context);
    if (!deno) return;
    const cwd = installed({ example: "deno" });
    await output(deno, ["check", "main.ts"], { cwd });
    const serve = (port) => ["serve", "--allow-all", "--host=127.0.0.1", `--port=${port}`, "main.ts"];
    await keepsRecords(deno, serve, () => ({}), cwd);
});

test("bun_example_serves_requests", async (context) => {
    const bun = runtime("bun", context);
    if (!bun) return;
    const cwd = installed({ example: "bun" });
    await keepsRecords(bun, () => ["main.ts"], (port) => ({ PORT: String(port) }), cwd);
});
