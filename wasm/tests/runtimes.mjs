// The programs that the tests start. They are npm packages whose binaries lie in packages for one platform each; they are taken
// from there, since the scripts that would put them elsewhere at installation may be blocked.

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const MODULES = fileURLToPath(new URL("./node_modules", import.meta.url));

const RUNTIMES = {
    deno: () => binaries("@deno", /^/, "deno"),
    bun: () => binaries("@oven", /^bun-/, "bin/bun"),
    workerd: () => binaries("@cloudflare", /^workerd-/, "bin/workerd"),
    chromium: () => [process.env.DESKFLEET_CHROMIUM, "/usr/bin/chromium", "/usr/bin/google-chrome"].filter(Boolean),
};

/** Whether every runtime must be there, as in CI. */
const ALL_REQUIRED = process.env.DESKFLEET_REQUIRE_RUNTIMES === "1";

/**
 * Where a runtime is. Where it is missing, the test is skipped, or fails if all are required.
 * @param {keyof typeof RUNTIMES} name
 * @param {import("node:test").TestContext} context
 * @returns {string | undefined}
 */
export function runtime(name, context) {
    const found = RUNTIMES[name]().find(runs);
    if (found === undefined) missing(`${name} is not installed`, context);
    return found;
}

/** Whether the packages of `package.json` are installed. @param {string} name @param {import("node:test").TestContext} context */
export function tool(name, context) {
    const folder = path.join(MODULES, name);
    if (existsSync(folder)) return folder;
    missing(`${name} is not installed`, context);
    return undefined;
}

function missing(what, context) {
    const how = `${what}; run npm ci in wasm/tests`;
    if (ALL_REQUIRED) throw new Error(how);
    context.skip(how);
}

function binaries(scope, name, binary) {
    const folder = path.join(MODULES, scope);
    if (!existsSync(folder)) return [];
    return readdirSync(folder)
        .filter((entry) => name.test(entry))
        .map((entry) => path.join(folder, entry, binary));
}

/** A package for a similar platform, with another libc for one, may be there too. */
function runs(binary) {
    try {
        execFileSync(binary, ["--version"], { stdio: "ignore" });
        return true;
    } catch {
        return false;
    }
}
