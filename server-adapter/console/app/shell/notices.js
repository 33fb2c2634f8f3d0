// Short messages at the edge of the page, read out by screen readers.

import { route } from "../router.js";
import { effect, html, signal } from "../vendor/preact.js";

const SHOWN_MS = 6000;
let number = 0;

/** @type {import("../vendor/preact.js").Signal<{ id: number, text: string, tone: string }[]>} */
const notices = signal([]);

/** Shows a message for a while; `bad` ones stay until they are closed or the page is left. @param {string} text @param {"good" | "bad"} [tone] */
export function notify(text, tone = "good") {
    const id = ++number;
    notices.value = [...notices.value.slice(-3), { id, text, tone }];
    if (tone === "good") setTimeout(() => close(id), SHOWN_MS);
}

/** @param {number} id */
function close(id) {
    notices.value = notices.value.filter((notice) => notice.id !== id);
}

// What failed on a page is left behind with it.
effect(() => {
    void route.value.page;
    notices.value = notices.peek().filter(({ tone }) => tone === "good");
});

export function Notices() {
    return html`<div class="notices" role="status" aria-live="polite">
        ${notices.value.map(
            ({ id, text, tone }) => html`<div key=${id} class="notice ${tone}">
                <span>${text}</span>
                <button type="button" class="quiet" aria-label="Close this message" onClick=${() => close(id)}>✕</button>
            </div>`,
        )}
    </div>`;
}
