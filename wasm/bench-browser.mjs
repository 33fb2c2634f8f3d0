// Prints the package's figures in Chromium: `node wasm/bench-browser.mjs`, after `cargo wasm` and `npm ci` in
// wasm/tests.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Browser, serve } from "./tests/browser/chromium.mjs";

const PAGE = "/tests/browser/page.html";

function figure(name, value, bound) {
    console.log(`${name.padEnd(84)} ${String(value).padStart(9)}   ${bound}`);
}

const profile = mkdtempSync(path.join(tmpdir(), "deskfleet-bench-"));
const server = await serve();
const browser = await Browser.start(profile);
try {
    const devtools = await browser.devtools();
    const { product } = await devtools.send("Browser.getVersion");
    console.log(product);
    const page = await browser.open(server.origin + PAGE);
    page.setDefaultTimeout(0);
    const measured = (name, settings) =>
        page.evaluate(
            ([name, settings]) =>
                new Promise((done, failed) => {
                    const worker = new Worker(`/tests/browser/bench-worker.js`, { type: "module" });
                    worker.onmessage = ({ data }) => (worker.terminate(), data.failed ? failed(new Error(data.failed)) : done(data.answer));
                    worker.onerror = (event) => failed(new Error(event.message));
                    worker.postMessage({ name, settings });
                }),
            [name, settings],
        );
    for (const together of [1, 100, 1000, 5000]) {
        const { rate, best } = await measured("posts", { together, store: `posts-${together}.redb` });
        const bound = together >= 1000 ? "at least 20 000" : "";
        figure(`OPFS, in its worker, ${together} posts a turn, durable records/s`, rate, `${bound}${together > 1 ? ` (best second ${best})` : ""}`);
    }
    for (const together of [1000]) {
        const rate = await page.evaluate(async (together) => {
            const { recordOf, timed } = await import("/tests/browser/bench-records.js");
            const engine = await connect({ name: "page.redb" });
            const found = await timed(engine, together, recordOf);
            await engine.close();
            return found.rate;
        }, together);
        figure(`OPFS, from the page by connect, ${together} posts a turn, durable records/s`, rate, "");
    }
    const megabytes = (bytes) => Math.round(bytes / 1024 / 1024);
    for (const filed of [true, false]) {
        const content = filed ? "filed" : "all in the queue";
        for (const [name, fill, open] of [["OPFS", "fill", "open"], ["IndexedDB", "fillMirror", "openMirror"]]) {
            // The worker is terminated while it has the store open.
            const { bytes, records } = await measured(fill, { store: `large-${filed}`, bytes: 40 * 1024 * 1024, filed });
            const took = await measured(open, { store: `large-${filed}` });
            figure(`${name}, open an unclean store of ${megabytes(bytes)} MiB, ${records} records ${content}, ms`, took.toFixed(1), "under 300");
        }
    }
    const { rate } = await measured("postsMirror", { together: 1000, store: "posts" });
    figure("IndexedDB, 1000 posts a turn, durable records/s", rate, "");
} finally {
    await browser.kill();
    server.stop();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
