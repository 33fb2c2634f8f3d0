// The package as users have it: packed, and installed into an empty folder.

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { after } from "node:test";

const WASM = fileURLToPath(new URL("..", import.meta.url));
const made = [];
let tarball;

after(() => {
    for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** An empty folder, removed after the tests of this file. */
export function emptyFolder() {
    const folder = mkdtempSync(path.join(tmpdir(), "deskfleet-"));
    made.push(folder);
    return folder;
}

/** The package in one file, made once. */
export function packed() {
    if (tarball === undefined) {
        const folder = emptyFolder();
        const [{ filename }] = JSON.parse(npm(["pack", "--json", "--pack-destination", folder], path.join(WASM, "pkg")));
        tarball = path.join(folder, filename);
    }
    return tarball;
}

/**
 * A folder with the package installed, and only these files.
 * @param {{ example?: string, files?: Record<string, string>, beside?: string[] }} [content] the name of an example, more
 * files, and packages of the tests that the example needs
 */
export function installed({ example, files = {}, beside = [] } = {}) {
    const folder = emptyFolder();
    npm(["install", "--offline", "--no-audit", "--no-fund", "--no-package-lock", packed()], folder);
    if (example) cpSync(path.join(WASM, "examples", example), folder, { recursive: true });
    for (const [name, text] of Object.entries(files)) {
        mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
        writeFileSync(path.join(folder, name), text);
    }
    for (const name of beside) {
        const link = path.join(folder, "node_modules", name);
        mkdirSync(path.dirname(link), { recursive: true });
        symlinkSync(path.join(WASM, "tests/node_modules", name), link);
    }
    return folder;
}

function npm(parameters, cwd) {
    return execFileSync("npm", parameters, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
