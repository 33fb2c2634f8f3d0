import type { Engine } from "./index.js";
import type { WebRequest, WebResponse } from "./web.js";

/** An engine, or a double. */
type Fetcher = Pick<Engine, "fetch">;

export interface MountOptions {
    /** The path below which the engine is mounted, such as `/fleet`; default none. */
    base?: string;
}

/** A resolver for a handler of your own: `http.all("https://fleet.example/api/*", resolver(engine))`. */
export function resolver(
    engine: Fetcher | Promise<Fetcher>,
    options?: MountOptions,
): (info: { request: WebRequest }) => Promise<WebResponse>;

/**
 * Handlers for every path of an engine: `setupServer(...handlers(engine, http))`.
 * @param http MSW's `http`; MSW is not imported here
 */
export function handlers<Handler>(
    engine: Fetcher | Promise<Fetcher>,
    http: { all(path: string, resolver: (info: { request: WebRequest }) => Promise<WebResponse>): Handler },
    options?: MountOptions & {
        /** Such as `https://fleet.example`; default any origin. */
        origin?: string;
    },
): Handler[];
