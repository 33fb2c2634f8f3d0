// A text to take away: shown, and copied at a click.

import { Icon } from "./icon.js";
import { html, useState } from "../vendor/preact.js";

const SAID_MS = 2000;

/** What to say of a copy for a moment, and the function that makes it. @returns {[string, (text: string) => Promise<void>]} */
export function useCopy() {
    const [said, setSaid] = useState("");
    /** @param {string} text */
    const copy = async (text) => {
        // Over plain http the browser has no clipboard but that of a selection.
        const copied = (/** @type {ClipboardEvent} */ event) => {
            event.clipboardData?.setData("text/plain", text);
            event.preventDefault();
        };
        document.addEventListener("copy", copied, { once: true });
        const done = document.execCommand("copy") || (await navigator.clipboard?.writeText(text).then(() => true, () => false));
        document.removeEventListener("copy", copied);
        setSaid(done ? "Copied" : "Not copied");
        setTimeout(() => setSaid(""), SAID_MS);
    };
    return [said, copy];
}

/** Copies a text that is shown elsewhere. @param {{ text: string, label: string }} properties */
export function CopyButton({ text, label }) {
    const [said, copy] = useCopy();
    return html`<button type="button" class="quiet copy-button" title=${`Copy ${label}`} aria-label=${`Copy ${label}`} onClick=${() => copy(text)}><${Icon} name="copy" /><span role="status">${said}</span></button>`;
}

/** @param {{ text: string, label: string }} properties `label` says what the text is */
export function Copy({ text, label }) {
    const [said, copy] = useCopy();
    return html`<div class="copy">
        <pre tabindex="0" role="group" aria-label=${label}>${text}</pre>
        <button type="button" onClick=${() => copy(text)} aria-label=${`Copy ${label}`}>${said || "Copy"}</button>
    </div>`;
}
