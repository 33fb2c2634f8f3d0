import { readFile } from "node:fs/promises";
import { defineEngine } from "./engine.js";

export const Engine = defineEngine(async () =>
    WebAssembly.compile(await readFile(new URL("./deskfleet.wasm", import.meta.url))),
);
export { DeskfleetError } from "./errors.js";
export { memoryStorage } from "./storage/memory.js";
