// The conformance cases on the other runtimes, through the installed package: the bytes of the native engine on each.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { assertSame } from "./conformance.mjs";
import { objectFolder } from "./object-folder.mjs";
import { installed } from "./packed.mjs";
import { output } from "./processes.mjs";
import { runtime } from "./runtimes.mjs";
import { transcriptFile, transcripts } from "./transcripts.mjs";
import { serve } from "./workerd.mjs";

const PLAYER = `
    import { createReadStream } from "node:fs";
    import { createInterface } from "node:readline";
    import process from "node:process";
    import { Engine, memoryStorage } from "deskfleet";
    import { play } from "./conformance.mjs";
    const lines = createInterface({ input: createReadStream(process.argv[2]) });
    console.log(JSON.stringify(await play(lines, (options) => Engine.open(options), memoryStorage)));
`;
/** The transcripts of one request, in bytes. */
const REQUEST_CHARACTERS = 4_000_000;

for (const [name, parameters] of [
    ["deno", ["run", "--allow-read", "player.mjs"]],
    ["bun", ["player.mjs"]],
]) {
    test(`the conformance cases in ${name}`, async (context) => {
        const binary = runtime(name, context);
        if (!binary) return;
        const files = { "player.mjs": PLAYER, "conformance.mjs": readFileSync(new URL("./conformance.mjs", import.meta.url), "utf8") };
        assertSame(assert, context, JSON.parse(await output(binary, [...parameters, transcriptFile()], { cwd: installed({ files }) })));
    });
}

for (const storage of ["memory", "durable"]) {
    test(`the conformance cases in a Durable Object, storage ${storage}`, async (context) => {
        const made = await objectFolder(context);
        if (!made) return;
        const server = await serve(made.workerd, made.folder);
        const found = { cases: 0, answers: 0, differences: [] };
        const play = async (lines) => {
            const url = `${server.url}/store/play?name=${found.cases}${storage === "durable" ? "&durable" : ""}`;
            const response = await fetch(url, { method: "POST", body: lines });
            assert.equal(response.status, 200, await response.clone().text());
            const { cases, answers, differences } = await response.json();
            found.cases += cases;
            found.answers += answers;
            found.differences.push(...differences);
        };
        let lines = "";
        for await (const line of transcripts()) {
            lines += `${line}\n`;
            if (lines.length < REQUEST_CHARACTERS) continue;
            await play(lines);
            lines = "";
        }
        await play(lines);
        await server.kill();
        assertSame(assert, context, found);
    });
}
