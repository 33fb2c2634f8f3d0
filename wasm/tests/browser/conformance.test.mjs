// The conformance cases in a page: the bytes of the native engine in a browser.

import assert from "node:assert/strict";
import { assertSame } from "../conformance.mjs";
import { transcriptFile } from "../transcripts.mjs";
import { everyBrowserTest } from "./in-browsers.mjs";

everyBrowserTest(
    "the conformance cases in a page",
    async ({ start, origin, context }) => {
        const page = await (await start()).open(`${origin}/tests/browser/page.html`);
        const found = await page.evaluate(async () => {
            const { play } = await import("/tests/conformance.mjs");
            const { Engine, memoryStorage } = await import("/pkg/index.js");
            async function* lines() {
                const { body } = await fetch("/transcripts.ndjson");
                let rest = [];
                for await (const text of body.pipeThrough(new TextDecoderStream())) {
                    const pieces = text.split("\n");
                    rest.push(pieces.shift());
                    if (pieces.length === 0) continue;
                    yield rest.join("");
                    rest = [pieces.pop()];
                    yield* pieces;
                }
                yield rest.join("");
            }
            return play(lines(), (options) => Engine.open(options), memoryStorage);
        });
        assertSame(assert, context, found);
    },
    () => ({ "/transcripts.ndjson": transcriptFile() }),
);
