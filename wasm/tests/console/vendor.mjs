// Makes `server-adapter/console/app/vendor/preact.js`, the one file of the console that others wrote, from the exact versions in
// `wasm/tests/package.json`.
//
// `node wasm/tests/console/vendor.mjs` writes it anew; a test holds that it is what this makes.

import { build } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const TESTS = fileURLToPath(new URL("..", import.meta.url));
export const VENDORED = fileURLToPath(new URL("../../../server-adapter/console/app/vendor/preact.js", import.meta.url));

/** What the console uses; the types are in `preact.d.ts` beside the file. */
const ENTRY = `
export { render } from "preact";
export { useEffect, useLayoutEffect, useMemo, useRef, useState, useCallback, useId, useErrorBoundary } from "preact/hooks";
export { signal, effect } from "@preact/signals";
`;
/** What turns templates into elements: in a browser, or when the bundle is made. */
const TEMPLATES = { html: `export { html } from "htm/preact";`, h: `export { h } from "preact";` };
const MAKERS = { preact: "Jason Miller", "@preact/signals": "Preact Team", htm: "Google LLC" };

/** The line that names the parts, with versions and licences. @param {boolean} parsed */
function head(parsed) {
    const parts = Object.entries(MAKERS).filter(([name]) => parsed || name !== "htm").map(([name, maker]) => {
        const { version, license } = JSON.parse(readFileSync(path.join(TESTS, "node_modules", name, "package.json"), "utf8"));
        return `${name} ${version} (${license}, ${maker})`;
    });
    return `/*! ${parts.join(", ")}. Made by wasm/tests/console/vendor.mjs. */`;
}

/** The text of the file: with `html`, or with `h` for templates that are compiled. @param {"html" | "h"} [templates] @returns {Promise<string>} */
export async function vendored(templates = "html") {
    const { outputFiles } = await build({
        stdin: { contents: ENTRY + TEMPLATES[templates], resolveDir: TESTS },
        bundle: true,
        minify: true,
        format: "esm",
        legalComments: "none",
        banner: { js: head(templates === "html") },
        write: false,
    });
    return outputFiles[0].text;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(VENDORED, await vendored());
