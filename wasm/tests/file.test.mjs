// Files in Node: acknowledged records outlive the process, however it ends; one engine at a time.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { DeskfleetError, Engine } from "../pkg/index.node.js";
import { fileStorage } from "../pkg/node.js";
import { post } from "./faulty.mjs";
import { output } from "./processes.mjs";

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
    const { key } = await engine.issueKey({ name: `check ${crypto.randomUUID()}`, scopes: ["admin"] });
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

test("file_storage_takes_paths_and_urls_and_refuses_folders_and_foreign_files", async () => {
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

test("file_open_in_this_or_another_process_is_locked", async () => {
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

test("lock_of_a_dead_owner_is_taken_and_of_an_unknown_owner_is_not", async () => {
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
        assert.throws(() => fileStorage(file), { code: "StorageLocked" }, "it runs");
        fileStorage(file, { breakLock: true }).close();

        // An opener that died while it took the lock of another dead one.
        left({ pid: 2 ** 22 + 1 });
        fs.writeFileSync(`${lock}.other`, JSON.stringify({ ...mine, pid: 2 ** 22 + 2, token: "third" }));
        fileStorage(file).close();
        assert.deepEqual(fs.readdirSync(folder), ["fleet.redb"]);
    });
});

test("lock_of_a_dead_owner_taken_by_many_goes_to_one", async () => {
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

test("killed_process_keeps_acknowledged_records", async (context) => {
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
            // Its output may end before the process does, and until then it holds the lock.
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

/** Makes a lock look as if it was not renewed for a minute. */
function age(lock) {
    const then = Date.now() / 1000 - 60;
    fs.utimesSync(lock, then, then);
}

test("stale_lock_of_an_unknown_owner_is_taken", async () => {
    await inFolder(async (folder) => {
        const file = path.join(folder, "fleet.redb");
        const lock = `${file}.lock`;
        const storage = fileStorage(file);
        const mine = JSON.parse(fs.readFileSync(lock, "utf8"));
        storage.close();
        const named = ["host", "boot", "namespace", "pid", "started", "thread", "threadStarted", "token"];
        if (process.platform === "linux") assert.deepEqual(Object.keys(mine), named);
        for (const content of [
            JSON.stringify({ ...mine, token: "other", namespace: "pid:[1]", pid: 1 }),
            JSON.stringify({ ...mine, token: "other", host: "another machine" }),
            "",
            '{"host":"ho',
            "null",
            JSON.stringify({ ...mine, token: "../../outside" }),
        ]) {
            fs.writeFileSync(lock, content);
            assert.throws(() => fileStorage(file), { code: "StorageLocked" }, content);
            fileStorage(file, { breakLock: true }).close();
            fs.writeFileSync(lock, content);
            age(lock);
            fileStorage(file).close();
            assert.deepEqual(fs.readdirSync(folder), ["fleet.redb"], content);
        }
    });
});

test("lock_of_a_killed_container_is_taken", { skip: (process.platform !== "linux" || process.getuid() !== 0) && "needs root on Linux" }, async (context) => {
    await inFolder(async (folder) => {
        const file = path.join(folder, "fleet.redb");
        const script = `import { fileStorage } from ${JSON.stringify(new URL("../pkg/node.js", import.meta.url).href)};
            fileStorage(${JSON.stringify(file)}); process.stdout.write("open"); setInterval(() => {}, 1000);`;
        const other = spawn("unshare", ["--pid", "--fork", "--kill-child", "--mount-proc", process.execPath, "--input-type=module", "-e", script]);
        const ended = new Promise((resolve) => other.once("close", resolve));
        const said = await Promise.race([new Promise((resolve) => other.stdout.once("data", (data) => resolve(String(data)))), ended]);
        if (said !== "open") return context.skip("needs the right to make namespaces");
        assert.throws(() => fileStorage(file), { code: "StorageLocked" });
        other.kill("SIGKILL");
        await ended;
        age(`${file}.lock`);
        fileStorage(file).close();
    });
});

test("lock_of_a_terminated_worker_is_taken", { skip: process.platform !== "linux" && "needs Linux" }, async () => {
    await inFolder(async (folder) => {
        const file = path.join(folder, "fleet.redb");
        const script = `import { parentPort } from "node:worker_threads";
            import { fileStorage } from ${JSON.stringify(new URL("../pkg/node.js", import.meta.url).href)};
            fileStorage(${JSON.stringify(file)}); parentPort.postMessage("open"); setInterval(() => {}, 1000);`;
        const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(script)}`));
        await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
        assert.throws(() => fileStorage(file), { code: "StorageLocked" });
        await worker.terminate();
        fileStorage(file).close();
    });
});

test("lock_of_a_collected_engine_is_released", async () => {
    await inFolder(async (folder) => {
        const file = path.join(folder, "fleet.redb");
        const script = `import { Engine } from ${JSON.stringify(new URL("../pkg/index.node.js", import.meta.url).href)};
            import { fileStorage } from ${JSON.stringify(new URL("../pkg/node.js", import.meta.url).href)};
            import { existsSync } from "node:fs";
            const file = ${JSON.stringify(file)};
            const post = () => new Request("http://fleet/api/Stats/Post", { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
            for (const forget of [
                async () => void fileStorage(file),
                async () => void (await (await Engine.open({ storage: fileStorage(file) })).fetch(post())),
            ]) {
                await forget();
                for (let turn = 0; turn < 500 && existsSync(file + ".lock"); turn++) { globalThis.gc(); await new Promise((resolve) => setTimeout(resolve, 10)); }
                await (await Engine.open({ storage: fileStorage(file) })).close();
            }
            process.stdout.write("opened again");`;
        assert.equal(await output(process.execPath, ["--expose-gc", "--input-type=module", "-e", script]), "opened again");
    });
});

test("engine_whose_lock_was_taken_refuses_writes", async () => {
    await inFolder(async (folder) => {
        const file = path.join(folder, "fleet.redb");
        for (const take of [() => fileStorage(file, { breakLock: true }), () => fs.rmSync(`${file}.lock`)]) {
            const engine = await Engine.open({ storage: fileStorage(file) });
            assert.equal(post(engine).status, 200);
            const taken = take();
            const before = fs.readFileSync(file);
            assert.equal(post(engine).status, 503);
            await assert.rejects(engine.putWorkspaces([{ workSpId: "ws-1" }]), { code: "StorageLocked" });
            await engine.close().catch((error) => assert.equal(error.code, "StorageLocked"));
            assert.deepEqual(fs.readFileSync(file), before, "nothing was written");
            taken?.close();
        }
        const again = await Engine.open({ storage: fileStorage(file) });
        assert.equal(await again.queueCount(), 2);
        await again.close();
        assert.deepEqual(fs.readdirSync(folder), ["fleet.redb"]);
    });
});

test("file_open_by_another_of_its_names_is_locked", async () => {
    await inFolder(async (folder) => {
        const file = path.join(folder, "fleet.redb");
        const link = path.join(folder, "link.redb");
        const engine = await Engine.open({ storage: fileStorage(file) });
        fs.linkSync(file, link);
        await assert.rejects(async () => fileStorage(link), { code: "StorageLocked" });
        if (process.platform === "linux") {
            const script = `import { fileStorage } from ${JSON.stringify(new URL("../pkg/node.js", import.meta.url).href)};
                try { fileStorage(${JSON.stringify(link)}); } catch (error) { process.stdout.write(error.code); }`;
            assert.equal(await output(process.execPath, ["--input-type=module", "-e", script]), "StorageLocked");
        }
        assert.equal(post(engine).status, 200);
        await engine.close();
        const other = await Engine.open({ storage: fileStorage(link) });
        assert.equal(await other.queueCount(), 1);
        await other.close();
        assert.deepEqual(fs.readdirSync(folder).sort(), ["fleet.redb", "link.redb"]);
    });
});

test("file_given_with_a_wrong_option_is_unlocked", async () => {
    await inFolder(async (folder) => {
        const file = path.join(folder, "fleet.redb");
        await assert.rejects(Engine.open({ storage: fileStorage(file), limits: { queueRecords: NaN } }), { code: "InvalidArgument" });
        await (await Engine.open({ storage: fileStorage(file) })).close();
    });
});

/** Runs `work` while a function of `node:fs` fails as the system would. */
async function failing(name, code, work) {
    const real = fs[name];
    fs[name] = (...parameters) => {
        // The files of the test itself are excepted.
        if (typeof parameters[0] === "string" && !parameters[0].includes("fleet.redb")) return real(...parameters);
        throw Object.assign(new Error(`${code}: simulated`), { code });
    };
    try {
        await work();
    } finally {
        fs[name] = real;
    }
}

test("system_error_on_open_has_a_code_and_leaves_no_lock", async () => {
    await inFolder(async (folder) => {
        const file = path.join(folder, "fleet.redb");
        const refused = async (asked, code, words) => {
            await assert.rejects(
                async () => fileStorage(asked),
                (error) => {
                    assert.ok(error instanceof DeskfleetError, error.stack);
                    assert.equal(error.code, code);
                    assert.match(error.message, words);
                    return true;
                },
            );
        };
        for (const name of ["openSync", "writeSync", "fsyncSync"]) {
            for (const [system, code, words] of [
                ["ENOSPC", "LowDisk", /no room/],
                ["EDQUOT", "LowDisk", /no room/],
                ["EROFS", "StorageUnavailable", /read-only/],
                ["EACCES", "StorageUnavailable", /may not write/],
                ["EIO", "StorageUnavailable", /cannot be opened/],
            ]) {
                await failing(name, system, () => refused(file, code, words));
                assert.deepEqual(fs.readdirSync(folder), [], `${name} ${system}`);
            }
        }
        await refused(path.join(folder, "n".repeat(240)), "InvalidArgument", /too long/);
        await refused(path.join(folder, "n".repeat(300)), "InvalidArgument", /too long/);
        await refused(`${file}\0`, "InvalidArgument", /not valid/);
        await refused(new URL("http://fleet/fleet.redb"), "InvalidArgument", /not valid/);
        assert.deepEqual(fs.readdirSync(folder), []);
        fs.symlinkSync(path.join(folder, "nowhere"), file);
        await refused(file, "StorageUnavailable", /symbolic link to .*nowhere, which does not exist/);
        assert.deepEqual(fs.readdirSync(folder), ["fleet.redb"]);
    });
});

test("lock_is_synced_before_it_has_its_name", async () => {
    await inFolder(async (folder) => {
        const { fsyncSync, linkSync } = fs;
        const seen = [];
        fs.fsyncSync = (handle) => (seen.push("sync"), fsyncSync(handle));
        fs.linkSync = (from, to) => (seen.push("link"), linkSync(from, to));
        try {
            const storage = fileStorage(path.join(folder, "fleet.redb"));
            assert.deepEqual(seen.slice(0, 2), ["sync", "link"]);
            storage.close();
        } finally {
            Object.assign(fs, { fsyncSync, linkSync });
        }
    });
});
