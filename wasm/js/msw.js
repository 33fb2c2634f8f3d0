import { basePath, rebased } from "./rebase.js";

/** The paths of an engine: the interface, the operator surface and the questions. */
const PATHS = ["/api/*", "/operator/*", "/query/*"];

/**
 * @param {import("./index.js").Engine | Promise<import("./index.js").Engine>} engine
 * @param {{ base?: string }} [options]
 */
export function resolver(engine, options) {
    const base = basePath(options);
    return async ({ request }) => (await engine).fetch(rebased(request, base));
}

/**
 * @param {import("./index.js").Engine | Promise<import("./index.js").Engine>} engine
 * @param {{ all(path: string, resolver: (info: { request: Request }) => Promise<Response>): any }} http
 * @param {{ origin?: string, base?: string }} [options]
 */
export function handlers(engine, http, options = {}) {
    const answer = resolver(engine, options);
    const { origin = "*" } = options;
    return PATHS.map((path) => http.all(`${origin}${basePath(options)}${path}`, answer));
}
