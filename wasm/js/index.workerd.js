import module from "./deskfleet.wasm";
import { defineEngine } from "./engine.js";

// Workers compile a module when they are deployed, never from bytes.
export const Engine = defineEngine(() => module);
export { DeskfleetError } from "./errors.js";
export { memoryStorage } from "./storage/memory.js";
