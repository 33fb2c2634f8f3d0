// Who is signed in to the console: the keys that it had issued.

import { send } from "../api.js";
import { ago, time } from "../format.js";
import { DataTable } from "../parts/data-table.js";
import { sessionOf } from "../parts/sessions.js";
import { Text } from "../parts/text.js";
import { session } from "../session.js";
import { notify } from "../shell/notices.js";
import { html, useState } from "../vendor/preact.js";

/** @typedef {import("../../../../wasm/js/types.js").KeyInfo} Key */

/** @param {{ keys: Key[], revoke: (row: any) => void, reload: () => void }} properties `keys` are those of sessions, and active */
export function Sessions({ keys, revoke, reload }) {
    const [busy, setBusy] = useState(false);
    const now = Date.now();
    const rows = keys.map((key) => ({ ...key, ...sessionOf(key.name), scopes: key.scopes.join(" ") }));
    const isOwn = (/** @type {{ id: number }} */ { id }) => id === session.value?.id;
    const person = rows.find(isOwn)?.person;
    // The person of a session without a name is unknown.
    const others = person ? rows.filter((row) => row.person === person && !isOwn(row)) : [];
    const revokeOthers = async () => {
        setBusy(true);
        try {
            for (const { id } of others) await send("DELETE", `/operator/keys/${id}`);
            notify(`${others.length} other ${others.length === 1 ? "session" : "sessions"} of ${person} revoked.`);
        } catch (error) {
            notify(error instanceof Error ? error.message : String(error), "bad");
        }
        setBusy(false);
        reload();
    };
    /** @type {import("../parts/data-table.js").Column<any>[]} */
    const columns = [
        { name: "person", title: "Name", show: (row) => html`<span class="long">${row.person === "" ? html`<span class="note">no name</span>` : html`<${Text} text=${row.person} />`} ${isOwn(row) && html`<span class="tag">this session</span>`}</span>` },
        { name: "browser", title: "Browser", show: ({ browser }) => (browser === "" ? "–" : html`<${Text} text=${browser} />`) },
        { name: "scopes", title: "Permissions", show: ({ scopes }) => scopes.split(" ").map((/** @type {string} */ scope) => html`<span key=${scope} class="tag">${scope}</span> `) },
        { name: "created", title: "Since", show: ({ created }) => html`<span class="nowrap">${time(created)}</span>` },
        { name: "expires", title: "Expires", show: ({ expires }) => html`<span class="nowrap">${expires && time(expires)}</span>` },
        { name: "lastUsed", title: "Last used", show: ({ lastUsed }) => (lastUsed === null ? "never" : html`<span title=${time(lastUsed)} class="nowrap">${ago(lastUsed, now)}</span>`) },
        { name: "revoke", title: "Revoke", fixed: true, unsaved: true, show: (row) => html`<button type="button" class="danger" aria-label=${`Revoke key ${row.id}`} onClick=${() => revoke(row)}>Revoke</button>` },
    ];
    const tools = html`<button type="button" disabled=${busy || others.length === 0} onClick=${revokeOthers}>Revoke all my other sessions</button>`;
    return html`<h2>Sessions</h2>
        <p class="note">Who is signed in here. A session ends at sign-out, and after 12 hours by itself.</p>
        <${DataTable} caption="Sessions" sort="-created" tools=${tools} rows=${rows} rowKey=${(/** @type {Key} */ { id }) => id} columns=${columns} empty="Nobody is signed in with a session." />`;
}
