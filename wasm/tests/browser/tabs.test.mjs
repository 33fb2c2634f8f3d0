// Several tabs on one store: the first has it open, the others use it through the first, and one of them takes over
// when it is closed.

import assert from "node:assert/strict";
import { browserTest, everyBrowserTest } from "./in-browsers.mjs";

async function tab(browser, origin) {
    const page = await browser.open(`${origin}/tests/browser/page.html`);
    await page.waitForFunction(() => globalThis.connect);
    return page;
}

/** Connects in a page, and counts its posts from then on. */
function postInTab(page, first, options = {}) {
    return page.evaluate(
        async ([first, options]) => {
            globalThis.engine = await connect(options);
            globalThis.acknowledged = [];
            globalThis.refused = [];
            globalThis.going = true;
            globalThis.done = (async () => {
                for (let id = first; going; id += 1) {
                    const response = await engine.fetch(postRequest(id));
                    if (response.status === 200) acknowledged.push(id);
                    else refused.push([id, response.status]);
                }
            })();
        },
        [first, options],
    );
}

function stop(page) {
    return page.evaluate(async () => {
        globalThis.going = false;
        await done;
        return { acknowledged, refused };
    });
}

everyBrowserTest("second_tab_shares_the_store_of_the_first", async ({ start, origin }) => {
    const browser = await start();
    const first = await tab(browser, origin);
    await first.evaluate(async () => {
        globalThis.engine = await connect();
        await engine.fetch(postRequest(1));
    });
    const second = await tab(browser, origin);
    const seen = await second.evaluate(async () => {
        globalThis.engine = await connect();
        const before = await engine.queueCount();
        const responses = await Promise.all(Array.from({ length: 200 }, (_, id) => engine.fetch(postRequest(10 + id))));
        const large = await engine.fetch(new Request("/api/Stats/Post", { method: "POST", headers: { "content-type": "application/json" }, body: " ".repeat(9e6) }));
        return { before, all: responses.every(({ status }) => status === 200), large: large.status, invalid: await failure(engine.issueKey({ name: "", scopes: ["read"] })) };
    });
    assert.deepEqual([seen.before, seen.all, seen.large, seen.invalid.code], [1, true, 413, "InvalidParameter"]);
    assert.equal(await first.evaluate(() => engine.queueCount()), 201);
    assert.deepEqual(await second.evaluate(async () => [await engine.wipe(), await engine.queueCount()]), [undefined, 0]);
    assert.equal(await first.evaluate(() => engine.queueCount()), 0);
    await second.evaluate(() => engine.close());
    assert.equal(await first.evaluate(async () => (await engine.fetch(postRequest(2))).status), 200);
});

for (const [how, end, testIn = everyBrowserTest] of [
    ["closes its engine", (page) => page.evaluate(() => engine.close())],
    ["is closed", (page) => page.close()],
    ["goes elsewhere", (page) => page.goto("about:blank")],
    ["crashes", (page) => page.goto("chrome://crash").catch(() => {}), browserTest],
]) {
    testIn(`when the tab that has the store ${how}, another takes over and nothing fails`, async ({ start, origin, context }) => {
        const browser = await start();
        const leader = await tab(browser, origin);
        await leader.evaluate(async () => {
            globalThis.engine = await connect();
        });
        const others = [await tab(browser, origin), await tab(browser, origin)];
        for (const [index, page] of others.entries()) await postInTab(page, (index + 1) * 1_000_000);
        for (const page of others) await page.waitForFunction(() => acknowledged.length > 20);
        await end(leader);
        for (const page of others) {
            const reached = await page.evaluate(() => acknowledged.length);
            await page.waitForFunction((bound) => acknowledged.length > bound, reached + 50);
        }
        // The last takes over from the next.
        const [next, last] = others;
        const written = [await stop(next)];
        await next.close();
        const reached = await last.evaluate(() => acknowledged.length);
        await last.waitForFunction((bound) => acknowledged.length > bound, reached + 50);
        written.push(await stop(last));
        for (const { refused } of written) assert.deepEqual(refused, []);
        const acknowledged = written.flatMap((each) => each.acknowledged);
        const kept = await last.evaluate(() => idsOf(engine));
        const ids = new Set(kept);
        assert.deepEqual(acknowledged.filter((id) => !ids.has(id)), []);
        assert.equal(ids.size, kept.length, "a record that was sent again is held once");
        context.diagnostic(`${acknowledged.length} records were acknowledged, none failed`);
    });
}

browserTest("unrepeatable_call_to_a_closed_tab_is_indeterminate", async ({ start, origin }) => {
    const browser = await start();
    const leader = await tab(browser, origin);
    await leader.evaluate(async () => {
        globalThis.worker = new Worker("/tests/browser/stalling-worker.js", { type: "module" });
        globalThis.engine = await connect({ worker });
        await engine.putWorkspaces([{ workSpId: "ws-1", username: "jdoe", state: "AVAILABLE" }]);
    });
    const other = await tab(browser, origin);
    await other.evaluate(async () => {
        globalThis.engine = await connect();
        globalThis.key = (await engine.issueKey({ name: "desk", scopes: ["act", "read"] })).key;
    });
    // The worker takes nothing any more, so what the other tab sends now has no answer when the tab is closed.
    await leader.evaluate(() => {
        const stalls = new Promise((done) => worker.addEventListener("message", ({ data }) => data.stalls && done()));
        worker.postMessage({ stall: true });
        return stalls;
    });
    await other.evaluate(async () => {
        const action = engine.fetch(new Request("/api/Actions/RebootWorkSpace?workSpaceId=ws-1", { method: "POST", headers: { "x-api-key": key } }));
        globalThis.answers = Promise.all([
            action.then(async (answer) => `${answer.status} ${(await answer.json()).code}`),
            failure(engine.issueKey({ name: "second", scopes: ["read"] })).then(({ code }) => code),
            engine.queueCount(),
        ]);
        await new Promise((sent) => setTimeout(sent, 100));
    });
    await leader.close();
    assert.deepEqual(await other.evaluate(() => answers), ["503 Indeterminate", "Indeterminate", 0]);
});

/** Goes to another page of the origin; the browser may keep this one in its back/forward cache. */
async function leave(page) {
    await page.evaluate(() => {
        addEventListener("pageshow", ({ persisted }) => (globalThis.restored = persisted));
        setTimeout(() => (location.href = "/tests/browser/page.html?next"));
    });
    await page.waitForFunction(() => location.search === "?next" && globalThis.connect);
}

/** Goes back; resolves with whether the page is the one that was left, in the same state. */
async function comeBack(page) {
    await page.evaluate(() => void setTimeout(() => history.back()));
    await page.waitForFunction(() => location.search === "" && (globalThis.restored || (globalThis.connect && !globalThis.engine)));
    return page.evaluate(() => globalThis.restored === true);
}

/** Resolves with the status of a post, or with `late`. */
function posted(page, id) {
    return page.evaluate((id) => Promise.race([engine.fetch(postRequest(id)).then(({ status }) => status), new Promise((late) => setTimeout(late, 10_000, "late"))]), id);
}

everyBrowserTest("page_in_back_forward_cache_hands_over_the_store_and_rejoins", async ({ start, origin, context }) => {
    const browser = await start();
    const leader = await tab(browser, origin);
    await leader.evaluate(async () => (globalThis.engine = await connect()) && undefined);
    assert.equal(await posted(leader, 1), 200);
    const other = await tab(browser, origin);
    await other.evaluate(async () => (globalThis.engine = await connect()) && undefined);
    assert.equal(await posted(other, 2), 200);
    await leave(leader);
    assert.equal(await posted(other, 3), 200, "the leader's page is in the cache");
    const restored = await comeBack(leader);
    context.diagnostic(restored ? "the page came from the back/forward cache" : "the browser loaded the page again");
    assert.ok(restored || context.name.endsWith("Firefox"));
    if (!restored) await leader.evaluate(async () => (globalThis.engine = await connect()) && undefined);
    assert.equal(await posted(leader, 4), 200);
    assert.equal(await other.evaluate(() => engine.queueCount()), 4);
    // The page that came back is one of the members now.
    await other.close();
    assert.equal(await posted(leader, 5), 200);
    assert.equal(await leader.evaluate(() => engine.queueCount()), 5);
});

browserTest("calls_of_a_cached_page_are_repeated_when_it_is_shown", async ({ start, origin }) => {
    const page = await tab(await start(), origin);
    await page.evaluate(async () => {
        globalThis.engine = await connect();
        const { key } = await engine.issueKey({ name: "first", scopes: ["read"] });
        globalThis.settled = [];
        addEventListener("pagehide", () => {
            const note = (what) => (value) => settled.push([what, value]);
            engine.fetch(postRequest(1)).then(({ status }) => note("post")(status));
            engine.issueKey({ name: "second", scopes: ["read"] }).then(() => note("key")("issued"), ({ code }) => note("key")(code));
        });
        return key;
    });
    await leave(page);
    assert.equal(await comeBack(page), true);
    await page.waitForFunction(() => settled.length === 2);
    assert.deepEqual(new Map(await page.evaluate(() => settled)), new Map([["post", 200], ["key", "issued"]]));
});

browserTest("frozen_tab_hands_over_the_store_and_rejoins_when_it_resumes", async ({ start, origin }) => {
    const browser = await start();
    const leader = await tab(browser, origin);
    await leader.evaluate(async () => (globalThis.engine = await connect()) && undefined);
    const other = await tab(browser, origin);
    await other.evaluate(async () => (globalThis.engine = await connect()) && undefined);
    const devtools = await browser.context.newCDPSession(leader);
    await devtools.send("Page.setWebLifecycleState", { state: "frozen" });
    assert.equal(await posted(other, 1), 200);
    await devtools.send("Page.setWebLifecycleState", { state: "active" });
    assert.equal(await posted(leader, 2), 200);
    assert.equal(await other.evaluate(() => engine.queueCount()), 2);
});

everyBrowserTest("worker_ended_by_its_host_refuses_pending_calls", async ({ start, origin }) => {
    const page = await tab(await start(), origin);
    const seen = await page.evaluate(async () => {
        const make = () => (globalThis.worker = new Worker("/pkg/opfs-worker.js", { type: "module" }));
        const given = await connect({ worker: make() });
        const pending = [given.issueKey({ name: "a", scopes: ["read"] }), given.queueCount()].map(failure);
        const post = given.fetch(postRequest(1)).then(async (answer) => (answer.ok ? answer.status : `${answer.status} ${(await answer.json()).code}`), ({ code }) => code);
        await new Promise((sent) => setTimeout(sent));
        worker.terminate();
        const found = { pending: (await Promise.all(pending)).map((each) => each?.code ?? "done"), post: await post, later: (await failure(given.queueCount())).code };
        await given.close();
        const made = await connect({ worker: make });
        worker.terminate();
        await failure(made.queueCount());
        found.again = (await made.fetch(postRequest(2))).status;
        await made.close();
        return found;
    });
    const [issued, counted] = seen.pending;
    assert.ok(["Indeterminate", "done"].includes(issued), issued);
    assert.ok(["StorageUnavailable", "done"].includes(counted), counted);
    // The call may not have been sent yet, because its body is read first; then it was certainly not made.
    assert.ok([200, "503 Indeterminate", "StorageUnavailable"].includes(seen.post), String(seen.post));
    assert.deepEqual([seen.later, seen.again], ["StorageUnavailable", 200]);
});

everyBrowserTest("call_sent_to_an_ended_worker_is_indeterminate_if_the_next_does_not_start", async ({ start, origin }) => {
    const page = await tab(await start(), origin);
    const codes = await page.evaluate(async () => {
        let fails = false;
        const make = () => {
            if (fails) throw new Error("no more workers");
            return (globalThis.worker = new Worker("/tests/browser/stalling-worker.js", { type: "module" }));
        };
        const engine = await connect({ worker: make });
        const code = (id) => engine.fetch(postRequest(id)).then((answer) => answer.json(), (error) => error).then(({ code }) => code);
        worker.postMessage({ stall: true });
        const had = code(1);
        await new Promise((sent) => setTimeout(sent, 50));
        fails = true;
        dispatchEvent(new Event("pagehide"));
        const kept = code(2);
        await new Promise((sent) => setTimeout(sent));
        dispatchEvent(new Event("pageshow"));
        return Promise.all([had, kept]);
    });
    assert.deepEqual(codes, ["Indeterminate", "StorageUnavailable"]);
});

browserTest("calls_to_a_stalled_tab_are_refused_until_it_responds", async ({ start, origin }) => {
    const browser = await start();
    const leader = await tab(browser, origin);
    await leader.evaluate(async () => {
        globalThis.worker = new Worker("/tests/browser/stalling-worker.js", { type: "module" });
        globalThis.engine = await connect({ worker });
    });
    const other = await tab(browser, origin);
    await other.evaluate(async () => (globalThis.engine = await connect()) && undefined);
    assert.equal(await posted(other, 1), 200);
    await leader.evaluate(() => worker.postMessage({ stall: true }));
    const seen = await other.evaluate(async () => {
        const answers = await Promise.all([engine.fetch(postRequest(2)).then((answer) => answer.json()), failure(engine.queueCount())]);
        return [answers[0].code, answers[1].code, answers[1].message];
    });
    assert.deepEqual(seen.slice(0, 2), ["Indeterminate", "StorageUnavailable"]);
    assert.match(seen[2], /did not answer for 15 s/);
    // Calls made while no leader is known also end.
    const unsent = await other.evaluate(async () => {
        const [post, key] = await Promise.all([engine.fetch(postRequest(4)).then((answer) => answer.json()), failure(engine.issueKey({ name: "a", scopes: ["read"] }))]);
        return [post.code, key.code];
    });
    assert.deepEqual(unsent, ["StorageUnavailable", "StorageUnavailable"], "they were not sent");
    await other.evaluate(() => fetch("/resume"));
    assert.equal(await posted(other, 3), 200);
});
