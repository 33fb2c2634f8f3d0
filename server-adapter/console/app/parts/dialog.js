// A modal dialog: the browser keeps the focus inside and closes it with Esc.

import { html, useEffect, useId, useRef } from "../vendor/preact.js";

/** @param {{ open: boolean, title: string, onClose: () => void, wide?: boolean, children?: any }} properties */
export function Dialog({ open, title, onClose, wide, children }) {
    const element = useRef(/** @type {HTMLDialogElement | null} */ (null));
    const label = useId();
    useEffect(() => {
        const dialog = element.current;
        const before = /** @type {HTMLElement | null} */ (document.activeElement);
        if (open && dialog && !dialog.open) dialog.showModal();
        return () => {
            dialog?.close();
            // By now the dialog is removed, so that the browser does not return the focus.
            if (open) before?.focus({ preventScroll: true });
        };
    }, [open]);
    if (!open) return null;
    return html`<dialog ref=${element} class=${wide ? "wide" : ""} aria-labelledby=${label} onCancel=${(/** @type {Event} */ event) => (event.preventDefault(), onClose())}>
        <header>
            <h2 id=${label}>${title}</h2>
            <button type="button" class="quiet" aria-label="Close" onClick=${onClose}>✕</button>
        </header>
        <div class="dialog-body">${children}</div>
    </dialog>`;
}
