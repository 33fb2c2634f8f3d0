// A percentage against the bounds of overload: as a glyph, a word and a colour.

import { percent } from "../format.js";
import { html } from "../vendor/preact.js";

/** Processor and memory above it for five minutes are overload, as in the advice. */
export const OVERLOAD = 80;
const NEARLY = 65;
const LEVELS = [
    { from: OVERLOAD, glyph: "▲", tone: "bad", word: "high" },
    { from: NEARLY, glyph: "△", tone: "warn", word: "elevated" },
];

/** The level of a percentage, if it is one to look at. @param {number | null | undefined} value */
export const levelOf = (value) => LEVELS.find(({ from }) => (value ?? 0) > from);

/** @param {{ value: number | null | undefined, text?: string }} properties */
export function Level({ value, text = percent(value) }) {
    const level = levelOf(value);
    if (level === undefined) return text;
    return html`<span class=${`level ${level.tone}`} title=${`${level.word}: above ${level.from} %`}><span class="glyph" aria-hidden="true">${level.glyph}</span>${text}<span class="hidden"> ${level.word}</span></span>`;
}
