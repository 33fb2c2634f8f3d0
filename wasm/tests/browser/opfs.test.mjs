// The store of a page in the origin's private file system is durable, whatever ends.

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { browserTest, everyBrowserTest } from "./in-browsers.mjs";

const PAGE = "/tests/browser/page.html";

async function opened(browser, origin) {
    const page = await browser.open(`${origin}${PAGE}`);
    await page.waitForFunction(() => globalThis.connect);
    return page;
}

/** The ids in the store, as a page sees them that connects now. */
function held(page) {
    return page.evaluate(async () => {
        const engine = await connect();
        const ids = await idsOf(engine);
        await engine.close();
        return ids;
    });
}

everyBrowserTest("opfs_store_survives_close_reload_and_browser_restart", async ({ start, origin }) => {
    const first = await start();
    const page = await opened(first, origin);
    const answers = await page.evaluate(async () => {
        globalThis.engine = await connect();
        await engine.putWorkspaces([{ workSpId: "ws-1", username: "jdoe", state: "AVAILABLE" }]);
        const responses = await Promise.all([1, 2, 3].map((id) => engine.fetch(postRequest(id))));
        const count = await engine.queueCount();
        const filed = await engine.filePending();
        return { statuses: responses.map(({ status }) => status), count, filed, after: await engine.queueCount() };
    });
    assert.deepEqual(answers, { statuses: [200, 200, 200], count: 3, filed: 3, after: 0 });
    await page.evaluate(() => engine.close());
    assert.deepEqual((await held(page)).sort(), [1, 2, 3]);
    await page.evaluate(async () => {
        globalThis.engine = await connect();
        await engine.fetch(postRequest(4));
    });
    await page.reload();
    await page.waitForFunction(() => globalThis.connect);
    assert.deepEqual((await held(page)).sort(), [1, 2, 3, 4]);
    await first.close();
    const second = await start();
    assert.deepEqual((await held(await opened(second, origin))).sort(), [1, 2, 3, 4]);
});

everyBrowserTest("worker_client_behaves_like_an_engine", async ({ start, origin }) => {
    const page = await opened(await start(), origin);
    const seen = await page.evaluate(async () => {
        const engine = await connect({ seed: 1, name: "other.redb" });
        await engine.putWorkspaces([{ workSpId: "ws-1", username: "jdoe", state: "AVAILABLE" }]);
        const { key } = await engine.issueKey({ name: "desk", scopes: ["read"] });
        const headers = { "x-api-key": key };
        const list = await engine.fetch(new Request("/api/Information/GetAllWorkSpaces", { headers }));
        const none = await engine.fetch(new Request("/api/Stats/Post", { method: "POST", body: "{}" }));
        const large = await engine.fetch(new Request("/api/Stats/Post", { method: "POST", headers: { "content-type": "application/json" }, body: " ".repeat(9e6) }));
        const head = await engine.fetch(new Request("/api/Information/GetAllWorkSpaces", { method: "HEAD", headers }));
        const copy = await engine.snapshot();
        const found = {
            list: [list.status, list.headers.get("content-type"), (await list.json()).workSpaces[0].workSpId],
            none: [none.status, (await none.json()).code],
            large: [large.status, (await large.json()).code],
            head: [head.status, (await head.text()).length],
            copy: copy instanceof Uint8Array && copy.length > 4096,
            invalid: await failure(engine.putWorkspaces([{ workSpId: 7 }])),
            uncopied: await failure(engine.putWorkspaces([{ workSpId: () => {} }])),
            unknown: await failure(engine.placeHold("ws-9", { matter: "m" })),
            request: await failure(engine.fetch(7)),
            address: (await engine.fetch("/api/Stats/Test", { method: "HEAD" })).status,
            wipe: [await engine.queueCount(), (await engine.fetch(postRequest(1))).status, await engine.queueCount(), await engine.wipe(), await engine.queueCount()],
        };
        await engine.close();
        found.closed = await failure(engine.queueCount());
        found.options = [await failure(connect({ clock: Date.now })), await failure(connect({ colour: "red" })), await failure(connect({ name: "a/b" }))];
        found.worker = await failure(connect({ worker: "/nowhere.js" }));
        return found;
    });
    assert.deepEqual(seen.list, [200, "application/json; charset=utf-8", "ws-1"]);
    assert.deepEqual(seen.none, [415, "UnsupportedMediaType"]);
    assert.deepEqual(seen.large, [413, "PayloadTooLarge"]);
    assert.deepEqual(seen.head, [200, 0]);
    assert.ok(seen.copy);
    assert.equal(seen.address, 200);
    for (const [name, code] of [["invalid", "InvalidArgument"], ["uncopied", "InvalidArgument"], ["unknown", "WorkSpaceNotFound"], ["request", "InvalidArgument"], ["closed", "EngineClosed"], ["worker", "StorageUnavailable"]]) {
        assert.deepEqual([name, seen[name].code, seen[name].ours], [name, code, true]);
    }
    assert.deepEqual(seen.wipe, [0, 200, 1, undefined, 0]);
    for (const { code } of seen.options) assert.equal(code, "InvalidArgument");
});

everyBrowserTest("opfs_file_open_in_another_worker_is_locked_until_it_ends", async ({ start, origin }) => {
    const page = await opened(await start(), origin);
    const error = await page.evaluate(async () => {
        globalThis.holder = new Worker("/tests/browser/writer.js", { type: "module" });
        await new Promise((ready) => (holder.onmessage = ready));
        return failure(connect());
    });
    assert.equal(error.code, "StorageLocked");
    assert.match(error.message, /deskfleet\.redb is open in another tab/);
    await page.evaluate(() => holder.terminate());
    const ids = await held(page);
    assert.ok(ids.length >= 1);
});

for (const together of [1, 20]) {
    everyBrowserTest(`a worker terminated while it writes ${together} at a time loses nothing that it acknowledged`, async ({ start, origin, context }) => {
        const page = await opened(await start(), origin);
        let count = 0;
        for (const pause of [40, 150, 333]) {
            const { acknowledged, ids } = await page.evaluate(
                async ([together, pause]) => {
                    const instance = `ws-${pause}`;
                    const acknowledged = [];
                    const writer = new Worker(`/tests/browser/writer.js?${new URLSearchParams({ together, instance })}`, { type: "module" });
                    await new Promise((begun) => {
                        writer.onmessage = ({ data }) => {
                            acknowledged.push(...data);
                            begun();
                        };
                    });
                    await new Promise((resume) => setTimeout(resume, pause));
                    writer.terminate();
                    const engine = await connect();
                    const ids = await idsOf(engine, instance);
                    await engine.close();
                    return { acknowledged, ids };
                },
                [together, pause],
            );
            const kept = new Set(ids);
            assert.ok(acknowledged.length > 0);
            assert.deepEqual(acknowledged.filter((id) => !kept.has(id)), []);
            count += acknowledged.length;
        }
        context.diagnostic(`${count} acknowledged records were there`);
    });

    everyBrowserTest(`a browser killed while it writes ${together} at a time loses nothing that it acknowledged`, async ({ start, origin, context }) => {
        const acknowledged = [];
        for (let life = 0; life < 3; life++) {
            const browser = await start();
            const page = await opened(browser, origin);
            const ids = new Set(await held(page));
            assert.deepEqual(acknowledged.filter((id) => !ids.has(id)), [], `in life ${life}`);
            await page.exposeFunction("acknowledged", (more) => acknowledged.push(...more));
            const before = acknowledged.length;
            await page.evaluate(
                async ([first, together]) => {
                    globalThis.engine = await connect();
                    void postForEver(engine, acknowledged, together, first);
                },
                [life * 1_000_000, together],
            );
            for (const began = Date.now(); acknowledged.length - before < 50 && Date.now() - began < 30_000; ) await sleep(20);
            await browser.kill();
            assert.ok(acknowledged.length - before >= 50, "it was killed before it wrote");
        }
        const ids = new Set(await held(await opened(await start(), origin)));
        assert.deepEqual(acknowledged.filter((id) => !ids.has(id)), []);
        context.diagnostic(`${acknowledged.length} acknowledged records were there`);
    });
}

browserTest("persisted_returns_what_the_browser_promised", async ({ start, origin }) => {
    const browser = await start();
    const page = await opened(browser, origin);
    const before = await page.evaluate(async () => {
        globalThis.engine = await connect();
        return [engine.persisted(), await navigator.storage.persisted()];
    });
    assert.deepEqual(before, [false, false]);
    await (await browser.devtools()).send("Browser.grantPermissions", { origin, permissions: ["durableStorage"] });
    const after = await page.evaluate(async () => [await engine.persist(), engine.persisted(), await navigator.storage.persisted()]);
    assert.deepEqual(after, [true, true, true]);
    const again = await page.evaluate(async () => {
        await engine.close();
        globalThis.engine = await connect();
        return engine.persisted();
    });
    assert.equal(again, true);
});
