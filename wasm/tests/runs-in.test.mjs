// The set-ups of users that this suite can make quickly, each from the installed package. The page "Runs in" of the README lists all.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { emptyFolder, installed } from "./packed.mjs";
import { output, start } from "./processes.mjs";
import { tool } from "./runtimes.mjs";

const MODULES = fileURLToPath(new URL("./node_modules", import.meta.url));

/** A program that commits over a file, in the given way of loading. */
const program = (load) => `
    ${load}
    (async () => {
        const engine = await Engine.open({ storage: fileStorage("fleet.redb") });
        const headers = { "content-type": "application/json" };
        const { status } = await engine.fetch("/api/Stats/Post", { method: "POST", headers, body: "{}" });
        console.log(status, engine.storageKind);
        await engine.close();
    })();`;
const REQUIRED = program('const { Engine } = require("deskfleet"); const { fileStorage } = require("deskfleet/node");');
const IMPORTED = program('import { Engine } from "deskfleet"; import { fileStorage } from "deskfleet/node";');

test("required_package_commits_and_shares_its_classes_with_the_imported_one", async () => {
    const cwd = installed({ files: { "main.cjs": REQUIRED, "same.cjs": 'import("deskfleet").then((m) => console.log(m.Engine === require("deskfleet").Engine, !!require("deskfleet/msw").handlers, !!require("deskfleet/hono").mount, !!require("deskfleet/testing").Double));' } });
    assert.equal(await output(process.execPath, ["--no-warnings", "main.cjs"], { cwd }), "200 file\n");
    assert.equal(await output(process.execPath, ["--no-warnings", "same.cjs"], { cwd }), "true true true true\n");
});

test("esbuild_bundle_for_node_commits_wherever_it_is_moved", async (context) => {
    if (!tool("esbuild", context)) return;
    const cwd = installed({ files: { "main.mjs": IMPORTED } });
    for (const format of ["cjs", "esm"]) {
        const elsewhere = emptyFolder();
        const file = path.join(elsewhere, format === "cjs" ? "out.cjs" : "out.mjs");
        const flags = ["--bundle", "--platform=node", `--format=${format}`, `--outfile=${file}`, "--log-level=error"];
        await output(path.join(MODULES, "esbuild/bin/esbuild"), ["main.mjs", ...flags], { cwd });
        assert.equal(await output(process.execPath, [file], { cwd: elsewhere }), "200 file\n", format);
    }
});

test("webpack_bundle_for_node_commits", async (context) => {
    if (!tool("webpack", context)) return;
    const folder = installed({ files: { "main.mjs": IMPORTED } });
    const { default: webpack } = await import("webpack");
    // As Next.js sets it; not minified, which takes a minute.
    const built = { path: path.join(folder, "dist"), filename: "out.cjs", publicPath: "/_next/" };
    const stats = await new Promise((resolve, reject) => {
        webpack({ context: folder, mode: "none", target: "node", entry: "./main.mjs", output: built }, (error, done) => (error ? reject(error) : resolve(done)));
    });
    assert.equal(stats.hasErrors(), false, stats.toString());
    assert.equal(await output(process.execPath, ["dist/out.cjs"], { cwd: folder }), "200 file\n");
});

/** A suite of a test runner: commits to a file and with fake timers, and the double. `timers` is the runner's own object for fake timers. */
const suite = (load, timers) => `${load}
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ instanceId: "ws-1" }) };
    test("commits_to_a_file", async () => {
        const engine = await Engine.open({ storage: fileStorage(Math.random() + ".redb"), clock: () => Date.now() });
        expect((await engine.fetch("/api/Stats/Post", init)).status).toBe(200);
        expect(engine.handle("POST", "/api/Stats/Post", init.headers, new Uint8Array([123, 125])).status).toBe(200);
        await engine.issueKey({ name: "desk", scopes: ["read"], expires: new Date(Date.now() + 1e6) });
        await engine.close();
    });
    test("commits_with_fake_timers", async () => {
        ${timers}.useFakeTimers();
        const engine = await Engine.open();
        expect((await engine.fetch("/api/Stats/Post", init)).status).toBe(200);
        await engine.close();
        ${timers}.useRealTimers();
    });
    test("double_refuses_by_its_rule", async () => {
        const double = await Double.open({ clock: new Date("2026-11-20T08:00:00Z") });
        await double.engine.putWorkspaces(fleet(1));
        double.fail({ operation: "postStats", code: "LowDisk", times: 1 });
        expect((await double.fetch("/api/Stats/Post", init)).status).toBe(503);
        expect((await double.fetch("/api/Stats/Post", init)).status).toBe(200);
        double.journal.assertCount("postStats", 2);
        expect(() => double.journal.assertCount("postStats", 1)).toThrow(/postStats/);
        await double.close();
    });`;
const IMPORTS = 'import { Engine } from "deskfleet"; import { fileStorage } from "deskfleet/node"; import { Double, fleet } from "deskfleet/testing";';
const REQUIRES = 'const { Engine } = require("deskfleet"); const { fileStorage } = require("deskfleet/node"); const { Double, fleet } = require("deskfleet/testing");';

/** Runs the suites in a folder with the package and a runner; each must pass all its tests. */
async function passes(files, beside, program, options) {
    const cwd = installed({ files: { "package.json": "{}", ...files }, beside });
    const { code, out, err } = await start(process.execPath, program, { cwd, ...options }).ended;
    assert.equal(code, 0, out + err);
    const tests = 3 * Object.keys(files).length;
    assert.match(out + err, new RegExp(`Tests:? +${tests} passed`));
}

test("jest_suites_in_node_and_jsdom_commit", async (context) => {
    if (!["jest", "jest-environment-jsdom"].every((name) => tool(name, context))) return;
    const run = [path.join(MODULES, "jest/bin/jest.js"), "--runInBand", "--cacheDirectory=cache"];
    const required = suite(REQUIRES, "jest");
    const files = { "node.test.js": required, "jsdom.test.js": `/** @jest-environment jsdom */ ${required}` };
    await passes(files, ["jest-environment-jsdom"], run);
    const imported = suite(`import { jest } from "@jest/globals"; ${IMPORTS}`, "jest");
    await passes({ "node.test.mjs": imported }, [], ["--experimental-vm-modules", ...run, "--transform={}", "--testMatch=**/*.mjs"]);
});

test("vitest_suites_in_node_and_jsdom_commit", async (context) => {
    if (!["vitest", "jsdom"].every((name) => tool(name, context))) return;
    const imported = suite(`import { expect, test, vi } from "vitest"; ${IMPORTS}`, "vi");
    const files = { "node.test.js": imported, "jsdom.test.js": `// @vitest-environment jsdom\n${imported}` };
    await passes(files, ["vitest"], [path.join(MODULES, "vitest/vitest.mjs"), "run"]);
});

test("browser_entry_in_node_takes_the_inlined_module", async () => {
    const cwd = installed();
    const script = 'import { Engine } from "./node_modules/deskfleet/index.js"; const engine = await Engine.open(); console.log(await engine.queueCount()); await engine.close();';
    assert.equal(await output(process.execPath, ["--input-type=module", "--eval", script], { cwd }), "0\n");
});

test("package_contains_its_licences_and_the_changelog", () => {
    const files = readdirSync(path.join(installed(), "node_modules/deskfleet"));
    for (const name of ["LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY-LICENSES", "CHANGELOG.md"]) assert.ok(files.includes(name), name);
});

test("third_party_licenses_name_the_crates_that_the_lock_has_for_the_module", async () => {
    const cwd = fileURLToPath(new URL("..", import.meta.url));
    const tree = ["tree", "--locked", "--target=wasm32-unknown-unknown", "--edges=normal,no-proc-macro", "--prefix=none", "--format={p}: {l}"];
    const lines = (await output(process.env.CARGO ?? "cargo", tree, { cwd })).split("\n");
    const crates = lines.flatMap((line) => /^(\S+) v(\S+): (.*?)(?: \(\*\))?$/.exec(line)?.slice(1).join(" ") ?? []);
    const listed = readFileSync(path.join(cwd, "pkg/THIRD-PARTY-LICENSES"), "utf8");
    const named = [...listed.matchAll(/^- (\S+ \S+): (.*)$/gm)].map(([, crate, licence]) => `${crate} ${licence}`);
    assert.deepEqual(named, [...new Set(crates)].sort());
    const holders = new Set([...listed.matchAll(/^-{80}\n(.*)\n-{80}$/gm)].flatMap(([, names]) => names.split(", ")));
    assert.deepEqual([...holders].sort(), [...listed.matchAll(/^- (\S+ \S+):/gm)].map(([, crate]) => crate));
});
