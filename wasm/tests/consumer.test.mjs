// The hand-written types, as a strict consumer's compiler sees them: both module resolutions, every entry.

import { readFileSync } from "node:fs";
import path from "node:path";
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { installed } from "./packed.mjs";
import { output, start } from "./processes.mjs";
import { tool } from "./runtimes.mjs";

const consumer = readFileSync(new URL("./consumer.ts", import.meta.url), "utf8");
const WAYS = [
    ["nodenext", "nodenext"],
    ["esnext", "bundler"],
];

const PLATFORM = ["--lib", "es2023,esnext.disposable,dom,dom.iterable", "--types", "node"];

function compile(folder, [module, resolution], file, platform = PLATFORM) {
    const flags = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--target", "es2022"];
    flags.push(...platform, "--module", module, "--moduleResolution", resolution);
    return [process.execPath, [path.join(TYPESCRIPT, "bin/tsc"), ...flags, file], { cwd: folder }];
}

const TYPESCRIPT = fileURLToPath(new URL("./node_modules/typescript", import.meta.url));

for (const way of WAYS) {
    test(`tsc --strict takes a consumer, module resolution ${way[1]}`, async (context) => {
        if (!["typescript", "msw", "hono", "@types/node"].every((name) => tool(name, context))) return;
        const beside = ["hono", "msw", "@types/node"];
        const files = { "consumer.ts": consumer, "wrong.ts": wrong(), "package.json": '{"type":"module"}' };
        const folder = installed({ files, beside });
        await output(...compile(folder, way, "consumer.ts"));
        // The compiler must find these errors, or the types check nothing.
        const { code, out } = await start(...compile(folder, way, "wrong.ts")).ended;
        assert.notEqual(code, 0);
        const lines = new Set([...out.matchAll(/^wrong\.ts\((\d+),/gm)].map(([, line]) => Number(line)));
        const mistakes = wrong().split("\n").flatMap((line, index) => (line.includes("// wrong") ? [index + 1] : []));
        assert.deepEqual([...lines].sort((a, b) => a - b), mistakes, out);
        assert.ok(mistakes.length >= 14);
    });
}

for (const [name, lib, types] of [
    ["neither the DOM nor Node", "es2022", []],
    ["Node", "es2023", ["@types/node"]],
    ["a worker of a browser", "es2023,webworker", []],
]) {
    test(`types_with_the_library_of_${name.replaceAll(" ", "_")}_compile`, async (context) => {
        if (!["typescript", "@types/node"].every((each) => tool(each, context))) return;
        const folder = installed({ files: { "plain.ts": plain(), "package.json": '{"type":"module"}' }, beside: types });
        const platform = ["--lib", lib, ...(types.length > 0 ? ["--types", "node"] : [])];
        for (const way of WAYS) await output(...compile(folder, way, "plain.ts", platform));
    });
}

/** A consumer that uses no platform API. */
function plain() {
    return `import { DeskfleetError, Engine, memoryStorage, type Answer, type EngineOptions } from "deskfleet";
import { durableObjectStorage } from "deskfleet/durable-object";
import { mount } from "deskfleet/hono";
import { indexedDbStorage } from "deskfleet/indexeddb";
import { Engine as Inline } from "deskfleet/inline";
import { handlers } from "deskfleet/msw";
import { fileStorage } from "deskfleet/node";
import { connect, opfsStorage } from "deskfleet/opfs";
import { answerFetches } from "deskfleet/service-worker";
import { Double } from "deskfleet/testing";
const options: EngineOptions = { storage: fileStorage("fleet.redb", { breakLock: false }), limits: { queueRecords: 5 } };
await using engine = await Engine.open(options);
const answer: Answer = engine.handle("GET", "/api/Stats/Test", { a: "b" });
const response = await engine.fetch("/api/Stats/Post", { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
const status: number = response.status;
const read: number = (await response.arrayBuffer()).byteLength;
const connected = await connect({ name: "fleet.redb", worker: "/worker.js" });
const code: string = new DeskfleetError("Internal", "").code;
export const all = [answer, status, read, connected, code, memoryStorage(), durableObjectStorage, mount(engine), indexedDbStorage, Inline, handlers, opfsStorage, answerFetches, mount(await Double.open())];
`;
}

/** Code that the compiler must reject, marked. */
function wrong() {
    return `import { Engine, DeskfleetError, type Storage } from "deskfleet";
import { durableObjectStorage } from "deskfleet/durable-object";
import { mount } from "deskfleet/hono";
import { handlers } from "deskfleet/msw";
import { fileStorage } from "deskfleet/node";
import { connect, opfsStorage } from "deskfleet/opfs";
import { answerFetches } from "deskfleet/service-worker";
import { Double } from "deskfleet/testing";
const engine = await Engine.open();
new Engine(); // wrong
engine.fetch(7); // wrong
engine.fetch("/", { method: 7 }); // wrong
engine.fetch("/").then(({ status }) => status.length); // wrong
engine.fetch({ url: "/" }); // wrong
connect({ worker: 7 }); // wrong
engine.handle("GET", "/", {}, 7).status; // wrong
Engine.open({ colour: "red" }); // wrong
engine.issueKey({ name: "a", scopes: ["root"] }); // wrong
handlers(engine, {}); // wrong
mount(7); // wrong
fileStorage(7); // wrong
durableObjectStorage({}); // wrong
opfsStorage(); // wrong
connect({ clock: Date.now }); // wrong
(await connect()).handle("GET", "/"); // wrong
answerFetches({ paths: "/api/" }); // wrong
answerFetches({ storage: opfsStorage("a") }); // wrong
export const storage: Storage = { len: async () => 0, read() {}, write() {}, setLen() {}, sync() {}, close() {} }; // wrong
(await Double.open()).fail({ operation: "postStat", status: 502 }); // wrong
(await Double.open()).fail({ storage: "ful" }); // wrong
Double.open({ storage: opfsStorage("a") }); // wrong
const code: "NoSuchCode" = new DeskfleetError("Internal", "").code; // wrong
void code;
`;
}
