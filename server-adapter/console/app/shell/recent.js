// What was chosen in the search lately, in this tab, until sign-out: it names people.

import { session } from "../session.js";
import { effect, signal } from "../vendor/preact.js";

const MAX = 6;
const PLACE = `deskfleet.recent ${new URL(".", document.baseURI).pathname}`;

/** @typedef {{ kind: "desktop" | "user" | "page" | "command" | "verb", id: string }} Choice */

/** @returns {Choice[]} */
function kept() {
    try {
        return JSON.parse(sessionStorage.getItem(PLACE) ?? "[]");
    } catch {
        return [];
    }
}

/** The newest first. */
export const recent = signal(kept());

/** @param {Choice} choice */
export function remember({ kind, id }) {
    recent.value = [{ kind, id }, ...recent.value.filter((each) => each.kind !== kind || each.id !== id)].slice(0, MAX);
    sessionStorage.setItem(PLACE, JSON.stringify(recent.value));
}

effect(() => {
    if (session.value !== null || recent.peek().length === 0) return;
    recent.value = [];
    sessionStorage.removeItem(PLACE);
});
