// Workers, bundled and served by workerd as a child process.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { freePort, output, answers, start } from "./processes.mjs";

const ESBUILD = new URL("./node_modules/esbuild/bin/esbuild", import.meta.url).pathname;

/** Bundles a Worker as Cloudflare's tools do: with its own conditions, a `.wasm` as a module. */
export async function bundle(folder, entry = "worker.js") {
    const flags = ["--bundle", "--format=esm", "--conditions=workerd,worker,browser", "--loader:.wasm=copy", "--asset-names=[name]"];
    await output(ESBUILD, [entry, ...flags, "--external:cloudflare:*", "--outdir=dist", "--log-level=error"], { cwd: folder });
}

/** Serves the folder's `workerd.capnp`; returns once it responds at `ready`. */
export async function serve(workerd, folder, ready = "/api/Stats/Test") {
    const port = await freePort();
    const config = path.join(folder, "workerd.capnp");
    writeFileSync(config, readFileSync(config, "utf8").replace(/127\.0\.0\.1:\d+/, `127.0.0.1:${port}`));
    mkdirSync(path.join(folder, "data"), { recursive: true });
    const server = start(workerd, ["serve", config], { cwd: folder });
    const url = `http://127.0.0.1:${port}`;
    await server.until(() => answers(url + ready));
    return { ...server, url };
}
