// What happens in the fleet, as it happens. One tab of the browser reads the events and shares them, since browsers open only six
// connections of HTTP/1.1 to one place.

import { eventsAfter, get } from "./api.js";
import { may, session } from "./session.js";
import { effect, signal } from "./vendor/preact.js";

/** @typedef {import("./transport/server.js").FleetEvent} FleetEvent */

/** The fleet of this address: another path may be another fleet. */
const NAME = `deskfleet.events ${new URL(".", document.baseURI).pathname}`;
const POLL_MS = 2000;
const RETRY_MIN_MS = 500;
const RETRY_MAX_MS = 15_000;

/** `connecting`, `live`, or `lost` while there is no stream of events. */
export const live = signal("connecting");

/** @type {Set<(event: FleetEvent) => void>} */
const listeners = new Set();

/**
 * Calls a function with each event, and with `resync` where events may be missing: then everything must be read again.
 * @param {(event: FleetEvent) => void} listener
 * @returns {() => void} stops it
 */
export function onEvent(listener) {
    listeners.add(listener);
    return () => void listeners.delete(listener);
}

/** The number of the last event, or the position before the first. @type {number | undefined} */
let last;

/** @param {FleetEvent} event */
function deliver(event) {
    last = event.id;
    for (const listener of listeners) listener(event);
}

/** Follows the events for as long as somebody is signed in. */
export function follow() {
    /** @type {AbortController | undefined} */
    let following;
    effect(() => {
        following?.abort();
        following = undefined;
        if (session.value === null || !may("read")) return;
        following = new AbortController();
        void share(following.signal);
    });
}

/** @param {AbortSignal} signal */
async function share(signal) {
    const channel = new BroadcastChannel(NAME);
    let leads = false;
    channel.onmessage = ({ data }) => {
        if (data.ask) {
            if (leads) channel.postMessage({ state: live.value, last });
        } else if (data.event) deliver(data.event);
        else if (data.state) {
            live.value = data.state;
            // Where this tab goes on if it leads before the next event.
            last ??= data.last;
        }
    };
    signal.addEventListener("abort", () => channel.close());
    channel.postMessage({ ask: true });
    const leading = async () => {
        leads = true;
        await lead(signal, channel);
    };
    // Browsers have locks on secure origins alone; on others each tab asks for the events itself.
    if (navigator.locks === undefined) {
        channel.onmessage = null;
        return leading();
    }
    await navigator.locks.request(NAME, { signal }, leading).catch(() => {});
}

/** Reads the events, and goes on after the last one when the stream has ended. @param {AbortSignal} signal @param {BroadcastChannel} channel */
async function lead(signal, channel) {
    let wait = RETRY_MIN_MS;
    /** @param {string} state */
    const say = (state) => {
        live.value = state;
        if (!signal.aborted) channel.postMessage({ state });
    };
    /** @param {FleetEvent} event */
    const publish = (event) => {
        deliver(event);
        channel.postMessage({ event });
    };
    const opened = () => {
        wait = RETRY_MIN_MS;
        say("live");
    };
    let missed = false;
    while (!signal.aborted) {
        try {
            // The position is known before the stream begins, so that no event is lost if it breaks before the first.
            if (last === undefined) {
                const event = await position(signal);
                last = event.id;
                // Pages were read before that.
                if (missed) publish(event);
            }
            const events = navigator.locks === undefined ? polled(last, signal, opened) : eventsAfter(last, signal, opened);
            for await (const event of events) {
                publish(event);
            }
        } catch (error) {
            missed ||= last === undefined;
            // A key that is no longer accepted ends the session, and with it the lead of this tab.
            if (/** @type {any} */ (error).status === 401) await get("/query/key", {}, signal).catch(() => {});
            // Anything else is tried again below.
        }
        if (signal.aborted) return;
        say("lost");
        await pause(wait * (0.5 + Math.random()), signal);
        wait = Math.min(wait * 2, RETRY_MAX_MS);
    }
}

/** Events in pages, for tabs that cannot share a stream: with one each, the seventh would wait for ever. @param {number} after @param {AbortSignal} signal @param {() => void} opened */
async function* polled(after, signal, opened) {
    for (;;) {
        const { rows, hasMore } = await get("/query/events", { after, limit: 500 }, signal);
        opened();
        for (const row of rows) {
            after = row.id;
            yield row;
        }
        if (!hasMore) await pause(POLL_MS, signal);
        if (signal.aborted) return;
    }
}

/** A `resync` with the number of the newest event: that is what a position beyond the end gives. @param {AbortSignal} signal @returns {Promise<FleetEvent>} */
async function position(signal) {
    const { rows } = await get("/query/events", { after: Number.MAX_SAFE_INTEGER, limit: 1 }, signal);
    return rows[0];
}

/** Waits, but no longer than until the browser is online again or the signal aborts. @param {number} milliseconds @param {AbortSignal} signal */
function pause(milliseconds, signal) {
    return new Promise((done) => {
        const timer = setTimeout(finish, milliseconds);
        function finish() {
            clearTimeout(timer);
            removeEventListener("online", finish);
            signal.removeEventListener("abort", finish);
            done(undefined);
        }
        addEventListener("online", finish);
        signal.addEventListener("abort", finish);
    });
}
