"use strict";
// For `require`. The loader of Node takes the modules of this package; that of jest cannot, and these files run in jest's own realm.
const modules = require("node:vm").runInThisContext("process").getBuiltinModule("node:module");
module.exports = modules.createRequire(__filename);
