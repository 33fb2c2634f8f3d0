// The console over the server that sends it.

import { run } from "./main.js";
import { connect } from "./transport/server.js";

export { request } from "./api.js";

run(connect);
