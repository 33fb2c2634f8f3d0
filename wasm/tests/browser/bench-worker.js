// The worker of `wasm/bench-browser.mjs`: makes one measurement. It is terminated, so that its store is never closed cleanly.

import { Engine } from "../../pkg/index.js";
import { indexedDbStorage } from "../../pkg/indexeddb.js";
import { opfsStorage } from "../../pkg/opfs.js";
import { recordOf, timed } from "./bench-records.js";

const BATCH_RECORDS = 5000;

/** Batches until the store has this size. */
async function fill(storage, { bytes, filed }) {
    const engine = await Engine.open({ storage, limits: { queueRecords: 10_000_000, queueHighWater: 9_000_000 } });
    const { key } = await engine.issueKey({ name: "bench", scopes: ["admin"] });
    const headers = { "content-type": "application/x-ndjson", "x-api-key": key };
    let records = 0;
    for (; storage.len() < bytes; records += BATCH_RECORDS) {
        const lines = Array.from({ length: BATCH_RECORDS }, (_, index) => `{"stats":${recordOf(records + index)}}`);
        const { status, body } = engine.handle("POST", "/operator/telemetry", headers, lines.join("\n"));
        if (status !== 200) throw new Error(`a batch was answered ${status}: ${new TextDecoder().decode(body)}`);
    }
    if (filed) await engine.filePending();
    await engine.settled();
    return { bytes: storage.len(), records };
}

/** Milliseconds until the first answer. */
async function open(storage) {
    // The module is compiled before.
    await (await Engine.open()).close();
    const began = performance.now();
    const engine = await Engine.open({ storage: storage() });
    await engine.queueCount();
    return performance.now() - began;
}

async function posts(storage, together) {
    return timed(await Engine.open({ storage }), together, recordOf);
}

const MEASUREMENTS = {
    posts: async ({ store, together }) => posts(opfsStorage(store), together),
    fill: async ({ store, ...how }) => fill(await opfsStorage(store), how),
    open: async ({ store }) => open(() => opfsStorage(store)),
    postsMirror: async ({ store, together }) => posts(indexedDbStorage(store), together),
    fillMirror: async ({ store, ...how }) => fill(await indexedDbStorage(store), how),
    openMirror: async ({ store }) => open(() => indexedDbStorage(store)),
};

onmessage = ({ data: { name, settings } }) => {
    MEASUREMENTS[name](settings).then(
        (answer) => postMessage({ answer }),
        (error) => postMessage({ failed: String(error.stack) }),
    );
};
