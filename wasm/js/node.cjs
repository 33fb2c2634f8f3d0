"use strict";
module.exports = require("./required.cjs")("./node.js");
