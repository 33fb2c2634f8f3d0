// A percentage against the bounds of overload: as a glyph, a word and a colour.

import { NONE, percent, time } from "../format.js";
import { html } from "../vendor/preact.js";

/** Processor and memory above it for five minutes are overload, as in the advice. */
export const OVERLOAD = 80;
const NEARLY = 65;
const LEVELS = [
    { from: OVERLOAD, glyph: "▲", tone: "bad", word: "high" },
    { from: NEARLY, glyph: "△", tone: "warn", word: "elevated" },
];

/** How full a volume is. */
const VOLUMES = [
    { from: 95, glyph: "▲", tone: "bad", word: "nearly full" },
    { from: 85, glyph: "△", tone: "warn", word: "filling up" },
];

/** The level of a percentage, if it is one to look at. @param {number | null | undefined} value */
export const levelOf = (value) => LEVELS.find(({ from }) => (value ?? 0) > from);

/** @param {{ value: number | null | undefined, text?: string }} properties */
export function Level({ value, text = percent(value) }) {
    const level = levelOf(value);
    if (level === undefined) return text;
    return html`<span class=${`level ${level.tone}`} title=${`${level.word}: above ${level.from} %`}><span class="glyph" aria-hidden="true">${level.glyph}</span>${text}<span class="hidden"> ${level.word}</span></span>`;
}

/** A percentage with its word, where there is room for it; `asOf` is the time of one that is not of now. @param {{ value: number | null | undefined, asOf: string | null, volume?: boolean }} properties */
export function Figure({ value, asOf, volume = false }) {
    if (value === null || value === undefined) return NONE;
    if (asOf !== null) return html`<span class="past" title=${`as of ${time(asOf)}`}>${percent(value)}</span>`;
    const level = volume ? VOLUMES.find(({ from }) => value > from) : levelOf(value);
    if (level === undefined) return percent(value);
    return html`<span class="level ${level.tone}"><span class="glyph" aria-hidden="true">${level.glyph}</span> ${percent(value)} <small>${level.word}</small></span>`;
}
