// The fleet as one strip, a segment for each state; a click shows the desktops in it.

import { STATE_NAMES, count, look } from "../format.js";
import { WHOLE_FLEET, href } from "../router.js";
import { State } from "./state.js";
import { html } from "../vendor/preact.js";

/** @param {{ counts: Record<string, number> }} properties */
export function Strip({ counts }) {
    const known = STATE_NAMES.filter((name) => counts[name] > 0);
    const others = Object.keys(counts).filter((name) => counts[name] > 0 && !STATE_NAMES.includes(name));
    const states = [...known, ...others];
    const all = states.reduce((sum, name) => sum + counts[name], 0);
    const to = (/** @type {string} */ name) => (STATE_NAMES.includes(name) ? href("desktops", undefined, { ...WHOLE_FLEET, state: name }) : href("desktops", undefined, WHOLE_FLEET));
    return html`<svg class="strip" viewBox="0 0 1000 28" preserveAspectRatio="none" aria-hidden="true">
            ${segments(states.map((name) => counts[name])).map(([x, width], index) => html`<a key=${states[index]} href=${to(states[index])} tabindex="-1"><rect x=${x} y="0" width=${width} height="28" class=${`tone-${look(states[index]).tone}`}><title>${look(states[index]).label}: ${count(counts[states[index]])}</title></rect></a>`)}
        </svg>
        <ul class="legend">
            ${states.map(
                (name) => html`<li key=${name}>
                    <a href=${to(name)}><${State} state=${name} /> <b>${count(counts[name])}</b> <span class="note">${((100 * counts[name]) / all).toFixed(1)} %</span></a>
                </li>`,
            )}
        </ul>`;
}

const WIDTH = 1000;
/** Even one desktop in 100 000 can be seen and clicked. */
const LEAST = 6;
const GAP = 2;

/** Places of the segments: in proportion, but none narrower than can be seen. @param {number[]} numbers @returns {[number, number][]} */
function segments(numbers) {
    const all = numbers.reduce((sum, number) => sum + number, 0);
    const free = WIDTH - numbers.length * LEAST - (numbers.length - 1) * GAP;
    let x = 0;
    return numbers.map((number) => {
        const width = LEAST + (free * number) / all;
        const place = /** @type {[number, number]} */ ([x, width]);
        x += width + GAP;
        return place;
    });
}
