// The state of a desktop: as a glyph, a colour and a word.

import { look } from "../format.js";
import { html } from "../vendor/preact.js";

/** @param {{ state: string | null | undefined }} properties */
export function State({ state }) {
    const { glyph, tone, label } = look(state);
    return html`<span class="state ${tone}"><span class="glyph" aria-hidden="true">${glyph}</span>${label}</span>`;
}
