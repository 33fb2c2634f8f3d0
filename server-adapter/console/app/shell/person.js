// Who works here: the name that the audit gets, and what the key is and may do.

import { host } from "../api.js";
import { person } from "../asked.js";
import { time } from "../format.js";
import { Dialog } from "../parts/dialog.js";
import { Text } from "../parts/text.js";
import { requester } from "../preferences.js";
import { session, signOut } from "../session.js";
import { html } from "../vendor/preact.js";

const close = () => void (person.value = false);

export function PersonDialog() {
    return html`<${Dialog} open=${person.value} title="You" onClose=${close}><${Form} /><//>`;
}

function Form() {
    const { name, scopes, actions, expires } = /** @type {import("../session.js").Session} */ (session.value);
    /** @param {SubmitEvent} event */
    const submit = (event) => {
        event.preventDefault();
        requester.value = String(new FormData(/** @type {HTMLFormElement} */ (event.target)).get("name")).trim();
        close();
    };
    return html`<form class="dialog-form" onSubmit=${submit}>
        <label>Your name, for the audit <input name="name" maxlength="100" autocomplete="name" autofocus value=${requester.value} /></label>
        <dl class="facts">
            <dt>Fleet</dt><dd>${host().place}</dd>
            <dt>Key</dt><dd><${Text} text=${name} /></dd>
            <dt>Permissions</dt><dd>${scopes.join(", ")}${actions !== null && `; actions: ${actions.length}`}</dd>
            <dt>Session ends</dt><dd>${expires === null ? "at sign-out" : time(expires)}</dd>
        </dl>
        <div class="dialog-actions">${host().kind === "server" && html`<button type="button" class="to-start" onClick=${() => (close(), signOut())}>Sign out</button>`}<button type="button" onClick=${close}>Cancel</button><button class="primary">Save</button></div>
    </form>`;
}
