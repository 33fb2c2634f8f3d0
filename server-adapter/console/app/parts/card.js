// The card of a desktop: opened from anywhere, over the page that is shown. What is in it is loaded when it is first opened.

import { route } from "../router.js";
import { session } from "../session.js";
import { effect, html, signal, useEffect, useState } from "../vendor/preact.js";
import { Dialog } from "./dialog.js";
import { Problem } from "./problem.js";
import { visible } from "./text.js";

/** @typedef {{ id: string } | { user: string }} Asked a desktop, or the desktops of a user */

/** @type {import("../vendor/preact.js").Signal<Asked | null>} */
const card = signal(null);

/** @param {Asked} asked */
export const openCard = (asked) => void (card.value = asked);
const close = () => void (card.value = null);

effect(() => {
    void route.value;
    void session.value;
    close();
});

export function Card() {
    const asked = card.value;
    return html`<${Dialog} open=${asked !== null} drawer title=${asked === null ? "" : visible("id" in asked ? asked.id : asked.user)} onClose=${close}>${asked && html`<${Content} key=${JSON.stringify(asked)} asked=${asked} />`}<//>`;
}

/** @param {{ asked: Asked }} properties */
function Content({ asked }) {
    const [loaded, setLoaded] = useState(/** @type {{ of: any } | undefined} */ (undefined));
    const [error, setError] = useState(/** @type {unknown} */ (undefined));
    useEffect(() => void import("./desktop-card.js").then((module) => setLoaded({ of: module.DesktopCard }), setError), []);
    return html`<${Problem} error=${error} />${loaded ? html`<${loaded.of} asked=${asked} />` : !error && html`<p class="note loading">Loading …</p>`}`;
}
