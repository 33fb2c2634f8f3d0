// Prints what the package gives in Chromium: `node wasm/bench-browser.mjs`, after `cargo wasm` and `npm ci` in wasm/tests.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Browser, serve } from "./tests/browser/chromium.mjs";

const PAGE = "/tests/browser/page.html";

function figure(name, value, bound) {
    console.log(`${name.padEnd(66)} ${String(value).padStart(9)}   ${bound}`);
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
    const { bytes } = await measured("fill", { store: "large.redb", bytes: 40 * 1024 * 1024 });
    // The worker was terminated with the store open.
    for (const time of ["first", "second"]) {
        const { open, read } = await measured("open", { store: "large.redb" });
        figure(`OPFS, open an unclean store of ${Math.round(bytes / 1024 / 1024)} MiB, ${time} time, ms`, open.toFixed(1), `under 300 (first read after it ${read.toFixed(1)})`);
    }
    const mirror = await measured("fillMirror", { store: "mirror", bytes: 40 * 1024 * 1024 });
    const { open } = await measured("openMirror", { store: "mirror" });
    figure(`IndexedDB, open an unclean store of ${Math.round(mirror.bytes / 1024 / 1024)} MiB, ms`, open.toFixed(1), "under 300");
    const { rate } = await measured("postsMirror", { together: 1000, store: "posts" });
    figure("IndexedDB, 1000 posts a turn, durable records/s", rate, "");
} finally {
    await browser.kill();
    server.stop();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
