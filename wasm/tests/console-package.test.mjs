// The console in the package: the bundle that the server sends, with the page over an engine.

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { installed } from "./packed.mjs";

const BUNDLE = fileURLToPath(new URL("../../server-adapter/console/dist", import.meta.url));

test("package_has_the_console_of_the_server_over_an_engine", () => {
    const folder = path.join(installed(), "node_modules/deskfleet");
    const console = path.join(folder, "console");
    const files = readdirSync(path.join(BUNDLE, "app"));
    assert.deepEqual(readdirSync(path.join(console, "app")), files);
    const same = (file, source = file) => assert.ok(readFileSync(path.join(console, file)).equals(readFileSync(path.join(BUNDLE, source))), file);
    for (const file of files) same(`app/${file}`);
    same("index.html", "engine.html");
    assert.match(readFileSync(path.join(console, "index.html"), "utf8"), /<script type="module" src="app\/engine-[0-9a-f]{8}\.js"><\/script>/);
    // What the engine's transport loads lies in the folder around the page.
    assert.ok(existsSync(path.join(folder, "opfs.js")));
    const { exports } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
    assert.equal(exports["./console/*"], "./console/*");
});
