// Work that takes a while and goes on while other pages are shown.

import { ApiError, host, request } from "../api.js";
import { count } from "../format.js";
import { notify } from "../shell/notices.js";
import { html, signal } from "../vendor/preact.js";

const TRIES = 8;
const WAIT_MAX_MS = 5000;

/** @typedef {{ what: string, done: number, of: number, note: string }} Progress */

/** What runs now; one thing at a time, since each reads or writes the whole fleet. @type {import("../vendor/preact.js").Signal<Progress | undefined>} */
export const running = signal(undefined);
/** @type {AbortController | undefined} */
let controller;

/** @param {BeforeUnloadEvent} event */
const warn = (event) => event.preventDefault();

/**
 * Does something, and says how it ended. `step` shows how far it is.
 * @param {string} what
 * @param {(step: (done: number, of: number, note?: string) => void, signal: AbortSignal) => Promise<string | [string, "bad"]>} work resolves with what was done, in words, as `bad` where something was left out
 * @param {string} [left] what is left where it was not done to the end
 * @returns {Promise<boolean>} whether it was
 */
export async function run(what, work, left = "") {
    if (running.value !== undefined) return false;
    controller = new AbortController();
    const { signal } = controller;
    running.value = { what, done: 0, of: 1, note: "" };
    addEventListener("beforeunload", warn);
    try {
        const done = await work((done, of, note = "") => {
            running.value = { what, done, of, note };
        }, signal);
        if (typeof done === "string") notify(done);
        else notify(...done);
        return true;
    } catch (error) {
        const { note } = running.value;
        const said = signal.aborted ? "stopped" : error instanceof ApiError ? `${error.message} ${error.advice}` : String(error instanceof Error ? error.message : error);
        const more = [note, left].filter((text) => text !== "").join("; ");
        notify(`${what}: ${said}${more && ` (${more})`}`, "bad");
        return false;
    } finally {
        removeEventListener("beforeunload", warn);
        running.value = undefined;
    }
}

/** How far the running work is, with a button to stop it. */
export function Running() {
    if (running.value === undefined) return null;
    const { what, done, of, note } = running.value;
    return html`<section class="panel running" aria-label="Running">
        <label>${what} <progress max=${of} value=${of > 0 ? done : undefined}></progress></label>
        <div class="row">
            <span class="note">${of > 0 ? `${count((100 * done) / of)} %` : ""} ${note}</span>
            <button type="button" onClick=${() => controller?.abort()}>Stop</button>
        </div>
    </section>`;
}

/**
 * Sends lines, again where the server is busy: what arrives twice changes nothing.
 * @param {string} path
 * @param {string[]} lines
 * @param {AbortSignal} signal
 * @param {Record<string, boolean>} [query]
 */
export async function sendLines(path, lines, signal, query) {
    for (let attempt = 1; ; attempt++) {
        try {
            const body = lines.join("\n");
            return await (await request("POST", path, { query, body, type: "application/x-ndjson", signal })).json();
        } catch (error) {
            signal.throwIfAborted();
            if (!(error instanceof ApiError) || ![0, 429, 503].includes(error.status) || attempt === TRIES) throw error;
            if (error.code === "QueueFull") await host().file?.();
            await new Promise((done) => setTimeout(done, Math.min(250 * 2 ** attempt, WAIT_MAX_MS)));
            signal.throwIfAborted();
        }
    }
}
