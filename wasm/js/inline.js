import { defineEngine } from "./engine.js";
import base64 from "./module.js";

export const Engine = defineEngine(() => {
    const binary = atob(base64);
    const bytes = new Uint8Array(binary.length);
    for (let at = 0; at < bytes.length; at++) bytes[at] = binary.charCodeAt(at);
    return WebAssembly.compile(bytes);
});
export { DeskfleetError } from "./errors.js";
export { memoryStorage } from "./storage/memory.js";
