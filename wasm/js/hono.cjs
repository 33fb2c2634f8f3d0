"use strict";
module.exports = require("./required.cjs")("./hono.js");
