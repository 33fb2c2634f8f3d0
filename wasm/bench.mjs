// Prints sizes and speeds of the package: `node wasm/bench.mjs [part …]`, after `cargo wasm`; `object` also needs `npm
// ci` in wasm/tests. Deno and Bun run it too.

import { copyFileSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { durableObjectStorage } from "./pkg/durable-object.js";
import { Engine } from "./pkg/index.node.js";
import { fileStorage } from "./pkg/node.js";
import { recordOf } from "./tests/browser/bench-records.js";

const HEADERS = { "content-type": "application/json" };
const KILO = 1000;

function bodies(count) {
    const encoder = new TextEncoder();
    return Array.from({ length: count }, (_, id) => encoder.encode(recordOf(id)));
}

/** A batch of telemetry, from that id on. */
function linesOf(id) {
    return Array.from({ length: 10_000 }, (_, nth) => `{"stats":${recordOf(id + nth)}}`).join("\n");
}

function figure(name, value, bound) {
    console.log(`${name.padEnd(58)} ${String(value).padStart(12)}   ${bound}`);
}

const rate = (count, milliseconds) => Math.round((count / milliseconds) * KILO);

async function size() {
    const bytes = readFileSync(new URL("./pkg/deskfleet.wasm", import.meta.url));
    const brotli = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } });
    figure("deskfleet.wasm, bytes", bytes.length, "");
    figure("deskfleet.wasm, gzip -9, bytes", gzipSync(bytes, { level: 9 }).length, "at most 300 000");
    figure("deskfleet.wasm, brotli, bytes", brotli.length, "at most 230 000");
    figure("glue.js, bytes", statSync(new URL("./pkg/glue.js", import.meta.url)).size, "");
}

async function ready() {
    const first = performance.now();
    const engine = await Engine.open();
    figure("open on memory, first, ms", (performance.now() - first).toFixed(1), "under 30");
    const second = performance.now();
    const other = await Engine.open();
    figure("open on memory, again, ms", (performance.now() - second).toFixed(1), "");
    await engine.close();
    await other.close();
}

async function handle() {
    const engine = await Engine.open();
    const sent = bodies(100_000);
    const small = new TextEncoder().encode('{"instanceId":"ws-1","username":"jdoe","processorInUse":12}');
    for (const [name, body] of [["full records of 570 bytes", (id) => sent[id]], ["records of 60 bytes", () => small]]) {
        for (let id = 0; id < 20_000; id++) engine.handle("POST", "/api/Stats/Post", HEADERS, body(id));
        const began = performance.now();
        for (let id = 0; id < sent.length; id++) {
            if (engine.handle("POST", "/api/Stats/Post", HEADERS, body(id)).status !== 200) throw new Error("refused");
        }
        await engine.queueCount();
        figure(`handle on memory, ${name}, records/s`, rate(sent.length, performance.now() - began), "at least 150 000");
    }
    const began = performance.now();
    for (let id = 0; id < sent.length; id++) engine.handle("GET", "/api/Stats/queue/count");
    figure("handle on memory, GET queue/count, requests/s", rate(sent.length, performance.now() - began), "");
    await engine.close();
}

async function fetching() {
    const engine = await Engine.open();
    const sent = bodies(50_000);
    for (const together of [1, 100]) {
        const began = performance.now();
        for (let id = 0; id < sent.length; id += together) {
            const turn = sent.slice(id, id + together);
            const responses = await Promise.all(
                turn.map((body) => engine.fetch(new Request("http://fleet/api/Stats/Post", { method: "POST", headers: HEADERS, body }))),
            );
            if (responses.some((response) => response.status !== 200)) throw new Error("refused");
        }
        figure(`fetch on memory, ${together} at a time, records/s`, rate(sent.length, performance.now() - began), "at least 25 000");
    }
    const began = performance.now();
    for (let id = 0; id < sent.length; id++) {
        const request = new Request("http://fleet/api/Stats/Post", { method: "POST", headers: HEADERS, body: sent[id] });
        await request.arrayBuffer();
        new Response(null, { status: 200 });
    }
    figure("Request, its body and Response alone, a second", rate(sent.length, performance.now() - began), "");
    await engine.close();
}

async function file() {
    const folder = mkdtempSync(path.join(tmpdir(), "deskfleet-"));
    try {
        const name = path.join(folder, "fleet.redb");
        const engine = await Engine.open({ storage: fileStorage(name) });
        const sent = bodies(20_000);
        const { key } = await engine.issueKey({ name: "bench", scopes: ["admin"] });
        const began = performance.now();
        for (let at = 0; at < sent.length; at += 1000) {
            const posts = sent.slice(at, at + 1000).map((body) => engine.fetch(new Request("http://fleet/api/Stats/Post", { method: "POST", headers: HEADERS, body })));
            await Promise.all(posts);
        }
        figure("fetch on a file, 1000 in a turn, durable records/s", rate(sent.length, performance.now() - began), "");
        // All records differ: repetitions would be dropped.
        for (let id = sent.length; statSync(name).size < 40 * 1024 * 1024; id += 10_000) {
            const answer = engine.handle("POST", "/operator/telemetry", { ...HEADERS, "x-api-key": key }, linesOf(id));
            if (answer.status !== 200) throw new Error(`batch answered ${answer.status}`);
        }
        // A copy of an open file is what a crash leaves.
        const crashed = path.join(folder, "crashed.redb");
        copyFileSync(name, crashed);
        const reopening = performance.now();
        const again = await Engine.open({ storage: fileStorage(crashed) });
        figure(`open an unclean file of ${Math.round(statSync(crashed).size / 1024 / 1024)} MiB, ms`, (performance.now() - reopening).toFixed(1), "under 300");
        await again.close();
        await engine.close();
    } finally {
        rmSync(folder, { recursive: true });
    }
}

function bytesIn(folder) {
    const sizes = readdirSync(folder, { recursive: true }).map((name) => statSync(path.join(folder, name)));
    return sizes.reduce((sum, entry) => sum + (entry.isFile() ? entry.size : 0), 0);
}

/** A Durable Object in workerd, which is killed while it has its store open. */
async function object() {
    // These modules import the test runner, which prints a report without tests.
    const { objectFolder } = await import("./tests/object-folder.mjs");
    const { serve } = await import("./tests/workerd.mjs");
    const made = await objectFolder({ skip: (why) => console.log(why) });
    if (!made) return;
    const data = path.join(made.folder, "data");
    // Served by another object, so that the one with the engine does not exist yet.
    const start = () => serve(made.workerd, made.folder, "/store/made");
    let server = await start();
    try {
        const asked = await fetch(`${server.url}/fleet/issueKey`, { method: "POST", body: JSON.stringify([{ name: "bench", scopes: ["admin"] }]) });
        const { key } = await asked.json();
        for (let id = 0; bytesIn(data) < 40 * 1024 * 1024; id += 10_000) {
            const answer = await fetch(`${server.url}/operator/telemetry`, { method: "POST", headers: { ...HEADERS, "x-api-key": key }, body: linesOf(id) });
            if (answer.status !== 200) throw new Error(`batch answered ${answer.status}`);
        }
        await server.kill();
        server = await start();
        const reopening = performance.now();
        const answer = await fetch(`${server.url}/api/Stats/Test`);
        const took = performance.now() - reopening;
        if (answer.status !== 200) throw new Error(`answered ${answer.status}`);
        figure(`make an object of ${Math.round(bytesIn(data) / 1024 / 1024)} MiB after workerd was killed, ms`, took.toFixed(1), "under 300");
    } finally {
        await server.kill();
    }
}

/** What calls write in a Durable Object, whose rows are billed: means over many, in a store of some hundred records. */
async function rows() {
    const { objectDatabase } = await import("./tests/object-database.mjs");
    for (const options of [{}, { quickRepair: false }]) {
        const database = objectDatabase();
        let now = Date.parse("2026-11-20T08:00:00Z");
        const engine = await Engine.open({ seed: 1, clock: () => now, storage: durableObjectStorage(database), ...options });
        const { key } = await engine.issueKey({ name: "bench", scopes: ["admin"] });
        const workspaces = (from, count) => Array.from({ length: count }, (_, nth) => ({ workSpId: `ws-${from + nth}`, username: "jdoe", state: "AVAILABLE" }));
        await engine.putWorkspaces(workspaces(0, 400));
        const asked = (method, url, body) => {
            const { status } = engine.handle(method, url, { ...HEADERS, "x-api-key": key }, body);
            if (status !== 200) throw new Error(`${url} answered ${status}`);
        };
        const post = (id) => asked("POST", "/api/Stats/Post", recordOf(id));
        for (let id = 0; id < 300; id++) post(id);
        const calls = {
            "a post": (id) => post(300 + id),
            "100 posts that share a commit": (id) => Promise.all(Array.from({ length: 100 }, (_, nth) => engine.fetch("/api/Stats/Post", { method: "POST", headers: HEADERS, body: recordOf(1000 + 100 * id + nth) }))),
            "putWorkspaces of one": (id) => engine.putWorkspaces(workspaces(1000 + id, 1)),
            "putWorkspaces of 100": (id) => engine.putWorkspaces(workspaces(2000 + 100 * id, 100)),
            placeHold: (id) => engine.placeHold(`ws-${id}`, { matter: "bench" }),
            "an action": (id) => asked("POST", `/api/Actions/RebootWorkSpace?workSpaceId=ws-${200 + id}`),
            "maintain after an hour": () => ((now += 3_600_000), engine.maintain()),
            "maintain with nothing due": () => engine.maintain(),
            "a read": () => asked("GET", "/api/Information/GetAllWorkSpaces"),
        };
        for (const [name, call] of Object.entries(calls)) {
            Object.assign(database.counts, { rows: 0, bytes: 0 });
            const count = 150;
            for (let id = 0; id < count; id++) await call(id);
            const { rows: written, bytes } = database.counts;
            figure(`${name}${options.quickRepair === false ? ", quickRepair false" : ""}, rows, KiB`, `${(written / count).toFixed(1)}, ${(bytes / count / 1024).toFixed(1)}`, "");
        }
        await engine.close();
    }
}

async function memory() {
    const memories = [];
    const { instantiate } = WebAssembly;
    WebAssembly.instantiate = async (...given) => {
        const instance = await instantiate.apply(WebAssembly, given);
        memories.push((instance.instance ?? instance).exports.memory);
        return instance;
    };
    const engine = await Engine.open();
    WebAssembly.instantiate = instantiate;
    const sent = bodies(1000);
    const { key } = await engine.issueKey({ name: "bench", scopes: ["read"] });
    const mebibytes = (bytes) => Math.round(bytes / 1024 / 1024);
    for (let round = 1; round <= 10; round++) {
        for (let id = 0; id < 100_000; id++) {
            const answer =
                id % 10 === 0
                    ? engine.handle("POST", "/api/Stats/Post", HEADERS, sent[id % 1000])
                    : engine.handle("GET", "/api/Information/GetAllWorkSpaces", { "x-api-key": key });
            if (answer.status !== 200) throw new Error(`answered ${answer.status}`);
            // Its store keeps its size: all but the first thousand records in the queue are repetitions.
            if (id % 1000 === 0) await engine.filePending();
        }
        if (round !== 1 && round !== 5 && round !== 10) continue;
        globalThis.gc?.();
        figure(`memory of the module after ${round}00 000 requests, KiB`, memories[0].buffer.byteLength / 1024, "flat");
        figure(`resident after ${round}00 000 requests, MiB`, mebibytes(process.memoryUsage.rss()), "flat");
    }
    await engine.close();
}

const parts = { size, ready, handle, fetch: fetching, file, object, rows, memory };
const chosen = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(parts);
for (const name of chosen) await parts[name]();
