import { defineEngine } from "./engine.js";

export const Engine = defineEngine(async () => {
    const response = await fetch(new URL("./deskfleet.wasm", import.meta.url));
    if (!response.ok) throw new Error(`deskfleet.wasm cannot be fetched: status ${response.status}`);
    // Streaming needs the media type that not every server gives.
    if (response.headers.get("content-type") === "application/wasm") return WebAssembly.compileStreaming(response);
    return WebAssembly.compile(await response.arrayBuffer());
});
export { DeskfleetError } from "./errors.js";
export { memoryStorage } from "./storage/memory.js";
