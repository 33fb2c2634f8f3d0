// A service worker serves an unchanged page with an engine on IndexedDB.

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { browserTest, everyBrowserTest } from "./in-browsers.mjs";

const SCRIPT = "/tests/browser/fleet-worker.js";

/** A page whose only reference to deskfleet is the line that registers the worker. */
async function controlled(browser, origin, { script = SCRIPT, scope = "/", at = "/tests/browser/sw-page.html" } = {}) {
    const page = await browser.open(`${origin}${at}`);
    await page.evaluate(
        async ([script, scope]) => {
            await navigator.serviceWorker.register(script, { type: "module", scope });
            if (!navigator.serviceWorker.controller) await new Promise((taken) => (navigator.serviceWorker.oncontrollerchange = taken));
            globalThis.post = (id) => {
                const body = JSON.stringify({ id, instanceId: "ws-1", updatetime: "2026-11-20T08:00:00Z" });
                return fetch("/api/Stats/Post", { method: "POST", headers: { "content-type": "application/json" }, body });
            };
            globalThis.ask = (what) =>
                new Promise((answered) => {
                    const { port1, port2 } = new MessageChannel();
                    port1.onmessage = ({ data }) => answered(data);
                    navigator.serviceWorker.controller.postMessage(what, [port2]);
                });
        },
        [script, scope],
    );
    return page;
}

async function stopWorkers(page) {
    const session = await page.context().newCDPSession(page);
    await session.send("ServiceWorker.enable");
    await session.send("ServiceWorker.stopAllWorkers");
    await session.detach();
}

/** Those of these records that the engine does not hold. */
async function missing(page, acknowledged) {
    const ids = new Set(await page.evaluate(() => ask("ids")));
    return acknowledged.filter((id) => !ids.has(id));
}

everyBrowserTest("service_worker_responds_to_its_paths_and_passes_others", async ({ start, origin }) => {
    const page = await controlled(await start(), origin);
    const seen = await page.evaluate(async () => {
        const key = await ask("key");
        const list = await fetch("/api/Information/GetAllWorkSpaces", { headers: { "x-api-key": key } });
        const query = await fetch(`/API/information/getallworkspaces?apiKey=${key}&limit=1`);
        const denied = await fetch("/api/Information/GetAllWorkSpaces");
        const none = await fetch("/api/nowhere");
        const head = await fetch("/api/Stats/Test", { method: "HEAD" });
        const posted = await post(1);
        const other = await fetch("/nowhere");
        const script = await fetch("/tests/browser/sw-page.html");
        return {
            list: [list.status, (await list.json()).workSpaces[0].workSpId],
            query: query.status,
            denied: [denied.status, (await denied.json()).code],
            none: [none.status, (await none.json()).code],
            head: head.status,
            posted: [posted.status, await posted.text()],
            other: [other.status, await other.text()],
            script: script.status,
            persisted: [await ask("persisted"), await navigator.storage.persisted()],
            held: (await navigator.locks.query()).held.map(({ name }) => name),
        };
    });
    assert.deepEqual(seen, {
        list: [200, "ws-1"],
        query: 200,
        denied: [401, "InvalidApiKey"],
        none: [404, "NotFound"],
        head: 200,
        posted: [200, ""],
        other: [404, "this is the static server"],
        script: 200,
        persisted: [false, false],
        held: ["deskfleet:indexeddb:fleet"],
    });
});

browserTest("stopped_service_worker_keeps_acknowledged_records", async ({ start, origin, context }) => {
    const page = await controlled(await start(), origin);
    await page.evaluate(() => {
        globalThis.acknowledged = [];
        globalThis.failed = 0;
        globalThis.going = true;
        const postAll = async (first) => {
            for (let id = first; going; id++) {
                const status = await post(id).then((response) => response.status, () => 0);
                if (status === 200) acknowledged.push(id);
                else failed++;
            }
        };
        globalThis.done = Promise.all([1e6, 2e6, 3e6, 4e6].map(postAll));
    });
    for (let stops = 0; stops < 4; stops++) {
        const reached = await page.evaluate(() => acknowledged.length);
        await page.waitForFunction((bound) => acknowledged.length > bound, reached + 30);
        await stopWorkers(page);
    }
    const { acknowledged, failed } = await page.evaluate(async () => {
        globalThis.going = false;
        await done;
        return { acknowledged, failed };
    });
    await stopWorkers(page);
    assert.deepEqual(await missing(page, acknowledged), []);
    context.diagnostic(`${acknowledged.length} records were acknowledged, ${failed} requests were cut off`);
});

// One kill per profile: Chromium's LevelDB appends to a log whose last record was cut off, takes that for damage when
// it reads it again, and removes all databases of the origin (google/leveldb#1287).
for (const profile of ["first", "second", "third"]) {
    everyBrowserTest(`a browser killed while the worker answers loses nothing that it acknowledged: ${profile} profile`, async ({ start, origin, context }) => {
        const acknowledged = [];
        const browser = await start();
        const page = await controlled(browser, origin);
        await page.exposeFunction("acknowledge", (id) => void acknowledged.push(id));
        await page.evaluate(() => {
            const postAll = async (from) => {
                for (let id = from; ; id++) if ((await post(id)).status === 200) void acknowledge(id);
            };
            for (let lane = 0; lane < 4; lane++) void postAll(lane * 1e6);
        });
        for (const began = Date.now(); acknowledged.length < 60 && Date.now() - began < 120_000; ) await sleep(20);
        await browser.kill();
        assert.ok(acknowledged.length >= 60, "it was killed before it wrote");
        const again = await controlled(await start(), origin);
        assert.deepEqual(await missing(again, acknowledged), []);
        assert.equal(await again.evaluate(async () => (await post(9e6)).status), 200);
        context.diagnostic(`${acknowledged.length} records were acknowledged`);
    });
}

everyBrowserTest("failure_in_a_service_worker_is_a_problem_body", async ({ start, origin }) => {
    const page = await controlled(await start(), origin, { script: `${SCRIPT}?storage=broken` });
    const seen = await page.evaluate(async () => {
        const response = await post(1);
        return [response.status, response.headers.get("content-type"), (await response.json()).code];
    });
    assert.deepEqual(seen, [500, "application/problem+json; charset=utf-8", "Internal"]);
});

browserTest("locked_or_deleted_database_is_a_problem_body_and_the_next_worker_recovers", async ({ start, origin }) => {
    const page = await controlled(await start(), origin);
    const seen = await page.evaluate(async () => {
        const codeOf = async (response) => [response.status, response.status === 200 ? await response.text() : (await response.json()).code];
        const first = await codeOf(await post(1));
        // A user clears the data of the site.
        await new Promise((deleted, failed) => {
            const request = indexedDB.deleteDatabase("fleet");
            request.onsuccess = deleted;
            request.onerror = failed;
        });
        const count = await (await fetch("/api/Stats/queue/count")).json();
        return { first, count, second: await codeOf(await post(2)) };
    });
    assert.deepEqual(seen, { first: [200, ""], count: 0, second: [200, ""] });
    await stopWorkers(page);
    const locked = await page.evaluate(async () => {
        let release;
        await new Promise((held) => navigator.locks.request("deskfleet:indexeddb:fleet", () => (held(), new Promise((done) => (release = done)))));
        const response = await post(3);
        const refused = [response.status, (await response.json()).code, response.headers.get("retry-after")];
        release();
        return { refused, after: (await post(3)).status };
    });
    assert.deepEqual(locked, { refused: [503, "StorageUnavailable", "1"], after: 200 });
    assert.deepEqual(await missing(page, [2, 3]), []);
});

everyBrowserTest("service_in_a_folder_responds_below_it", async ({ start, origin }) => {
    const at = "/tests/browser/sw-page.html";
    const page = await controlled(await start(), origin, { script: `${SCRIPT}?base=/tests/browser/`, scope: "/tests/browser/", at });
    const seen = await page.evaluate(async () => {
        const body = JSON.stringify({ id: 1, instanceId: "ws-1" });
        const response = await fetch("/tests/browser/api/Stats/Post", { method: "POST", headers: { "content-type": "application/json" }, body });
        return [response.status, await (await fetch("/tests/browser/api/Stats/queue/count")).json(), (await fetch("/api/Stats/queue/count")).status];
    });
    assert.deepEqual(seen, [200, 1, 404]);
});
