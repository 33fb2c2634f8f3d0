// Views of the table that a person has saved in this browser: filters, order and columns under a name.

import { Icon } from "../parts/icon.js";
import { Popover } from "../parts/popover.js";
import { Text } from "../parts/text.js";
import { hiddenColumns, views } from "../preferences.js";
import { follow, href, route } from "../router.js";
import { html } from "../vendor/preact.js";

const NAME_MAX = 60;
const VIEWS_MAX = 50;

/** @typedef {import("../preferences.js").View} View */

export function Views() {
    const { query } = route.value;
    return html`<${Popover} label=${html`<${Icon} name="list" />Views`} title="Views">${(/** @type {() => void} */ close) => {
        /** @param {View} view */
        const open = ({ query, hidden }) => {
            hiddenColumns.value = hidden;
            follow(href("desktops", undefined, query));
            close();
        };
        /** @param {SubmitEvent} event */
        const save = (event) => {
            event.preventDefault();
            const name = String(new FormData(/** @type {HTMLFormElement} */ (event.target)).get("view")).trim();
            if (name !== "") views.value = [...views.value.filter((view) => view.name !== name), { name, query, hidden: hiddenColumns.value }].slice(-VIEWS_MAX);
            close();
        };
        return html`<div class="form">
            ${views.value.map((view) => html`<div key=${view.name} class="row">
                <button type="button" class="grows" onClick=${() => open(view)}><${Text} text=${view.name} /></button>
                <button type="button" class="quiet" aria-label=${`Delete the view ${view.name}`} onClick=${() => (views.value = views.value.filter((other) => other !== view))}>✕</button>
            </div>`)}
            <form class="row ends" onSubmit=${save}>
                <label class="grows">Save this view as <input name="view" required maxlength=${NAME_MAX} pattern=".*\\S.*" autocomplete="off" placeholder="Errors in us-east-1" /></label>
                <button class="primary">Save</button>
            </form>
        </div>`;
    }}<//>`;
}
