// The console over the engine in this browser: the page of the npm package loads this module instead of `server.js`.

import { run } from "./main.js";
import { connect } from "./transport/engine.js";

export { request } from "./api.js";

run(connect);
