// Who is signed in: a key that lives 12 hours at most, kept for this tab.

import { ApiError, host, request, send, useKey } from "./api.js";
import { signal } from "./vendor/preact.js";

const PLACE = "deskfleet.session";
const HOURS_12 = 12 * 3600 * 1000;

/**
 * @typedef {{ key: string, id: number, name: string, scopes: string[], expires: string | null, own: boolean }} Session
 * `own`: the console had the key issued, and revokes it at sign-out
 */

/** @type {import("./vendor/preact.js").Signal<Session | null>} */
export const session = signal(null);
/** Why nobody is signed in, for the page that asks for a key. */
export const signInNote = signal("");

/** Whether the key has a scope; `admin` includes `read` and `act`. @param {string} scope */
export function may(scope) {
    const scopes = session.value?.scopes ?? [];
    return scopes.includes(scope) || (scopes.includes("admin") && scope !== "ingest");
}

/** Signs in with the code of the address, the key of this tab, or the engine's own key. */
export async function start() {
    const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
    // The code must not stay in the address or the history.
    if (code !== undefined) location.replace("#/overview");
    try {
        if (code !== undefined) return await adopt(await exchange(code), true);
        const stored = sessionStorage.getItem(PLACE);
        const kept = stored === null ? null : JSON.parse(stored);
        if (kept !== null && (await accepted(kept.key, kept.own))) return;
        const issued = await host().ownKey?.();
        if (issued !== undefined) await adopt(issued.key, true);
    } catch (error) {
        signInNote.value = error instanceof ApiError ? `${error.message} ${error.advice}` : String(error);
    }
}

/** @param {string} code @returns {Promise<string>} */
async function exchange(code) {
    try {
        const response = await request("POST", "/console/session", { json: { code }, key: "" });
        return (await response.json()).key;
    } catch (error) {
        if (error instanceof ApiError && error.status === 401) throw new ApiError(401, "Code", "The link was used already, or is older than 30 minutes. Sign in with a key, or start the server again in a terminal for another link.");
        throw error;
    }
}

/** Whether a key is still accepted; then it is the session's. @param {string} key @param {boolean} own */
async function accepted(key, own) {
    try {
        await adopt(key, own);
        return true;
    } catch (error) {
        if (error instanceof ApiError && error.status === 401) return false;
        throw error;
    }
}

/** @param {string} key @param {boolean} own */
async function adopt(key, own) {
    const response = await request("GET", "/query/key", { key });
    const { id, name, scopes, expires } = await response.json();
    const signedIn = { key, id, name, scopes, expires, own };
    useKey(key);
    sessionStorage.setItem(PLACE, JSON.stringify(signedIn));
    signInNote.value = "";
    session.value = signedIn;
}

/**
 * Signs in with a key that a person has. One that may issue keys is exchanged for a key of 12 hours, so that it is not kept.
 * @param {string} key
 * @param {string} person
 */
export async function signIn(key, person) {
    const response = await request("GET", "/query/key", { key });
    const { scopes } = await response.json();
    if (!scopes.includes("admin")) return adopt(key, false);
    const now = Date.now();
    const name = `console ${new Date(now).toISOString()}${person === "" ? "" : ` ${person}`}`.slice(0, 256);
    const issued = await request("POST", "/operator/keys", { key, json: { name, scopes: ["admin"], expires: new Date(now + HOURS_12).toISOString() } });
    return adopt((await issued.json()).key, true);
}

/** Ends the session; a key of its own is revoked. */
export async function signOut() {
    const ended = session.value;
    sessionStorage.removeItem(PLACE);
    session.value = null;
    signInNote.value = "You are signed out.";
    // The last admin key is refused here, and expires by itself.
    if (ended?.own) await send("DELETE", `/operator/keys/${ended.id}`).catch(() => {});
    useKey("");
}

/** The key was refused: it was revoked, or has expired. */
export function refused() {
    if (session.value === null) return;
    sessionStorage.removeItem(PLACE);
    session.value = null;
    useKey("");
    signInNote.value = "The key was revoked or has expired. Sign in again.";
}
