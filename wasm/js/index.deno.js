import { defineEngine } from "./engine.js";
import { fetched } from "./loading.js";

// Deno fetches from `file:` and `https:` alike.
export const Engine = defineEngine(async () => {
    const response = await fetched(new URL("./deskfleet.wasm", import.meta.url));
    return WebAssembly.compile(await response.arrayBuffer());
});
export { DeskfleetError } from "./errors.js";
export { memoryStorage } from "./storage/memory.js";
