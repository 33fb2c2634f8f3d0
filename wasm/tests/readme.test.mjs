// The README is checked: blocks that name a file equal that file, the others run, and every subpath and code is listed.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { installed } from "./packed.mjs";
import { output } from "./processes.mjs";

const read = (name) => readFileSync(new URL(`../${name}`, import.meta.url), "utf8");
const readme = read("README.md");
const blocks = [...readme.matchAll(/^```(\w+)(?: (\S+))?\n(.*?)^```$/gms)].map(([, language, name, text]) => ({ language, name, text }));

test("readme_blocks_equal_their_examples", () => {
    const named = blocks.filter(({ name }) => name);
    assert.ok(named.length >= 10);
    for (const { name, text } of named) assert.equal(text, read(name), name);
});

test("readme_blocks_without_a_file_run", async () => {
    const unnamed = blocks.filter(({ name, language }) => !name && language === "js");
    assert.ok(unnamed.length >= 2);
    const cwd = installed();
    for (const { text } of unnamed) await output(process.execPath, ["--input-type=module", "--eval", text], { cwd });
});

test("readme_names_every_subpath_and_code", () => {
    const subpaths = Object.keys(JSON.parse(read("package.json")).exports).map((path) => path.replace(/^\./, "deskfleet"));
    const consumer = read("tests/consumer.ts");
    const isForTools = (path) => path.endsWith("package.json");
    for (const subpath of subpaths.filter((path) => !isForTools(path))) {
        // Files for a static server, which no program imports.
        if (subpath === "deskfleet/console/*") {
            assert.ok(readme.includes("deskfleet/console/"));
            continue;
        }
        assert.ok(consumer.includes(`"${subpath}"`), `consumer.ts imports ${subpath}`);
        // Started by `connect`; documented only where a bundler cannot find it.
        if (subpath !== "deskfleet/opfs-worker") assert.ok(readme.includes(subpath), `README.md names ${subpath}`);
    }
    const declared = read("js/index.d.ts");
    const own = declared.slice(declared.indexOf('| "InvalidArgument"'), declared.indexOf("export class DeskfleetError"));
    const errors = readme.slice(readme.indexOf("## Errors"));
    for (const [, code] of own.matchAll(/\| "(\w+)"/g)) assert.ok(errors.includes(`\`${code}\``), `README.md explains ${code}`);
});
