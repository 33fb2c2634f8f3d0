// The test double of the package, as the test suite of a client uses it.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Engine } from "../pkg/index.node.js";
import { mount } from "../pkg/hono.js";
import { handlers } from "../pkg/msw.js";
import { Double, Journal, fleet, record } from "../pkg/testing.js";
import { MEMBERS, OPERATIONS, REFUSALS } from "../pkg/testing/table.js";

const JSON_HEADERS = { "content-type": "application/json" };

/** Closed after all tests. */
const made = [];

after(() => Promise.all(made.map((each) => each.close())));

async function empty(options) {
    const double = await Double.open(options);
    made.push(double);
    return double;
}

async function opened() {
    const double = await empty();
    await double.engine.putWorkspaces(fleet(3));
    return double;
}

const post = (double) => double.fetch("/api/Stats/Post", { method: "POST", headers: JSON_HEADERS, body: '{"username":"user1"}' });
const get = (double, path) => double.fetch(path, { headers: { "x-api-key": double.key } });
const turn = () => new Promise(setImmediate);

test("rule_with_after_and_times_applies_to_those_requests_alone", async () => {
    const double = await opened();
    double.fail({ operation: "postStats", code: "QueueFull", after: 1, times: 2 });
    const statuses = [];
    for (let count = 0; count < 5; count++) statuses.push((await post(double)).status);
    assert.deepEqual(statuses, [200, 503, 503, 200, 200]);
    assert.equal(await double.engine.queueCount(), 3);
    double.journal.assertCount("postStats", 5);
});

test("handlers_for_msw_and_hono_take_a_double", async () => {
    const double = await opened();
    double.fail({ operation: "postStats", status: 502 });
    const request = () => new Request("https://fleet.example/api/Stats/Post", { method: "POST", headers: JSON_HEADERS, body: "{}" });
    const [ofMsw] = handlers(double, { all: (path, resolve) => resolve });
    assert.equal((await ofMsw({ request: request() })).status, 502);
    assert.equal((await mount(double)({ req: { raw: request() } })).status, 502);
    double.journal.assertCount("postStats", 2);
});

test("refusal_of_a_rule_is_that_of_the_engine", async () => {
    const double = await opened();
    for (const { code, status, headers } of REFUSALS) {
        double.fail({ operation: "postStats", code, times: 1 });
        const response = await post(double);
        const problem = await response.json();
        assert.deepEqual([response.status, problem.status, problem.code], [status, status, code]);
        assert.match(problem.traceId, /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
        for (const [name, value] of Object.entries(headers)) assert.equal(response.headers.get(name), value, `${code} ${name}`);
        assert.equal(response.headers.get("allow"), code === "MethodNotAllowed" ? "POST" : null);
    }
    const headers = { ...JSON_HEADERS, traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" };
    const traced = async () => (await double.fetch("/api/Stats/Post", { method: "POST", headers, body: "{}" })).text();
    double.fail({ operation: "postStats", code: "LowDisk", times: 1 });
    const byRule = await traced();
    double.fail({ storage: "full" });
    assert.equal(await traced(), byRule, "byte for byte");
});

test("rule_with_a_status_alone_has_no_body_and_any_rule_meets_every_request", async () => {
    const double = await opened();
    double.fail({ operation: "*", status: 502, times: 3 });
    const response = await post(double);
    assert.deepEqual([response.status, await response.text()], [502, ""]);
    assert.equal((await get(double, "/nowhere")).status, 502);
    assert.equal(double.handle("GET", "/nowhere").status, 502);
    assert.equal(double.handle("GET", "/nowhere").status, 404);
});

test("every_operation_is_met_by_its_path_in_any_case", async () => {
    const double = await empty();
    for (const [operation, method, path] of OPERATIONS) {
        double.fail({ operation, status: 418, times: 1 });
        const { status } = double.handle(method, `${path.replaceAll(/\{\w+\}/g, "a%20b").toUpperCase()}/?x=1`);
        assert.equal(status, 418, operation);
    }
});

test("latency_ends_by_an_advance_or_in_real_time", async () => {
    const double = await opened();
    double.fail({ operation: "postStats", latency: 600_000, times: 1 });
    let ended = false;
    const waiting = post(double).finally(() => (ended = true));
    await turn();
    await double.advance(599_999);
    await turn();
    assert.equal(ended, false);
    await double.advance(1);
    assert.equal((await waiting).status, 200);

    double.fail({ operation: "postStats", latency: 30, times: 1 });
    const begun = performance.now();
    assert.equal((await post(double)).status, 200);
    assert.ok(performance.now() - begun >= 29);

    double.fail({ operation: "postStats", latency: 600_000, times: 1 });
    const signal = AbortSignal.timeout(10);
    await assert.rejects(double.fetch("/api/Stats/Post", { method: "POST", signal }), { name: "TimeoutError" });
    double.fail({ operation: "postStats", latency: 1, times: 1 });
    assert.throws(() => double.handle("POST", "/api/Stats/Post"), { code: "InvalidArgument" });
});

test("latency_follows_fake_timers", async (context) => {
    const double = await opened();
    double.fail({ operation: "getQueueCount", latency: 60_000 });
    context.mock.timers.enable({ apis: ["setTimeout"] });
    const waiting = get(double, "/api/Stats/queue/count");
    await turn();
    context.mock.timers.tick(60_000);
    assert.equal((await waiting).status, 200);
});

test("full_storage_refuses_writes_until_the_rule_is_gone", async () => {
    const double = await opened();
    double.fail({ storage: "full" });
    assert.equal((await (await post(double)).json()).code, "LowDisk");
    assert.equal((await get(double, "/api/Information/GetAllWorkSpaces")).status, 200);
    double.clearRules();
    assert.equal((await post(double)).status, 200);
});

test("slow_storage_holds_back_each_commit", async () => {
    const double = await opened();
    double.fail({ storage: "slow", latency: 30, times: 4 });
    const begun = performance.now();
    assert.equal((await post(double)).status, 200);
    assert.ok(performance.now() - begun >= 29);
});

test("torn_write_loses_nothing_that_was_acknowledged", async () => {
    for (let after = 0; after < 8; after++) {
        const double = await opened();
        double.fail({ storage: "torn", after, times: 1 });
        let acknowledged = 0;
        for (let count = 0; count < 10; count++) {
            const response = await post(double);
            if (response.status === 200) acknowledged += 1;
            else assert.match((await response.json()).code, /^(StorageUnavailable|Indeterminate)$/);
        }
        double.clearRules();
        await double.restart();
        const kept = await double.engine.queueCount();
        assert.ok(kept >= acknowledged && acknowledged > 0, `${kept} of ${acknowledged}, torn after ${after}`);
    }
});

test("lost_sync_loses_acknowledged_writes_in_a_power_cut", async () => {
    const double = await opened();
    assert.equal((await post(double)).status, 200);
    double.fail({ storage: "lost-sync" });
    assert.deepEqual([(await post(double)).status, (await post(double)).status], [200, 200]);
    assert.equal(await double.engine.queueCount(), 3);
    double.clearRules();
    await double.restart();
    assert.equal(await double.engine.queueCount(), 1);
    assert.equal((await get(double, "/api/Information/GetAllWorkSpaces")).status, 200, "the key is still accepted");
});

test("misspelled_rule_names_the_nearest_name", async () => {
    const double = await empty();
    const code = "QueueFull";
    for (const [rule, words] of [
        [{ opertaion: "postStats" }, ['"opertaion"', '"operation"?']],
        [{ operation: "postStat", code }, ['"postStat"', '"postStats"?']],
        [{ operation: "postStats", code: "QueFull" }, ['"QueFull"', '"QueueFull"?']],
        [{ storage: "ful" }, ['"ful"', '"full"?']],
        [{ storage: "full", times: 0 }, ["times", "from 1 to 1000000"]],
        [{ storage: "full", code }, ["neither code", "status"]],
        [{ storage: "slow" }, ["slow", "latency"]],
        [{ storage: "torn", latency: 5 }, ["latency", "slow"]],
        [{ operation: "postStats" }, ["code, status", "latency"]],
        [{ operation: "postStats", code, status: 500 }, ["500", "503"]],
        [{ operation: "postStats", status: 200 }, ["status", "from 400 to 599"]],
        [{ latency: 7 }, ["operation", "storage"]],
        [7, ["object", "number"]],
    ]) {
        const names = (error) => error.code === "InvalidArgument" && words.every((word) => error.message.includes(word));
        assert.throws(() => double.fail([{ operation: "*", status: 502 }, rule]), names, JSON.stringify(rule));
    }
    assert.equal((await double.fetch("/api/Stats/Test")).status, 200, "none of them was added");
    assert.equal(MEMBERS.length, 7);
    await assert.rejects(Double.open({ storage: {} }), { code: "InvalidArgument" });
    await assert.rejects(Double.open({ clock: "noon" }), { code: "InvalidArgument" });
    await assert.rejects(Double.open({ limit: {} }), /limits/);
});

test("journal_has_no_key_wherever_it_was_sent", async () => {
    const double = await opened();
    const { key } = double;
    const foreign = "a-key-of-another-service";
    const ask = (path, headers) => double.fetch(path, { headers });
    await ask("/query/workspaces", { "x-api-key": key });
    await ask("/query/workspaces", { authorization: `Bearer ${foreign}` });
    await ask(`/query/workspaces?limit=1&apiKey=${key}`);
    await ask(`/query/workspaces?ap%69kEY=${foreign}&limit=1`);
    await ask(`/query/workspaces?%ff=${foreign}`);
    double.handle("GET", `/operator/workspaces/${key}`);
    const body = JSON.stringify({ name: `${key} ${key}`, scopes: ["read"] });
    const issued = await double.fetch("/operator/keys", { method: "POST", headers: { ...JSON_HEADERS, "x-api-key": key }, body });
    const { key: secret } = await issued.json();
    assert.match(secret, /^dfk_/);
    assert.equal(double.journal.exchanges.length, 7);
    const text = JSON.stringify(double.journal);
    for (const gone of [key, secret, foreign, "dfk_"]) assert.ok(!text.includes(gone), text);
    assert.equal(double.journal.exchanges[2].url, "/query/workspaces?limit=1");
});

test("journal_asserts_counts_and_order", async () => {
    const double = await opened();
    await post(double);
    await get(double, "/api/Information/GetAllWorkSpaces");
    await post(double);
    const { journal } = double;
    journal.assertCount("postStats", 2);
    journal.assertOrder(["postStats", "getAllWorkSpaces", "postStats"]);
    assert.deepEqual(journal.bodies("postStats"), ['{"username":"user1"}', '{"username":"user1"}']);
    assert.throws(() => journal.assertCount("postStats", 1), /2 times and not 1/);
    assert.throws(() => journal.assertOrder(["getAllWorkSpaces", "getAllWorkSpaces"]), /not in its place/);
    double.clearJournal();
    assert.deepEqual(double.journal.exchanges, []);
});

test("recorded_exchanges_replay_in_order_and_others_reach_the_engine", async () => {
    const real = await Engine.open();
    made.push(real);
    const recording = record("https://fleet.example", { fetch: (request) => real.fetch(request) });
    await recording.fetch("/api/Stats/queue/count?apiKey=dfk_x");
    await recording.fetch("/api/Stats/Post", { method: "POST", headers: JSON_HEADERS, body: "{}" });
    await recording.fetch("/api/Stats/queue/count");
    const file = JSON.stringify(recording.journal);
    assert.ok(!file.includes("dfk_"));

    const double = await empty();
    double.replay(JSON.parse(file));
    const count = async (path) => (await double.fetch(path)).text();
    const [first, second, third] = [await count("/api/Stats/queue/count"), await count("/api/Stats/queue/count"), await count("/api/Stats/queue/count")];
    assert.notEqual(first, second);
    assert.equal(second, third);
    assert.equal(await count("/api/Stats/queue/count?x=1"), first, "the engine's own");
    assert.throws(() => double.replay({}), { code: "InvalidArgument" });
    double.replay(new Journal());
    assert.equal(await count("/api/Stats/queue/count"), first);
});

test("reset_gives_the_same_key_and_time_again", async () => {
    const double = await empty({ seed: 7, clock: "2026-11-20T08:00:00Z" });
    const run = async () => {
        await double.engine.putWorkspaces(fleet(2));
        await get(double, "/api/Actions/RebootWorkSpace");
        double.fail({ operation: "postStats", code: "Throttled", times: 1 });
        const refused = await (await post(double)).text();
        const list = await (await get(double, "/api/Information/GetAllWorkSpaces")).text();
        await double.advance(1500);
        return [double.key, double.now, refused, list];
    };
    const first = await run();
    await double.reset();
    assert.deepEqual(await run(), first);
    assert.equal(first[1].toISOString(), "2026-11-20T08:00:01.500Z");
    await double.reset();
    assert.deepEqual(double.journal.exchanges, []);
    assert.deepEqual((await (await get(double, "/api/Information/GetAllWorkSpaces")).json()).workSpaces, []);
});

test("served_double_has_the_interface_and_the_requests_of_a_double", async () => {
    const double = await opened();
    const { url, stop } = await double.serve();
    const send = async (method, path, value) => {
        const body = value === undefined ? undefined : JSON.stringify(value);
        const response = await fetch(url + path, { method, body, headers: { ...JSON_HEADERS, "x-api-key": double.key } });
        const text = await response.text();
        return [response.status, text];
    };
    assert.equal((await send("POST", "/double/rules", { operation: "postStats", code: "QueueFull", times: 1 }))[0], 204);
    assert.equal((await send("POST", "/api/Stats/Post", {}))[0], 503);
    assert.equal((await send("POST", "/api/Stats/Post", {}))[0], 200);
    assert.deepEqual(await send("POST", "/double/advance", { milliseconds: 90_000 }), [204, ""]);
    assert.deepEqual(await send("GET", "/double"), [200, '{"now":"2026-01-01T00:01:30Z"}']);
    const [, journal] = await send("GET", "/double/journal");
    assert.deepEqual(JSON.parse(journal).map(({ operation, status }) => [operation, status]), [["postStats", 503], ["postStats", 200]]);
    const [status, message] = await send("POST", "/double/rules", { operatoin: "postStats" });
    assert.ok(status === 400 && message.includes('"operation"?'), message);
    for (const path of ["/double/restart", "/double/reset", "/double/replay"]) assert.equal((await send("POST", path, []))[0], 204, path);
    for (const path of ["/double/rules", "/double/journal"]) assert.equal((await send("DELETE", path))[0], 204, path);
    const [unknown, ways] = await send("POST", "/double/advnace", {});
    assert.ok(unknown === 404 && ways.includes("POST /double/advance"), ways);
    await stop();
    await assert.rejects(fetch(url));
});
