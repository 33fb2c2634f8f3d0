import { defineEngine } from "./engine.js";
import { decoded } from "./loading.js";
import base64 from "./module.js";

export const Engine = defineEngine(() => WebAssembly.compile(decoded(base64)));
export { DeskfleetError } from "./errors.js";
export { memoryStorage } from "./storage/memory.js";
