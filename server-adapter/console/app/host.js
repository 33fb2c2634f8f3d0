// Where the fleet is. `cargo wasm` writes this file anew for the npm package, where the engine runs in the browser.
export { connect } from "./transport/server.js";
