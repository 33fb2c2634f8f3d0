"use strict";
module.exports = require("./required.cjs")("./msw.js");
