// The API keys: who may do what.

import { get, host } from "../api.js";
import { ago, time } from "../format.js";
import { DataTable } from "../parts/data-table.js";
import { Loaded } from "../parts/problem.js";
import { sessionOf } from "../parts/sessions.js";
import { Sign } from "../parts/state.js";
import { Text } from "../parts/text.js";
import { useResource } from "../resource.js";
import { route, setQuery } from "../router.js";
import { session } from "../session.js";
import { html, useState } from "../vendor/preact.js";
import { IssueKey, RevokeKey } from "./key-dialogs.js";
import { Sessions } from "./key-sessions.js";

/** @typedef {import("../../../../wasm/js/types.js").KeyInfo} Key */

const changes = (/** @type {import("../live.js").FleetEvent} */ { type }) => type.startsWith("key.");

/** @param {Key} key @param {number} now */
function validity({ revoked, expires }, now) {
    if (revoked !== null) return { glyph: "⊘", tone: "off", label: "Revoked" };
    if (expires !== null && Date.parse(expires) <= now) return { glyph: "◌", tone: "off", label: "Expired" };
    return { glyph: "●", tone: "good", label: "Active" };
}

export default function Keys() {
    const keys = useResource("keys", (signal) => get("/operator/keys", {}, signal), { on: changes });
    // In the address, so that the search can lead here.
    const issuing = route.value.query.issue !== undefined;
    const setIssuing = (/** @type {boolean} */ is) => setQuery({ issue: is ? "1" : undefined });
    const [revoked, setRevoked] = useState(/** @type {any} */ (undefined));
    return html`<div class="head">
            <h1>Keys</h1>
            <button type="button" class="primary" onClick=${() => setIssuing(true)}>Issue a key</button>
        </div>
        <p class="note">A program sends its key with each request, as <code>X-Api-Key</code>. Keys are stored as hashes; a lost key cannot be recovered, issue a new one.</p>
        <${Loaded} of=${keys}>${(/** @type {any} */ data) => html`<${Both} keys=${data.keys} revoke=${setRevoked} reload=${keys.reload} />`}<//>
        ${issuing && html`<${IssueKey} onIssued=${keys.reload} onClose=${() => setIssuing(false)} />`}
        ${revoked && html`<${RevokeKey} shown=${revoked} onRevoked=${keys.reload} onClose=${() => setRevoked(undefined)} />`}`;
}

/** @param {{ keys: Key[], revoke: (row: any) => void, reload: () => void }} properties */
function Both({ keys, revoke, reload }) {
    const now = Date.now();
    const sessions = keys.filter((key) => validity(key, now).tone === "good" && sessionOf(key.name) !== undefined);
    return html`<${List} keys=${keys.filter(({ name }) => sessionOf(name) === undefined)} revoke=${revoke} />
        <${Sessions} keys=${sessions} revoke=${revoke} reload=${reload} />`;
}

/** @param {{ keys: Key[], revoke: (row: any) => void }} properties */
function List({ keys, revoke }) {
    const now = Date.now();
    const ended = route.value.query.ended !== undefined;
    const rows = keys.filter((key) => ended || validity(key, now).tone === "good").map((key) => ({ ...key, scopes: key.scopes.join(" "), state: validity(key, now).label }));
    const own = (/** @type {Key} */ { id }) => id === session.value?.id;
    /** @type {import("../parts/data-table.js").Column<any>[]} */
    const columns = [
        { name: "id", title: "Id", number: true },
        { name: "name", title: "Name", show: (key) => html`<span class="long"><${Text} text=${key.name} /> ${own(key) && html`<span class="tag">this session</span>`}</span>` },
        { name: "scopes", title: "Scopes", show: ({ scopes }) => scopes.split(" ").map((/** @type {string} */ scope) => html`<span key=${scope} class="tag">${scope}</span> `) },
        { name: "limits", title: "Limits", show: limits },
        { name: "state", title: "State", show: (key) => html`<${Sign} ...${validity(key, now)} />` },
        { name: "created", title: "Created", show: ({ created }) => html`<span class="nowrap">${time(created)}</span>` },
        { name: "expires", title: "Expires", show: ({ expires }) => (expires === null ? "never" : html`<span class="nowrap">${time(expires)}</span>`) },
        { name: "lastUsed", title: "Last used", show: ({ lastUsed }) => (lastUsed === null ? "never" : html`<span title=${time(lastUsed)} class="nowrap">${ago(lastUsed, now)}</span>`) },
    ];
    if (ended) columns.push({ name: "revoked", title: "Revoked", show: (key) => key.revoked && time(key.revoked) });
    const button = (/** @type {any} */ key) => key.state === "Active" && html`<button type="button" class="danger" aria-label=${`Revoke key ${key.id}`} onClick=${() => revoke(key)}>Revoke</button>`;
    columns.push({ name: "revoke", title: "Revoke", fixed: true, unsaved: true, show: button });
    const tools = html`<label class="check"><input type="checkbox" checked=${ended} onChange=${() => setQuery({ ended: ended ? undefined : "1" })} /> Show revoked and expired</label>`;
    return html`<${DataTable} caption="Keys of the ${host().kind === "server" ? "server" : "fleet"}" file="keys" sort="-id" tools=${tools} rows=${rows} rowKey=${(/** @type {Key} */ { id }) => id} columns=${columns} />`;
}

/** What a key may do less than its scopes allow. @param {Key} key */
const limits = ({ actions, filter, destructivePerHour }) => [actions, Object.values(filter ?? {}), destructivePerHour === null ? [] : `${destructivePerHour}/h`].flat().filter(Boolean).join(", ");
