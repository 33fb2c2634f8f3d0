// Keys that work on every page.

import { help, openCard, palette } from "../asked.js";
import { letterKeys } from "../preferences.js";
import { useEffect } from "../vendor/preact.js";

export function useKeys() {
    useEffect(() => {
        addEventListener("keydown", pressed);
        return () => removeEventListener("keydown", pressed);
    }, []);
}

/** @param {KeyboardEvent} event */
function pressed(event) {
    if (event.defaultPrevented) return;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        // Not over another dialog but the card, which the search may show for another desktop.
        if (palette.value || document.querySelector("dialog[open]:not(.drawer)") === null) palette.value = !palette.value;
        return;
    }
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.key === "Enter" && event.shiftKey && target instanceof HTMLAnchorElement && showCard(target.hash)) return event.preventDefault();
    const writes = target.closest("input, textarea, select, [contenteditable], dialog") !== null;
    if (!letterKeys.value || writes || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/") {
        event.preventDefault();
        const filter = /** @type {HTMLInputElement | null} */ (document.querySelector("#main [type=search]"));
        if (filter === null) palette.value = true;
        else filter.focus();
    } else if (event.key === "?") help.value = true;
}

/** Opens the card of a link to a desktop or a user. @param {string} hash */
function showCard(hash) {
    const [, page, id] = /^#\/(desktop|user)\/([^/?]+)/.exec(hash) ?? [];
    if (page === undefined) return false;
    openCard(page === "desktop" ? { id: decodeURIComponent(id) } : { user: decodeURIComponent(id) });
    return true;
}
