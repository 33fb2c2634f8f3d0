// What a person asked to see over the page. The dialogs that show it are loaded after the first page.

import { route } from "./router.js";
import { session } from "./session.js";
import { effect, signal } from "./vendor/preact.js";

/** @template T @typedef {import("./vendor/preact.js").Signal<T>} Signal */
/** @typedef {{ id: string } | { user: string }} Card a desktop, or the desktops of a user */
/**
 * @typedef {object} Behind the desktops whose records a number was made of
 * @property {string} title
 * @property {"stats" | "activity" | "startup" | "processes"} stream
 * @property {readonly [number, number][]} spans in ms, newest first
 * @property {(record: any) => boolean} [accept] whether a record counts; without it each does
 * @property {{ title: string, of: (record: any) => number | undefined, text: (value: any) => string }} [value] of which the greatest of a desktop is shown
 */

/** @type {Signal<{ action: string, ids: string[], begun?: () => void } | null>} */
export const action = signal(null);
/** Stops what this page has to send still of an action. @type {Signal<AbortController | null>} */
export const running = signal(null);
/** @type {Signal<{ release: boolean, ids: readonly string[] } | null>} */
export const hold = signal(null);
/** @type {Signal<Behind | null>} */
export const behind = signal(null);
/** @type {Signal<Card | null>} */
export const card = signal(null);
export const [palette, help, person] = [signal(false), signal(false), signal(false)];

/** Whether any dialog is asked for. */
export const isAsked = () => [action, hold, behind, card, palette, help, person].some(({ value }) => value);

/** Asks whether to begin an action. @param {string} name such as `RebootWorkSpace` @param {Iterable<string>} ids @param {() => void} [begun] called once it is confirmed */
export function askAction(name, ids, begun) {
    if (running.value === null) action.value = { action: name, ids: [...ids], begun };
}

/** Asks for the matter of a hold, then places it. Without ids it asks for them too. @param {readonly string[]} ids */
export const askHold = (ids) => void (hold.value = { release: false, ids });

/** Shows the holds, then releases those that are confirmed. @param {readonly string[]} ids */
export const askRelease = (ids) => void (hold.value = { release: true, ids });

/** Shows the desktops behind a number. @param {Behind} asked */
export const askBehind = (asked) => void (behind.value = asked);

/** @param {Card} asked */
export const openCard = (asked) => void (card.value = asked);

// Another page has no use for them.
effect(() => {
    void route.value;
    behind.value = card.value = null;
});

effect(() => {
    if (session.value !== null) return;
    running.peek()?.abort();
    action.value = behind.value = card.value = null;
});
