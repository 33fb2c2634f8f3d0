// A text to take away: shown, and copied at a click.

import { html, useRef, useState } from "../vendor/preact.js";

const SAID_MS = 2000;

/** @param {{ text: string, label: string }} properties `label` says what the text is */
export function Copy({ text, label }) {
    const [said, setSaid] = useState("");
    const shown = useRef(/** @type {HTMLElement | null} */ (null));
    const copy = async () => {
        try {
            await navigator.clipboard.writeText(text);
            setSaid("Copied");
        } catch {
            // Over plain http the browser has no clipboard: the text is selected, to be copied by hand.
            getSelection()?.selectAllChildren(/** @type {HTMLElement} */ (shown.current));
            setSaid("Press Ctrl C");
        }
        setTimeout(() => setSaid(""), SAID_MS);
    };
    return html`<div class="copy">
        <pre ref=${shown} tabindex="0" role="group" aria-label=${label}>${text}</pre>
        <button type="button" onClick=${copy} aria-label=${`Copy ${label}`}>${said || "Copy"}</button>
    </div>`;
}
