"use strict";
module.exports = require("./required.cjs")("./testing.js");
