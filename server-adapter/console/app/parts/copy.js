// A text to take away: shown, and copied at a click.

import { Icon } from "./icon.js";
import { html, useRef, useState } from "../vendor/preact.js";

const SAID_MS = 2000;

/** Copies a text that is shown elsewhere. @param {{ text: string, label: string }} properties */
export function CopyButton({ text, label }) {
    const [said, setSaid] = useState("");
    const copy = async () => {
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
    return html`<button type="button" class="quiet copy-button" title=${`Copy ${label}`} aria-label=${`Copy ${label}`} onClick=${copy}><${Icon} name="copy" /><span role="status">${said}</span></button>`;
}

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
