// Which page is shown: the fragment of the address, such as `#/desktops?state=STOPPED` or `#/desktop/ws-1`.
//
// The time range and the scope stay when another page is opened. Back undoes a filter, and shows a page where it had been scrolled to.

import { signal } from "./vendor/preact.js";

/** @typedef {{ page: string, id: string | undefined, query: Record<string, string> }} Route */

/** The part of the fleet that pages are about. */
export const SCOPE = /** @type {const} */ (["region", "directoryId", "computeTypeName"]);
/** Members of the query that all pages share. */
const SHARED = ["from", "to", ...SCOPE];
/** For links whose number is of the whole fleet: an empty member is not taken over from the page before. @type {Record<string, null>} */
export const WHOLE_FLEET = Object.fromEntries(SCOPE.map((name) => [name, null]));

/** Entries of the history by number, with what was scrolled where. @type {Map<number, Record<string, number>>} */
const scrolled = new Map();
const SCROLLED_MAX = 200;
let entries = Date.now();
let entry = history.state?.entry ?? mark();
history.scrollRestoration = "manual";

export const route = signal(read());

addEventListener("hashchange", () => {
    entry = history.state?.entry ?? mark();
    typed = "";
    route.value = read();
});

/** Links whose address was completed, with the one that was written. @type {WeakMap<Element, { written: string, whole: string }>} */
const completed = new WeakMap();

/** A link is completed when it is used, and not when it is drawn: rows are not drawn anew for a change of the range. @param {Event} event */
function complete({ target }) {
    const link = target instanceof Element ? target.closest("a[href^='#/']") : null;
    if (link === null) return;
    const shown = /** @type {string} */ (link.getAttribute("href"));
    const before = completed.get(link);
    const written = before?.whole === shown ? before.written : shown;
    const whole = withShared(written);
    completed.set(link, { written, whole });
    link.setAttribute("href", whole);
}
for (const type of ["click", "auxclick", "contextmenu"]) addEventListener(type, complete, true);

/** Numbers the shown entry of the history. */
function mark() {
    const number = ++entries;
    history.replaceState({ entry: number }, "");
    return number;
}

/** @param {string} [address] @returns {Route} */
function read(address = location.hash) {
    const [path, query = ""] = address.replace(/^#\/?/, "").split(/\?(.*)/s);
    const [page = "", id] = path.split("/").map(decoded);
    return { page: page || "overview", id, query: Object.fromEntries(new URLSearchParams(query)) };
}

/** The address of a page with the range and the scope of the shown one, where it has none of its own. @param {string} address */
function withShared(address) {
    const { page, id, query } = read(address);
    const shown = route.value.query;
    const taken = SHARED.filter((name) => !(name in query) && !(name === "to" && "from" in query)).map((name) => [name, shown[name]]);
    return href(page, id, { ...query, ...Object.fromEntries(taken) });
}

/** @param {string} text */
function decoded(text) {
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}

/** @typedef {Record<string, string | number | null | undefined>} Query a member that is null stands in the address without a value */

/** The address of a page. @param {string} page @param {string} [id] @param {Query} [query] */
export function href(page, id, query = {}) {
    const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
    const search = new URLSearchParams(given.map(([name, value]) => [name, String(value ?? "")])).toString();
    return `#/${page}${id === undefined ? "" : `/${encodeURIComponent(id)}`}${search === "" ? "" : `?${search}`}`;
}

/** Shows a page. @type {(...place: Parameters<typeof href>) => void} */
export const go = (...place) => follow(href(...place));

/** Follows an address as a click on its link does. @param {string} address */
export function follow(address) {
    location.hash = withShared(address);
}

/** The member of the query that is being typed: all of a word is one entry of the history. */
let typed = "";

/** Changes the query of the shown page, as a new entry of the history. @param {Record<string, string | undefined>} changes @param {string} [typing] the member that a person types */
export function setQuery(changes, typing = "") {
    const { page, id, query } = route.value;
    const address = href(page, id, { ...query, ...changes });
    if (address === location.hash) return;
    if (typing !== "" && typing === typed) history.replaceState(history.state, "", address);
    else {
        entry = ++entries;
        history.pushState({ entry }, "", address);
    }
    typed = typing;
    route.value = read();
}

/** Keeps for Back how far something is scrolled. @param {string} what @param {number} top */
export function keepScroll(what, top) {
    const kept = scrolled.get(entry) ?? {};
    scrolled.delete(entry);
    scrolled.set(entry, { ...kept, [what]: top });
    for (const oldest of scrolled.keys()) if (scrolled.size > SCROLLED_MAX) scrolled.delete(oldest);
}

/** How far something was scrolled in the shown entry. @param {string} what */
export const keptScroll = (what) => scrolled.get(entry)?.[what] ?? 0;
