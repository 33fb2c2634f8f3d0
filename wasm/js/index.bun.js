import { readFile } from "node:fs/promises";
// The path of the file, which Bun includes in a bundle or an executable.
import file from "./deskfleet.wasm" with { type: "file" };
import { defineEngine } from "./engine.js";

export const Engine = defineEngine(async () => WebAssembly.compile(await readFile(new URL(file, import.meta.url))));
export { DeskfleetError } from "./errors.js";
export { memoryStorage } from "./storage/memory.js";
