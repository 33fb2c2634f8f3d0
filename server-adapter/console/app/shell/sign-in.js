// The page that is shown without a session.

import { ApiError, host } from "../api.js";
import { requester } from "../preferences.js";
import { signIn, signInNote } from "../session.js";
import { html, useState } from "../vendor/preact.js";

export function SignIn() {
    const [busy, setBusy] = useState(false);
    /** @param {SubmitEvent} event */
    const submit = async (event) => {
        event.preventDefault();
        const fields = new FormData(/** @type {HTMLFormElement} */ (event.target));
        requester.value = String(fields.get("name")).trim();
        setBusy(true);
        try {
            await signIn(String(fields.get("key")).trim(), requester.value);
        } catch (error) {
            setBusy(false);
            signInNote.value = !(error instanceof ApiError)
                ? String(error)
                : error.status === 401
                  ? "The key is not accepted. Look for a character that is missing, or ask for a new key."
                  : `${error.message} ${error.advice}`;
        }
    };
    return html`<main class="sign-in">
        <form onSubmit=${submit}>
            <h1><img src="app/icon.svg" alt="" width="28" height="28" /> deskfleet</h1>
            <p class="note">The fleet at ${host().place}.</p>
            ${signInNote.value && html`<p role="alert" class="problem">${signInNote.value}</p>`}
            <label>API key <input name="key" type="password" required autocomplete="off" spellcheck="false" placeholder="dfk_…" autofocus /></label>
            <label>Your name, for the audit <input name="name" maxlength="100" autocomplete="name" value=${requester.value} /></label>
            <button class="primary" disabled=${busy}>${busy ? "Signing in …" : "Sign in"}</button>
            <p class="note">
                An admin key is exchanged for one that expires after 12 hours and that signing out revokes. It is kept for this tab, and for those that you open beside it. A server
                that is started in a terminal prints a link that signs in once.
            </p>
        </form>
    </main>`;
}
