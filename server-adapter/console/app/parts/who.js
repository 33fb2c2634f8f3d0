// Who did something: the person of a session, else its browser, or the name of a key.

import { html } from "../vendor/preact.js";
import { sessionOf } from "./sessions.js";
import { Text, visible } from "./text.js";

/** @param {{ name: string | null | undefined }} properties */
export function Who({ name }) {
    const session = sessionOf(name ?? "");
    const shown = session?.person || session?.browser;
    return shown ? html`<span title=${visible(name ?? "")}><${Text} text=${shown} /></span>` : html`<${Text} text=${name} />`;
}
