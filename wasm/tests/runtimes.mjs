// The programs that the tests start. Most are npm packages with a package per platform for their binaries; they are
// taken from there, or from the place of their install scripts, which may be disabled.

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const MODULES = fileURLToPath(new URL("./node_modules", import.meta.url));
const NPM_CI = "run npm ci in wasm/tests";

const RUNTIMES = {
    deno: { places: () => [...binaries("@deno", /^/, "deno"), linked("deno")], how: NPM_CI },
    bun: { places: () => [...binaries("@oven", /^bun-/, "bin/bun"), linked("bun")], how: NPM_CI },
    workerd: { places: () => [...binaries("@cloudflare", /^workerd-/, "bin/workerd"), linked("workerd")], how: NPM_CI },
    chromium: {
        places: () => [process.env.DESKFLEET_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].filter(Boolean),
        how: "install Chromium (on Debian: apt-get install chromium), or name another browser of its kind in DESKFLEET_CHROMIUM",
    },
    firefox: {
        places: () => [process.env.DESKFLEET_FIREFOX, "/usr/bin/firefox-esr", "/usr/bin/firefox"].filter(Boolean),
        how: "install Firefox (on Debian: apt-get install firefox-esr), or name one in DESKFLEET_FIREFOX",
    },
};

/** Whether every runtime must be installed, as in CI. */
const ALL_REQUIRED = process.env.DESKFLEET_REQUIRE_RUNTIMES === "1";

/** @type {Map<string, string | undefined>} */
const found = new Map();

/** The path of a runtime. @param {keyof typeof RUNTIMES} name @returns {string | undefined} */
export function find(name) {
    if (!found.has(name)) found.set(name, RUNTIMES[name].places().find(runs));
    return found.get(name);
}

/**
 * The path of a runtime. If it is missing, the test is skipped, or fails if all are required.
 * @param {keyof typeof RUNTIMES} name
 * @param {import("node:test").TestContext} context
 * @returns {string | undefined}
 */
export function runtime(name, context) {
    const binary = find(name);
    if (binary === undefined) missing(`${name} is not there; ${RUNTIMES[name].how}`, context);
    return binary;
}

/** Whether the packages of `package.json` are installed. @param {string} name @param {import("node:test").TestContext} context */
export function tool(name, context) {
    const folder = path.join(MODULES, name);
    if (existsSync(folder)) return folder;
    missing(`${name} is not there; ${NPM_CI}`, context);
    return undefined;
}

function missing(what, context) {
    if (ALL_REQUIRED) throw new Error(what);
    context.skip(what);
}

function binaries(scope, name, binary) {
    const folder = path.join(MODULES, scope);
    if (!existsSync(folder)) return [];
    return readdirSync(folder)
        .filter((entry) => name.test(entry))
        .map((entry) => path.join(folder, entry, binary));
}

function linked(name) {
    return path.join(MODULES, ".bin", name);
}

/** A package for a similar platform, such as another libc, may be installed too. */
function runs(binary) {
    try {
        execFileSync(binary, ["--version"], { stdio: "ignore", timeout: 60_000 });
        return true;
    } catch {
        return false;
    }
}
