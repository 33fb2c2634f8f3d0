// The console in the package: the files that the server sends, but for where the fleet is.

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { installed } from "./packed.mjs";

const SOURCE = fileURLToPath(new URL("../../server-adapter/console", import.meta.url));
const CHANGED = ["index.html", path.join("app", "host.js")];

const files = (folder) => readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .sort();

test("package_has_the_console_of_the_server_over_an_engine", () => {
    const folder = path.join(installed(), "node_modules/deskfleet");
    const console = path.join(folder, "console");
    const expected = files(SOURCE).filter((file) => file === "index.html" || file.startsWith(`app${path.sep}`));
    assert.ok(CHANGED.every((file) => expected.includes(file)));
    assert.deepEqual(files(console), expected);
    for (const file of expected) {
        const source = readFileSync(path.join(SOURCE, file), "latin1");
        const changed = CHANGED.includes(file) ? source.replace("/transport/server.js", "/transport/engine.js") : source;
        assert.equal(readFileSync(path.join(console, file), "latin1"), changed, file);
    }
    const host = readFileSync(path.join(console, "app/host.js"), "utf8");
    assert.match(host, /^export \{ connect \} from "\.\/transport\/engine\.js";$/m);
    // What the engine's transport loads lies in the root of the package.
    assert.ok(existsSync(path.join(console, "app/transport", "../../../opfs.js")));
    const { exports } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
    assert.equal(exports["./console/*"], "./console/*");
});
