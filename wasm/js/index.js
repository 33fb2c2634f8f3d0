import { defineEngine } from "./engine.js";
import { fetched } from "./loading.js";

export const Engine = defineEngine(async () => {
    const response = await fetched(new URL("./deskfleet.wasm", import.meta.url));
    // Streaming compilation needs the media type `application/wasm`, which not every server sends.
    if (response.headers.get("content-type") === "application/wasm") return WebAssembly.compileStreaming(response);
    return WebAssembly.compile(await response.arrayBuffer());
});
export { DeskfleetError } from "./errors.js";
export { memoryStorage } from "./storage/memory.js";
