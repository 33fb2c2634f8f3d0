// The Durable Object of the example, with the test endpoints of `object.worker.js`.

import { cpSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { installed } from "./packed.mjs";
import { runtime, tool } from "./runtimes.mjs";
import { bundle } from "./workerd.mjs";

/** A folder to serve, bundled; `undefined` when a tool is missing. @param {import("node:test").TestContext} context */
export async function objectFolder(context) {
    const workerd = runtime("workerd", context);
    if (!workerd || !tool("esbuild", context)) return undefined;
    const folder = installed({ example: "durable-object" });
    for (const name of ["object.worker.js", "conformance.mjs", "storage-model.mjs"]) {
        cpSync(fileURLToPath(new URL(name, import.meta.url)), path.join(folder, name));
    }
    await bundle(folder, "object.worker.js");
    const config = path.join(folder, "workerd.capnp");
    const doors = readFileSync(config, "utf8")
        .replace("dist/worker.js", "dist/object.worker.js")
        .replace("bindings = [", 'bindings = [(name = "STORE", durableObjectNamespace = "Store"), ')
        .replace("durableObjectNamespaces = [", 'durableObjectNamespaces = [(className = "Store", uniqueKey = "store", enableSql = true), ');
    writeFileSync(config, doors);
    return { workerd, folder };
}
