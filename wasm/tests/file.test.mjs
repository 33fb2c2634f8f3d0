// Files in Node: what was acknowledged outlives the process, however it ends; one engine at a time.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Engine } from "../pkg/index.node.js";
import { fileStorage } from "../pkg/node.js";
import { post } from "./faulty.mjs";

async function inFolder(work) {
    const folder = fs.mkdtempSync(path.join(tmpdir(), "deskfleet-"));
    try {
        await work(folder);
    } finally {
        fs.rmSync(folder, { recursive: true });
    }
}

/** The ids of all records of the instance, page by page. */
async function ids(engine) {
    const { key } = await engine.issueKey({ name: "check", scopes: ["admin"] });
    const found = [];
    let token = "";
    do {
        const target = `/operator/telemetry/stats?instanceId=ws-1&limit=500${token}`;
        const page = JSON.parse(new TextDecoder().decode(engine.handle("GET", target, { "x-api-key": key }).body));
        found.push(...page.records.map(({ id }) => id));
        token = page.hasMore ? `&nextToken=${encodeURIComponent(page.nextToken)}` : "";
    } while (token);
    return found;
}

test("a file is named by a path or a URL, and a folder, a missing one or another file is refused", async () => {
    await inFolder(async (folder) => {
        const file = path.join(folder, "fleet.redb");
        const engine = await Engine.open({ storage: fileStorage(pathToFileURL(file)) });
        assert.equal(engine.persisted(), true);
        post(engine);
        await engine.close();
        const again = await Engine.open({ storage: fileStorage(file) });
        assert.equal(await again.queueCount(), 1);
        await again.close();
        assert.throws(() => fileStorage(7), { code: "InvalidArgument" });
        assert.throws(() => fileStorage(folder), { code: "StorageUnavailable" });
        assert.throws(() => fileStorage(path.join(folder, "none", "fleet.redb")), { code: "StorageUnavailable" });
        const foreign = path.join(folder, "foreign");
        fs.writeFileSync(foreign, "not a store at all");
        await assert.rejects(Engine.open({ storage: fileStorage(foreign) }), { code: "ForeignFile" });
        assert.equal(fs.readFileSync(foreign, "utf8"), "not a store at all");
        assert.deepEqual(fs.readdirSync(folder).sort(), ["fleet.redb", "foreign"], "no lock is left");
    });
});

test("a file is open once, in this process and in any other", async () => {
    await inFolder(async (folder) => {
        const file = path.join(folder, "fleet.redb");
        const engine = await Engine.open({ storage: fileStorage(file) });
        fs.symlinkSync(file, path.join(folder, "link.redb"));
        for (const name of [file, path.join(folder, "link.redb"), path.join(folder, ".", "fleet.redb")]) {
            assert.throws(() => fileStorage(name), { name: "DeskfleetError", code: "StorageLocked" });
        }
        const script = `import { fileStorage } from ${JSON.stringify(new URL("../pkg/node.js", import.meta.url).href)};
            try { fileStorage(${JSON.stringify(file)}); } catch (error) { process.stdout.write(error.code); }`;
        const other = spawn(process.execPath, ["--input-type=module", "-e", script]);
        let said = "";
        for await (const piece of other.stdout) said += piece;
        assert.equal(said, "StorageLocked");
        await engine.close();
        await (await Engine.open({ storage: fileStorage(file) })).close();
    });
});

test("a lock of an owner that is gone is taken, one that cannot be looked at is not", async () => {
    await inFolder(async (folder) => {
        const file = path.join(folder, "fleet.redb");
        const lock = `${file}.lock`;
        const storage = fileStorage(file);
        const mine = JSON.parse(fs.readFileSync(lock, "utf8"));
        storage.close();
        assert.equal(fs.existsSync(lock), false);
        const left = (change) => fs.writeFileSync(lock, JSON.stringify({ ...mine, token: "other", ...change }));

        left({ pid: 2 ** 22 + 1 });
        fileStorage(file).close();
        if (mine.started !== undefined) {
            left({ started: "1" });
            fileStorage(file).close();
            left({ boot: "another" });
            fileStorage(file).close();
        }
        left({ host: "another machine" });
        assert.throws(() => fileStorage(file), { code: "StorageLocked" });
        fileStorage(file, { breakLock: true }).close();
        left({});
        assert.throws(() => fileStorage(file, { breakLock: true }), { code: "StorageLocked" }, "it is known to run");
        fs.writeFileSync(lock, "");
        assert.throws(() => fileStorage(file), { code: "StorageLocked" });
        fs.rmSync(lock);

        // One who died while it took the lock of another who died.
        left({ pid: 2 ** 22 + 1 });
        fs.writeFileSync(`${lock}.other`, JSON.stringify({ ...mine, pid: 2 ** 22 + 2, token: "third" }));
        fileStorage(file).close();
        assert.deepEqual(fs.readdirSync(folder), ["fleet.redb"]);
    });
});

test("of many who take the lock of one that is gone, one gets it", async () => {
    await inFolder(async (folder) => {
        const file = path.join(folder, "fleet.redb");
        fileStorage(file).close();
        const url = JSON.stringify(new URL("../pkg/node.js", import.meta.url).href);
        const script = `import { fileStorage } from ${url};
            try { fileStorage(${JSON.stringify(file)}); process.stdout.write("got it"); setTimeout(() => {}, 60000); }
            catch (error) { process.stdout.write(error.code); }`;
        const dead = { pid: 2 ** 22 + 1, started: "1", boot: "none", host: "", token: "dead" };
        const own = fileStorage(path.join(folder, "own"));
        dead.host = JSON.parse(fs.readFileSync(path.join(folder, "own.lock"), "utf8")).host;
        own.close();
        fs.writeFileSync(`${file}.lock`, JSON.stringify(dead));
        const others = Array.from({ length: 6 }, () => spawn(process.execPath, ["--input-type=module", "-e", script]));
        const said = await Promise.all(others.map((other) => new Promise((resolve) => other.stdout.once("data", (data) => resolve(String(data))))));
        for (const other of others) other.kill("SIGKILL");
        assert.equal(said.filter((what) => what === "got it").length, 1, String(said));
        assert.ok(said.every((what) => what === "got it" || what === "StorageLocked"), String(said));
    });
});

test("a process that is killed amid its writes loses nothing that it acknowledged", async (context) => {
    await inFolder(async (folder) => {
        const file = path.join(folder, "fleet.redb");
        const acknowledged = [];
        for (let round = 0; round < 5; round++) {
            const script = fileURLToPath(new URL("./killed.mjs", import.meta.url));
            const child = spawn(process.execPath, [script, file, String(round * 1_000_000)]);
            let said = "";
            const enough = new Promise((resolve) => {
                child.stdout.on("data", (data) => {
                    said += data;
                    if (said.split("\n").length > 200 + round * 150) resolve();
                });
            });
            // Its output may end before it does, and until then it holds the lock.
            const gone = new Promise((resolve) => child.on("close", resolve));
            await Promise.race([enough, gone]);
            child.kill("SIGKILL");
            await gone;
            acknowledged.push(...said.split("\n").slice(0, -1).map(Number));
        }
        const engine = await Engine.open({ storage: fileStorage(file) });
        const held = new Set(await ids(engine));
        const lost = acknowledged.filter((id) => !held.has(id));
        assert.deepEqual(lost, []);
        assert.ok(acknowledged.length > 1000);
        context.diagnostic(`${acknowledged.length} records were acknowledged in 5 lives, ${held.size} are held`);
        await engine.close();
    });
});
