import type { Engine } from "./index.js";
import type { WebRequest, WebResponse } from "./web.js";

/** An engine, or a double. */
type Fetcher = Pick<Engine, "fetch">;

/**
 * A handler for Hono: `app.all("/api/*", mount(engine))`. Needs no import of Hono.
 * @param options.base the path below which the engine is mounted: `app.all("/fleet/*", mount(engine, { base: "/fleet"
 * }))`
 */
export function mount(
    engine: Fetcher | Promise<Fetcher>,
    options?: { base?: string },
): (context: { req: { raw: WebRequest } }) => Promise<WebResponse>;
