// Which page is shown: the fragment of the address, such as `#/desktops?state=STOPPED` or `#/desktop/ws-1`.

import { signal } from "./vendor/preact.js";

/** @typedef {{ page: string, id: string | undefined, query: Record<string, string> }} Route */

export const route = signal(read());

addEventListener("hashchange", () => {
    route.value = read();
});

/** @returns {Route} */
function read() {
    const [path, query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
    const [page = "", id] = path.split("/").map(decoded);
    return { page: page || "overview", id, query: Object.fromEntries(new URLSearchParams(query)) };
}

/** @param {string} text */
function decoded(text) {
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}

/** The address of a page. @param {string} page @param {string} [id] @param {Record<string, string | number | undefined>} [query] */
export function href(page, id, query = {}) {
    const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
    const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
    return `#/${page}${id === undefined ? "" : `/${encodeURIComponent(id)}`}${search === "" ? "" : `?${search}`}`;
}

/** Shows a page. @type {(...place: Parameters<typeof href>) => void} */
export function go(...place) {
    location.hash = href(...place);
}

/** Changes the query of the shown page without a new entry in the history. @param {Record<string, string | undefined>} changes */
export function setQuery(changes) {
    const { page, id, query } = route.value;
    history.replaceState(history.state, "", href(page, id, { ...query, ...changes }));
    route.value = read();
}
