import { basePath, rebased } from "./rebase.js";

/**
 * A handler for Hono, which is not imported.
 * @param {import("./index.js").Engine | Promise<import("./index.js").Engine>} engine
 * @param {{ base?: string }} [options]
 */
export function mount(engine, options) {
    const base = basePath(options);
    return async (context) => (await engine).fetch(rebased(context.req.raw, base));
}
