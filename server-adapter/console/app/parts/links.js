// Links to desktops and users from tables.

import { openCard } from "../asked.js";
import { NONE } from "../format.js";
import { href } from "../router.js";
import { html } from "../vendor/preact.js";
import { Text } from "./text.js";

/** @param {string} page @param {string | null | undefined} id */
const link = (page, id) => (id ? html`<a class="named" href=${href(page, id)}><${Text} text=${id} /></a>` : NONE);

/** @param {{ id: string | null | undefined }} properties */
export const DesktopLink = ({ id }) => link("desktop", id);
/** @param {{ name: string | null | undefined }} properties */
export const UserLink = ({ name }) => link("user", name);

/** A link that opens the card; with Ctrl it opens the page, as links do. @param {{ id: string }} properties */
export function CardLink({ id }) {
    /** @param {MouseEvent} event */
    const clicked = (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        openCard({ id });
    };
    return html`<a class="named" href=${href("desktop", id)} onClick=${clicked}><${Text} text=${id} /></a>`;
}
