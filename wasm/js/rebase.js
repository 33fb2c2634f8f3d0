import { invalidArgument, kindOf } from "./errors.js";

/** The path below which an engine is mounted, without a trailing slash. @param {{ base?: string }} [options] */
export function basePath({ base = "" } = {}) {
    if (typeof base !== "string" || (base !== "" && !base.startsWith("/"))) {
        throw invalidArgument(`options.base must be a path that begins with a slash, not ${typeof base === "string" ? base : kindOf(base)}`);
    }
    return base.replace(/\/+$/, "");
}

/**
 * A request as the engine must see it: without the path of the mount.
 * @param {Request} request
 * @param {string} base from {@link basePath}
 */
export function rebased(request, base) {
    if (base === "") return request;
    const url = new URL(request.url);
    if (url.pathname !== base && !url.pathname.startsWith(`${base}/`)) return request;
    const path = url.pathname.slice(base.length) || "/";
    return {
        method: request.method,
        url: `${url.origin}${path}${url.search}`,
        headers: request.headers,
        body: request.body,
        signal: request.signal,
        get bodyUsed() {
            return request.bodyUsed;
        },
        arrayBuffer: () => request.arrayBuffer(),
    };
}
