// The page that is shown without a session.

import { ApiError, host } from "../api.js";
import { TASKS } from "../parts/tasks.js";
import { requester } from "../preferences.js";
import { signIn, signInNote } from "../session.js";
import { html, useState } from "../vendor/preact.js";

/** The tasks that a person signs in for, with the pages for them. */
const SESSIONS = { helpdesk: TASKS.helpdesk.title, operator: TASKS.operator.title, auditor: TASKS.auditor.title, collector: "Read only" };

export function SignIn() {
    const [busy, setBusy] = useState(false);
    /** @param {SubmitEvent} event */
    const submit = async (event) => {
        event.preventDefault();
        const fields = new FormData(/** @type {HTMLFormElement} */ (event.target));
        requester.value = String(fields.get("name")).trim();
        setBusy(true);
        try {
            await signIn(String(fields.get("key")).trim(), requester.value, String(fields.get("task")));
        } catch (error) {
            setBusy(false);
            const text = !(error instanceof ApiError)
                ? String(error)
                : error.status === 401
                  ? "The key is not accepted. Look for a character that is missing, or ask for a new key."
                  : error.status === 403
                    ? "This key may only post telemetry: sign in with one that may read."
                    : `${error.message} ${error.advice}`;
            signInNote.value = { text, problem: true };
        }
    };
    const { text, problem } = signInNote.value;
    return html`<main class="sign-in">
        <form onSubmit=${submit}>
            <h1><img src="app/icon.svg" alt="" width="28" height="28" /> deskfleet</h1>
            <p class="note">The fleet at ${host().place}.</p>
            ${text && html`<p role=${problem ? "alert" : "status"} class=${problem ? "problem" : "note"}>${text}</p>`}
            <label>API key <input name="key" type="password" required autocomplete="off" spellcheck=${false} placeholder="dfk_…" autofocus /></label>
            <label>Your name, for the audit <input name="name" maxlength="100" autocomplete="name" value=${requester.value} /></label>
            <label>Permissions of this session
                <select name="task">
                    <option value="">All that the key has</option>
                    ${Object.entries(SESSIONS).map(([name, title]) => html`<option key=${name} value=${name}>${title}</option>`)}
                </select>
            </label>
            <button class="primary" disabled=${busy}>${busy ? "Signing in …" : "Sign in"}</button>
            <p class="note">Your session lasts 12 hours or until you sign out. An admin key is not kept: the session has a key of its own. Lost the key? See the server's terminal.</p>
        </form>
    </main>`;
}
