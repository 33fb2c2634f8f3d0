import { connectThrough } from "./browser/client.js";

export { opfsStorage } from "./storage/opfs.js";

/** See `opfs.d.ts`. @param {object} [options] */
export function connect(options) {
    // Bundlers look for exactly this expression.
    return connectThrough(() => new Worker(new URL("./opfs-worker.js", import.meta.url), { type: "module" }), options);
}
