import { readFile } from "node:fs/promises";
import { defineEngine } from "./engine.js";
import { inlined } from "./loading.js";

export const Engine = defineEngine(async () => WebAssembly.compile(await bytes()));

/** The module beside this script, or the inlined one: bundles for servers move scripts, and some have no `import.meta.url`. */
async function bytes() {
    try {
        return await readFile(new URL("./deskfleet.wasm", import.meta.url));
    } catch {
        return inlined();
    }
}

export { DeskfleetError } from "./errors.js";
export { memoryStorage } from "./storage/memory.js";
