/** All of `deskfleet`, with the module inside: for places that cannot fetch a `.wasm`. */
export * from "./index.js";
