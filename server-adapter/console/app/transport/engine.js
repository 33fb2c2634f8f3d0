// A fleet in this browser: the WebAssembly engine in a worker, shared by all tabs, with its store in this origin's files.

const STORE = "console.redb";
const HOURS_12 = 12 * 3600 * 1000;
const MAINTAIN_EVERY_MS = 1000;

/** Only the worker of the package is ever started by a script's address. */
const policy = /** @type {any} */ (globalThis).trustedTypes?.createPolicy("deskfleet", { createScriptURL: (/** @type {string} */ url) => url });

/** @returns {Promise<import("./server.js").Transport>} */
export async function connect() {
    // The page is in `deskfleet/console/`.
    const root = new URL("../", document.baseURI);
    const { connect: open } = await import(new URL("opfs.js", root).href);
    const script = new URL("opfs-worker.js", root).href;
    const worker = () => new Worker(/** @type {any} */ (policy?.createScriptURL(script) ?? script), { type: "module" });
    const engine = await open({ name: STORE, worker });
    // The engine has no timer: without this no action would be reported as completed, and nothing would be filed or removed.
    setInterval(() => void engine.maintain().catch(() => {}), MAINTAIN_EVERY_MS);
    return {
        kind: "engine",
        place: "this browser",
        fetch: (path, init) => engine.fetch(new Request(new URL(path, location.origin), init)),
        async *events(after, _key, signal, opened) {
            const events = engine.events({ after })[Symbol.asyncIterator]();
            const stop = () => void events.return?.();
            signal.addEventListener("abort", stop);
            opened();
            try {
                for (;;) {
                    const { done, value } = await events.next();
                    if (done) return;
                    yield value;
                }
            } finally {
                signal.removeEventListener("abort", stop);
                stop();
            }
        },
        ownKey: () => {
            const now = Date.now();
            return engine.issueKey({ name: `console ${new Date(now).toISOString()}`, scopes: ["admin"], expires: new Date(now + HOURS_12).toISOString() });
        },
        wipe: () => engine.wipe(),
        file: () => engine.filePending(),
    };
}
