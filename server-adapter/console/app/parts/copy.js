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

/** Copies a text that is shown elsewhere. What is said of it is beside the button: screen readers do not look into buttons. @param {{ text: string, label: string, children?: any }} properties */
export function CopyButton({ text, label, children }) {
    const [said, copy] = useCopy();
    return html`<button type="button" class="quiet" aria-label=${`Copy ${label}`} onClick=${() => copy(text)}><${Icon} name="copy" />${children}</button><span role="status" class="note">${said}</span>`;
}

/** @param {{ text: string, label: string }} properties `label` says what the text is */
export function Copy({ text, label }) {
    return html`<div class="copy">
        <pre tabindex="0" role="group" aria-label=${label}>${text}</pre>
        <${CopyButton} text=${text} label=${label}>Copy<//>
    </div>`;
}
