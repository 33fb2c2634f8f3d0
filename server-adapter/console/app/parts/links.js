// Links to desktops and users from tables.

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
