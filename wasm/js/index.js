import { defineEngine } from "./engine.js";
import { fetched, inlined } from "./loading.js";

export const Engine = defineEngine(async () => {
    const url = beside();
    if (url === undefined) return WebAssembly.compile(await inlined());
    const response = await fetched(url);
    // Streaming compilation needs the media type `application/wasm`, which not every server sends.
    if (response.headers.get("content-type") === "application/wasm") return WebAssembly.compileStreaming(response);
    return WebAssembly.compile(await response.arrayBuffer());
});

/** Where the module can be fetched; `undefined` in a bundle without `import.meta.url`, and from a file, which Node cannot fetch. */
function beside() {
    try {
        const url = new URL("./deskfleet.wasm", import.meta.url);
        return url.protocol === "file:" ? undefined : url;
    } catch {
        return undefined;
    }
}

export { DeskfleetError } from "./errors.js";
export { memoryStorage } from "./storage/memory.js";
