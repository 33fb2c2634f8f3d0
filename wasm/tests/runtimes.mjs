// The programs that the tests start. Most are npm packages with a package per platform for their binaries; they are
// taken from there, or from the place of their install scripts, which may be disabled.
//
// `node wasm/tests/runtimes.mjs [name …]` fails if one of these programs, or of those named, is missing, and prints how to install it.

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const MODULES = fileURLToPath(new URL("./node_modules", import.meta.url));

/** `debian` is the name of a package of Debian's; without one, `npm ci` installs it. */
const RUNTIMES = {
    deno: { places: () => [...binaries("@deno", /^/, "deno"), linked("deno")] },
    bun: { places: () => [...binaries("@oven", /^bun-/, "bin/bun"), linked("bun")] },
    workerd: { places: () => [...binaries("@cloudflare", /^workerd-/, "bin/workerd"), linked("workerd")] },
    chromium: {
        places: () => [process.env.DESKFLEET_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].filter(Boolean),
        debian: "chromium",
    },
    firefox: {
        places: () => [process.env.DESKFLEET_FIREFOX, "/usr/bin/firefox-esr", "/usr/bin/firefox"].filter(Boolean),
        debian: "firefox-esr",
    },
};

/** @type {Map<string, string | undefined>} */
const found = new Map();

/** The path of a runtime, or `undefined`. @param {keyof typeof RUNTIMES} name @returns {string | undefined} */
export function find(name) {
    if (!found.has(name)) found.set(name, RUNTIMES[name].places().find(runs));
    return found.get(name);
}

/**
 * The path of a runtime. If it is missing, skips the test and returns `undefined`.
 * @param {keyof typeof RUNTIMES} name
 * @param {import("node:test").TestContext} context
 * @returns {string | undefined}
 */
export function runtime(name, context) {
    const binary = find(name);
    if (binary === undefined) context.skip(`${name} is not installed`);
    return binary;
}

/** The folder of a package of `package.json`. @param {string} name @param {import("node:test").TestContext} context */
export function tool(name, context) {
    const folder = path.join(MODULES, name);
    if (existsSync(folder)) return folder;
    context.skip(`${name} is not installed`);
    return undefined;
}

/**
 * One command that installs runtimes and tools, to be run in the root of the repository.
 * @param {string[]} names
 */
export function installCommand(names) {
    const packages = names.map((name) => RUNTIMES[name]?.debian);
    const debian = packages.filter((name) => name !== undefined);
    const sudo = process.getuid?.() === 0 ? "" : "sudo ";
    const commands = [];
    if (debian.length < names.length) commands.push("npm ci --ignore-scripts --prefix wasm/tests");
    if (debian.length > 0) commands.push(`${sudo}apt-get update`, `${sudo}apt-get install --yes --no-install-recommends ${debian.join(" ")}`);
    return commands.join(" && ");
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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(RUNTIMES);
    const missing = names.filter((name) => find(name) === undefined);
    if (missing.length > 0) {
        console.error(`Not installed: ${missing.join(", ")}. Install with: ${installCommand(missing)}`);
        process.exitCode = 1;
    }
}
