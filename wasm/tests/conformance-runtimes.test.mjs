// The conformance cases on the other runtimes, through the installed package: the bytes of the native engine on each.

import assert from "node:assert/strict";
import { createReadStream, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { objectFolder } from "./object-folder.mjs";
import { installed } from "./packed.mjs";
import { output } from "./processes.mjs";
import { runtime } from "./runtimes.mjs";
import { transcriptFile } from "./transcripts.mjs";
import { serve } from "./workerd.mjs";

const PLAYER = `
    import { readFileSync } from "node:fs";
    import process from "node:process";
    import { Engine, memoryStorage } from "deskfleet";
    import { play } from "./conformance.mjs";
    const transcripts = readFileSync(process.argv[2], "utf8");
    console.log(JSON.stringify(await play(transcripts, (options) => Engine.open(options), memoryStorage)));
`;
/** How much of the transcripts one request carries. */
const REQUEST_CHARACTERS = 4_000_000;

function assertSame(context, { cases, answers, differences }) {
    context.diagnostic(`${cases} cases with ${answers} answers were compared`);
    assert.equal(differences.length, 0, `${differences.length} answers differ, the first:\n${differences.slice(0, 5).join("\n")}`);
    assert.ok(cases >= 300 && answers >= 3000, `only ${cases} cases with ${answers} answers were compared`);
}

for (const [name, parameters] of [
    ["deno", ["run", "--allow-read", "player.mjs"]],
    ["bun", ["player.mjs"]],
]) {
    test(`the conformance cases in ${name}`, async (context) => {
        const binary = runtime(name, context);
        if (!binary) return;
        const files = { "player.mjs": PLAYER, "conformance.mjs": readFileSync(new URL("./conformance.mjs", import.meta.url), "utf8") };
        assertSame(context, JSON.parse(await output(binary, [...parameters, transcriptFile()], { cwd: installed({ files }) })));
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
        for await (const line of createInterface({ input: createReadStream(transcriptFile()) })) {
            lines += `${line}\n`;
            if (lines.length < REQUEST_CHARACTERS) continue;
            await play(lines);
            lines = "";
        }
        await play(lines);
        await server.kill();
        assertSame(context, found);
    });
}
