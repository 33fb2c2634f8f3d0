// Who is signed in: a key that lives 12 hours at most, kept for this tab and those that are opened beside it.

import { ApiError, host, request, useKey } from "./api.js";
import { browserName, sessionName } from "./parts/sessions.js";
import { TASKS } from "./parts/tasks.js";
import { requester } from "./preferences.js";
import { signal } from "./vendor/preact.js";

/** Of the fleet at this address: another path may be another fleet. */
const PLACE = `deskfleet.session ${new URL(".", document.baseURI).pathname}`;
const HOURS_12 = 12 * 3600 * 1000;

/**
 * @typedef {{ key: string, id: number, name: string, scopes: string[], actions: string[] | null, expires: string | null, own: boolean }} Session
 * `own`: the console had the key issued, and revokes it at sign-out
 */

/** @type {import("./vendor/preact.js").Signal<Session | null>} */
export const session = signal(null);
/** Why nobody is signed in, for the page that asks for a key: a problem, unless a person signed out. */
export const signInNote = signal({ text: "", problem: true });
const note = (/** @type {string} */ text, problem = true) => void (signInNote.value = { text, problem });

/** Whether the key has one of the scopes; `admin` includes `read`, `act` and `audit`. @param {string} any separated by spaces */
export function may(any) {
    const scopes = session.value?.scopes ?? [];
    return any.split(" ").some((scope) => scopes.includes(scope) || (scopes.includes("admin") && scope !== "ingest"));
}

/** Whether the key may start an action. @param {string} action */
export function mayStart(action) {
    const limits = session.value?.actions ?? null;
    return may("act") && (limits === null || limits.includes(action));
}

/** Signs in with the code of the address, the key of this tab, or the engine's own key. */
export async function start() {
    const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
    // The code must not stay in the address or the history.
    if (code !== undefined) location.replace("#/overview");
    try {
        if (code !== undefined && (await signedInBy(code))) return;
        const stored = sessionStorage.getItem(PLACE);
        const kept = stored === null ? null : JSON.parse(stored);
        if (kept !== null && (await accepted(kept.key, kept.own))) return;
        const lent = await borrowed();
        if (lent !== undefined && (await accepted(lent.key, lent.own))) return;
        const issued = await host().ownKey?.();
        if (issued !== undefined) await adopt(issued.key, true);
    } catch (error) {
        note(error instanceof ApiError ? `${error.message} ${error.advice}` : String(error));
    }
}

/** How long a new tab waits for a session of another. */
const LENT_MS = 150;
/** Tabs of this fleet lend their session to one that is opened beside them. */
const lending = new BroadcastChannel(PLACE);
lending.addEventListener("message", ({ data }) => {
    if (data === null && session.value !== null) lending.postMessage(session.value);
    if (data?.ended !== undefined && data.ended === session.value?.id) end("You signed out in another tab.", false);
});

/** The session of another tab, if there is one. @returns {Promise<Session | undefined>} */
async function borrowed() {
    return new Promise((done) => {
        lending.addEventListener("message", ({ data }) => data?.key !== undefined && done(data));
        lending.postMessage(null);
        setTimeout(() => done(undefined), LENT_MS);
    });
}

/** Exchanges the code of a link for a key. One that is not accepted leaves a session of this tab as it is. @param {string} code */
async function signedInBy(code) {
    try {
        const response = await request("POST", "/console/session", { json: { code, who: [requester.value, browserName(navigator.userAgent)].filter(Boolean).join(", ") }, key: "" });
        await adopt((await response.json()).key, true);
        return true;
    } catch (error) {
        if (!(error instanceof ApiError && error.status === 401)) throw error;
        note("The link was used already, or is older than 30 minutes. Sign in with a key, or start the server again in a terminal for another link.");
        return false;
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
    const { id, name, scopes, actions, expires } = await response.json();
    const signedIn = { key, id, name, scopes, actions, expires, own };
    useKey(key);
    sessionStorage.setItem(PLACE, JSON.stringify(signedIn));
    note("");
    session.value = signedIn;
}

/**
 * Signs in with a key that a person has. One that may issue keys is exchanged for a key of 12 hours at most, so that it is not kept.
 * @param {string} key
 * @param {string} person
 * @param {string} [task] one of `TASKS`, whose rights the session has; without it those of the key
 */
export async function signIn(key, person, task = "") {
    const response = await request("GET", "/query/key", { key });
    const { scopes, expires } = await response.json();
    if (!scopes.includes("admin")) return adopt(key, false);
    const now = Date.now();
    const { scopes: rights, actions, perHour } = TASKS[task] ?? { scopes: ["admin"] };
    const issued = await request("POST", "/operator/keys", {
        key,
        json: {
            name: sessionName(person, browserName(navigator.userAgent), new Date(now)),
            scopes: rights,
            ...(actions === undefined ? {} : { actions }),
            ...(perHour === undefined ? {} : { destructivePerHour: perHour }),
            expires: new Date(Math.min(now + HOURS_12, Date.parse(expires ?? "") || Infinity)).toISOString(),
        },
    });
    return adopt((await issued.json()).key, true);
}

/** Ends the session of this tab. @param {string} text @param {boolean} problem */
function end(text, problem) {
    sessionStorage.removeItem(PLACE);
    session.value = null;
    useKey("");
    note(text, problem);
}

/** Ends the session in all tabs; a key of its own is revoked. */
export async function signOut() {
    const ended = session.value;
    const revokes = ended?.own && may("admin");
    end("You are signed out.", false);
    if (ended === null) return;
    lending.postMessage({ ended: ended.id });
    // Only an admin key revokes keys.
    if (ended.own && !revokes) note(`You are signed out. The key of the session is not kept anywhere, and expires at ${ended.expires}.`, false);
    if (!revokes) return;
    try {
        await request("DELETE", `/operator/keys/${ended.id}`, { key: ended.key });
    } catch (error) {
        // As the last admin key, or without a connection. One that is refused has been revoked.
        if (!(error instanceof ApiError && error.status === 401)) note(`You are signed out here. The key ${ended.name} could not be revoked: ${error instanceof Error ? error.message : error} It expires at ${ended.expires}.`);
    }
}

/** The key was refused: it was revoked, or has expired. */
export function refused() {
    if (session.value !== null) end("The session has ended: its key was revoked or has expired. Sign in again.", true);
}
