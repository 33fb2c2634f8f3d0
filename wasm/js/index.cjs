"use strict";
module.exports = require("./required.cjs")("./index.node.js");
