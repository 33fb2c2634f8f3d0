// The set-ups of users that this suite can make quickly, each from the installed package. The page "Runs in" of the README lists all.

import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { emptyFolder, installed } from "./packed.mjs";
import { output } from "./processes.mjs";
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
    const cwd = installed({ files: { "main.cjs": REQUIRED, "same.cjs": 'import("deskfleet").then((m) => console.log(m.Engine === require("deskfleet").Engine, !!require("deskfleet/msw").handlers));' } });
    assert.equal(await output(process.execPath, ["--no-warnings", "main.cjs"], { cwd }), "200 file\n");
    assert.equal(await output(process.execPath, ["--no-warnings", "same.cjs"], { cwd }), "true true\n");
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

test("browser_entry_in_node_takes_the_inlined_module", async () => {
    const cwd = installed();
    const script = 'import { Engine } from "./node_modules/deskfleet/index.js"; const engine = await Engine.open(); console.log(await engine.queueCount()); await engine.close();';
    assert.equal(await output(process.execPath, ["--input-type=module", "--eval", script], { cwd }), "0\n");
});

test("package_contains_its_licences_and_the_changelog", async () => {
    const cwd = path.join(installed(), "node_modules/deskfleet");
    const script = 'const fs = require("fs"); console.log(["LICENSE-APACHE", "LICENSE-MIT", "CHANGELOG.md"].every((name) => fs.existsSync(name)));';
    assert.equal(await output(process.execPath, ["--eval", script], { cwd }), "true\n");
});
