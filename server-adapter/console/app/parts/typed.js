// A confirmation for what cannot be undone: the word must be typed.

import { html } from "../vendor/preact.js";

/** @param {{ word: string, onChange: (agreed: boolean) => void }} properties */
export function Typed({ word, onChange }) {
    return html`<label>To confirm, type <b>${word}</b>
        <input autocomplete="off" spellcheck=${false} onInput=${(/** @type {any} */ { target }) => onChange(target.value.trim() === word.trim())} />
    </label>`;
}
