// A modal dialog: the browser keeps the focus inside and closes it with Esc; then the focus returns.

import { html, useEffect, useId, useRef } from "../vendor/preact.js";

/** What was clicked last, or had a key pressed. @type {Node | null} */
let before = null;

/**
 * The second click of a double click, and a key held down, do nothing where what they began on is gone from the dialog, or was outside it: neither
 * to a button that came in its place, nor to the focus.
 *
 * @param {MouseEvent & KeyboardEvent & { target: Node, currentTarget: Node }} event
 */
const unlessGone = (event) => {
    if (event.detail < 2 && !event.repeat) before = event.target;
    else if (!event.currentTarget.contains(before)) {
        event.preventDefault();
        event.stopPropagation();
    }
};

/** @typedef {{ title: string, onClose: () => void, wide?: boolean, drawer?: boolean, children?: any }} Properties `drawer`: at the edge of the window, and closed by a click beside it */

/** @param {Properties & { open: boolean }} properties */
export function Dialog({ open, ...properties }) {
    // A component of its own, whose effects end before its element is removed: a modal element must be closed first.
    return open ? html`<${Modal} ...${properties} />` : null;
}

/** @param {Properties} properties */
function Modal({ title, onClose, wide, drawer, children }) {
    const element = useRef(/** @type {HTMLDialogElement | null} */ (null));
    const label = useId();
    const ended = useRef(false);
    useEffect(() => {
        const dialog = element.current;
        const opener = /** @type {HTMLElement | null} */ (document.activeElement);
        if (dialog && !dialog.open) dialog.showModal();
        // The browser chose the button that closes it, where no field asks for the focus.
        if (dialog?.querySelector("[autofocus]") === null) dialog.querySelector("h2")?.focus();
        return () => {
            ended.current = true;
            dialog?.close();
            // Not before the element is removed, which would take the focus away again.
            setTimeout(() => (opener?.isConnected && opener !== document.body ? opener : document.getElementById("main"))?.focus({ preventScroll: true }));
        };
    }, []);
    /** Browsers close a dialog at a second Esc without asking; one that is still needed is shown again. */
    const closed = () => {
        if (ended.current) return;
        onClose();
        setTimeout(() => !ended.current && !element.current?.open && element.current?.showModal());
    };
    const beside = (/** @type {MouseEvent} */ { target }) => drawer && target === element.current && onClose();
    return html`<dialog ref=${element} class=${drawer ? "drawer" : wide ? "wide" : ""} onClick=${beside} onClickCapture=${unlessGone} onMouseDownCapture=${unlessGone} onKeyDownCapture=${unlessGone} aria-labelledby=${label} onCancel=${(/** @type {Event} */ event) => (event.preventDefault(), onClose())} onClose=${closed}>
        <header>
            <h2 id=${label} tabindex="-1">${title}</h2>
            <button type="button" class="quiet" aria-label="Close" onClick=${onClose}>✕</button>
        </header>
        <div class="dialog-body">${children}</div>
    </dialog>`;
}
