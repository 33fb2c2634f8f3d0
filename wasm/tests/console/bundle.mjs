// Makes `server-adapter/console/dist`, which the server and the npm package have, from the files of the console: few files, minified, with a
// hash of the content in their names.
//
// `node wasm/tests/console/bundle.mjs` writes it anew; a test holds that it is what this makes.

import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { CONSOLE } from "./serve.mjs";
import { compiled } from "./templates.mjs";
import { VENDORED, vendored } from "./vendor.mjs";

export const DIST = path.join(CONSOLE, "dist");

/** The names of the pages that load one of these modules: a transport with everything that the first page needs. */
const PAGES = { "index.html": "server", "engine.html": "engine" };

/** The first 8 hexadecimal digits of a hash, which make a name that browsers may keep for ever. @param {string} text */
const hash = (text) => createHash("sha256").update(text).digest("hex").slice(0, 8);

/** The files by their paths in the folder. @returns {Promise<Map<string, string>>} */
export async function bundled() {
    const { output } = await scripts();
    const page = readFileSync(path.join(CONSOLE, "index.html"), "utf8");
    const css = await styles([...page.matchAll(/rel="stylesheet" href="([^"]+)"/g)].map(([, file]) => file));
    const style = `app/style-${hash(css)}.css`;
    const files = new Map([["app/icon.svg", readFileSync(path.join(CONSOLE, "app/icon.svg"), "utf8")], [style, css]]);
    for (const { fileName, code } of output) files.set(fileName, code);
    for (const [name, entry] of Object.entries(PAGES)) files.set(name, pageOf(page, style, loadedFor(output.find((chunk) => chunk.isEntry && chunk.name === entry).fileName, output)));
    return files;
}

/** Templates as calls: less to send, and nothing to parse in the browser. */
const TEMPLATES = {
    name: "templates",
    load: (/** @type {string} */ file) => (file === VENDORED ? vendored("h") : null),
    transform: (/** @type {string} */ code, /** @type {string} */ file) => (file === VENDORED ? null : compiled(code)),
};

/** The modules, bundled. */
async function scripts() {
    const input = Object.fromEntries(Object.values(PAGES).map((entry) => [entry, path.join(CONSOLE, `app/${entry}.js`)]));
    const bundle = await rolldown({ input, preserveEntrySignatures: "strict", platform: "browser", plugins: [TEMPLATES] });
    const { output } = await bundle.generate({
        dir: DIST,
        format: "esm",
        minify: true,
        comments: { annotation: false, jsdoc: false, legal: true },
        hashCharacters: "hex",
        entryFileNames: "app/[name]-[hash:8].js",
        chunkFileNames: "app/[name]-[hash:8].js",
        codeSplitting: {
            groups: [
                { name: "console", test: /\/app\/(main|pages\/overview)\.js$/, priority: 9 },
                // What the first page does not need is one file, which is smaller than some: it is loaded when the browser is idle, or when a page of it is opened.
                { name: "more", test: /\/app\/(?!server|engine|transport)/, priority: 8 },
            ],
        },
    });
    await bundle.close();
    return { output: output.sort((one, other) => (one.fileName < other.fileName ? -1 : 1)) };
}

/** The styles in the order of the page, as one file. @param {string[]} files */
async function styles(files) {
    const contents = files.map((file) => `@import "./${file}";`).join("\n");
    const { outputFiles } = await build({ stdin: { contents, loader: "css", resolveDir: CONSOLE }, bundle: true, minify: true, write: false, target: "es2022" });
    return outputFiles[0].text;
}

/** A file, and after it all that it imports. @param {string} file @param {import("rolldown").OutputChunk[]} output */
function loadedFor(file, output) {
    const loaded = new Set([file]);
    for (const name of loaded) for (const other of output.find(({ fileName }) => fileName === name).imports) loaded.add(other);
    return [...loaded];
}

/** The page with the files of the bundle. @param {string} page @param {string} style @param {string[]} files */
function pageOf(page, style, [entry, ...imported]) {
    const links = [`<link rel="stylesheet" href="${style}" />`, ...imported.map((file) => `<link rel="modulepreload" href="${file}" />`)];
    const tags = [...links, `<script type="module" src="${entry}"></script>`].map((tag) => `        ${tag}`);
    const others = page.split("\n").filter((line) => !line.includes('rel="stylesheet"'));
    return others.flatMap((line) => (line.includes("<script ") ? tags : [line])).join("\n");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    rmSync(DIST, { recursive: true, force: true });
    for (const [name, text] of await bundled()) {
        mkdirSync(path.dirname(path.join(DIST, name)), { recursive: true });
        writeFileSync(path.join(DIST, name), text);
    }
}
