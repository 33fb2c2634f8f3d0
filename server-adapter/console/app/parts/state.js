// The state of a desktop: as a glyph, a colour and a word.

import { look } from "../format.js";
import { html } from "../vendor/preact.js";

/** What something is, as a glyph and a colour beside its word: never by its colour alone. @param {{ tone?: string, glyph?: string, label?: string, children?: any }} properties */
export const Sign = ({ tone, glyph, label, children = label }) => html`<span class="state ${tone}"><span class="glyph" aria-hidden="true">${glyph}</span>${children}</span>`;

/** @param {{ state: string | null | undefined }} properties */
export const State = ({ state }) => html`<${Sign} ...${look(state)} />`;
