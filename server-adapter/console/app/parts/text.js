// Texts of the fleet, such as names: anybody may have written them, so they must neither reorder nor hide what stands beside them.

import { NONE } from "../format.js";
import { html } from "../vendor/preact.js";

/** Characters that are not seen but act, such as U+202E, which turns the direction. The two joiners are left: Persian words and emoji need them. */
const HIDDEN = /((?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}])/u;

/** Such as `U+202E`. @param {string} character */
const code = (character) => `U+${/** @type {number} */ (character.codePointAt(0)).toString(16).toUpperCase().padStart(4, "0")}`;

/** The text with hidden characters as `[U+202E]`, for attributes, options and titles, which hold no elements. @param {string} text */
export const visible = (text) => text.replaceAll(new RegExp(HIDDEN, "gu"), (character) => `[${code(character)}]`);

/** A text of the fleet, or a dash. @param {{ text: string | null | undefined }} properties */
export function Text({ text }) {
    if (text === null || text === undefined || text === "") return NONE;
    if (!HIDDEN.test(text)) return html`<bdi class="text">${text}</bdi>`;
    // Between the parts are the characters themselves, as the pattern keeps them.
    return html`<bdi class="text">${text.split(HIDDEN).map((part, index) => (index % 2 === 0 ? part : html`<span class="control" title="A hidden character">${code(part)}</span>`))}</bdi>`;
}
