// The card of a desktop: opened from anywhere, over the page that is shown.

import { card } from "../asked.js";
import { html } from "../vendor/preact.js";
import { DesktopCard } from "./desktop-card.js";
import { Dialog } from "./dialog.js";
import { visible } from "./text.js";

export function Card() {
    const asked = card.value;
    return html`<${Dialog} open=${asked !== null} drawer title=${asked === null ? "" : visible("id" in asked ? asked.id : asked.user)} onClose=${() => (card.value = null)}>${asked && html`<${DesktopCard} key=${JSON.stringify(asked)} asked=${asked} />`}<//>`;
}
