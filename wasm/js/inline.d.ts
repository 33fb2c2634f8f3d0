/** All of `deskfleet`, with the module inlined: for environments that cannot fetch a `.wasm`. */
export * from "./index.js";
