// A button and what it shows below it: closed by Esc, by a click elsewhere, and when the focus leaves it.

import { html, useEffect, useId, useLayoutEffect, useRef, useState } from "../vendor/preact.js";

/**
 * `children` is called with what closes it.
 * @param {{ label: any, title: string, kind?: string, menu?: boolean, children?: any }} properties `title` names what is shown; with `menu` a click in it closes it, and the arrow keys, Home and End move between its buttons
 */
export function Popover({ label, title, kind = "quiet", menu = false, children }) {
    const [open, setOpen] = useState(false);
    const frame = useRef(/** @type {HTMLElement | null} */ (null));
    const panel = useRef(/** @type {HTMLElement | null} */ (null));
    const id = useId();
    const close = () => {
        setOpen(false);
        /** @type {HTMLElement | null | undefined} */ (frame.current?.querySelector("button"))?.focus({ preventScroll: true });
    };
    useEffect(() => {
        if (!open) return;
        const outside = (/** @type {Event} */ { target }) => !frame.current?.contains(/** @type {Node} */ (target)) && setOpen(false);
        for (const type of ["pointerdown", "focusin"]) document.addEventListener(type, outside);
        return () => {
            for (const type of ["pointerdown", "focusin"]) document.removeEventListener(type, outside);
        };
    }, [open]);
    useLayoutEffect(() => {
        if (!open || panel.current === null) return;
        // Beside the edge of the window it opens to the other side.
        const { left, right } = panel.current.getBoundingClientRect();
        panel.current.style.translate = right > innerWidth - 8 ? `${Math.max(innerWidth - 8 - right, 8 - left)}px` : left < 8 ? `${8 - left}px` : "";
        /** @type {HTMLElement | null} */ (panel.current.querySelector("button, input, select, a"))?.focus({ preventScroll: true });
    }, [open]);
    /** @param {KeyboardEvent} event */
    const pressed = (event) => {
        if (!open) return;
        const items = [...(panel.current?.querySelectorAll("button") ?? [])];
        const at = items.indexOf(/** @type {any} */ (document.activeElement));
        const next = { ArrowDown: at + 1, ArrowUp: Math.max(at, 0) - 1, Home: 0, End: -1 }[event.key];
        // After the last item comes the first.
        if (menu && next !== undefined) items.at(next % items.length)?.focus();
        else if (event.key === "Escape") close();
        else return;
        event.preventDefault();
        event.stopPropagation();
    };
    return html`<span class="popover" ref=${frame} onKeyDown=${pressed}>
        <button type="button" class=${kind} aria-expanded=${open ? "true" : "false"} aria-controls=${open ? id : undefined} onClick=${() => setOpen(!open)}>${label}</button>
        ${open && html`<div class="popover-panel" id=${id} ref=${panel} role="group" aria-label=${title} onClick=${() => menu && close()}>${typeof children === "function" ? children(close) : children}</div>`}
    </span>`;
}
