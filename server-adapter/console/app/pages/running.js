// The actions that run.

import { get, send } from "../api.js";
import { ago, duration, time } from "../format.js";
import { actionTitle } from "../parts/audit-words.js";
import { DataTable } from "../parts/data-table.js";
import { Dialog } from "../parts/dialog.js";
import { Loaded, Problem } from "../parts/problem.js";
import { State } from "../parts/state.js";
import { Text } from "../parts/text.js";
import { Who } from "../parts/who.js";
import { useResource } from "../resource.js";
import { href } from "../router.js";
import { may, mayStart } from "../session.js";
import { notify } from "../shell/notices.js";
import { html, useState } from "../vendor/preact.js";

/** @typedef {import("../../../../wasm/js/types.js").PendingAction} Action */

const EVERY_MS = 15_000;
const SHOWN_MAX = 500;
/** After this time somebody should have begun an action that no clock ends. */
const UNATTENDED_MS = 15 * 60_000;
/** After this time since its last attempt, such an action should have ended. */
const STALLED_MS = 2 * 3_600_000;
const EMPTY = "No action runs.";
/** States that desktops have while an action runs. */
const TRANSITIONS = ["REBOOTING", "REBUILDING", "RESTORING", "STARTING", "STOPPING", "TERMINATING", "UPDATING"];

const changes = (/** @type {import("../live.js").FleetEvent} */ { type }) => type.startsWith("action.") || type === "import.committed";
const desktop = (/** @type {{ workSpaceId: string }} */ { workSpaceId }) => html`<a href=${href("desktop", workSpaceId)}><${Text} text=${workSpaceId} /></a>`;

export const Running = () => html`<${Batches} />${may("admin") ? html`<${Outbox} />` : html`<${InTransition} />`}`;

/** @typedef {import("../../../../wasm/js/types.js").ActionBatch} Batch */

/** Why a batch was stopped. */
const STOPPED = { Requested: "stopped by a person", Failures: "stopped after failures", Throttled: "stopped above the rate of its key", KeyEnded: "stopped with its key" };

/** Actions on many desktops that have not ended. */
function Batches() {
    const batches = useResource("batches", (signal) => get("/operator/batches", {}, signal), { every: EVERY_MS, on: changes });
    const [error, setError] = useState(/** @type {unknown} */ (undefined));
    const rows = (batches.data?.batches ?? []).filter((/** @type {Batch} */ { endedAt }) => endedAt === null);
    if (rows.length === 0) return null;
    const now = Date.now();
    /** @param {Batch} batch */
    const stop = (batch) => send("POST", `/operator/batches/${batch.batchId}/stop`).then(batches.reload, setError);
    /** @type {import("../parts/data-table.js").Column<Batch>[]} */
    const columns = [
        { name: "action", title: "Action on many", show: ({ action, computeType }) => html`${actionTitle(action)}${computeType && ` to ${computeType}`}` },
        { name: "requester", title: "Requested by", show: ({ requester, apiKeyName }) => html`<${Who} name=${requester ?? apiKeyName ?? "host"} />` },
        { name: "startedAt", title: "Since", show: ({ startedAt }) => html`${ago(startedAt, now)} <span class="note">${time(startedAt)}</span>` },
        { name: "waiting", title: "Progress", fixed: true, show: ({ succeeded, running, waiting, failed, stopped }) => `${succeeded} done, ${running} running, ${waiting} ${stopped === null ? "waiting" : "not begun"}, ${failed} failed${stopped === null ? "" : `; ${STOPPED[stopped] ?? stopped}`}` },
        { name: "stop", title: "Stop", fixed: true, unsaved: true, show: (batch) => mayStart(batch.action) && batch.stopped === null && batch.waiting > 0 && html`<button type="button" onClick=${() => void stop(batch)}>Stop</button>` },
    ];
    return html`<${Problem} error=${error} /><${DataTable} caption="Running batches" file="batches" columns=${columns} rows=${rows} rowKey=${(/** @type {Batch} */ { batchId }) => batchId} />`;
}


function Outbox() {
    const [ending, setEnding] = useState(/** @type {{ action: Action, fails: boolean } | undefined} */ (undefined));
    const pending = useResource("pending", (signal) => get("/operator/actions", { state: "pending", limit: SHOWN_MAX }, signal), { every: EVERY_MS, on: changes });
    const now = Date.now();
    /** @type {import("../parts/data-table.js").Column<Action>[]} */
    const columns = [
        { name: "action", title: "Action", show: ({ action, computeType }) => html`${actionTitle(action)}${computeType && ` to ${computeType}`}` },
        { name: "workSpaceId", title: "Desktop", show: desktop },
        { name: "requestedAt", title: "Since", show: ({ requestedAt }) => html`${ago(requestedAt, now)} <span class="note">${time(requestedAt)}</span>` },
        { name: "dueAt", title: "Due", show: ({ dueAt }) => (dueAt === null ? "when it is ended" : time(dueAt)) },
    ];
    /** @type {import("../parts/data-table.js").Column<Action>[]} */
    const provided = [
        { name: "provider", title: "Provider", show: ({ provider }) => (provider === null ? "–" : html`<${Text} text=${provider} />`) },
        { name: "attempts", title: "Attempts", show: ({ attempts, lastAttemptAt }) => html`${attempts}${lastAttemptAt !== null && html` <span class="note">${ago(lastAttemptAt, now)}</span>`}` },
        { name: "note", title: "Request", show: ({ note }) => note !== null && html`<code><${Text} text=${note} /></code>` },
    ];
    /** @type {import("../parts/data-table.js").Column<Action>} */
    const end = {
        name: "end",
        title: "End",
        fixed: true,
        unsaved: true,
        show: (action) =>
            action.dueAt === null &&
            html`<button type="button" onClick=${() => setEnding({ action, fails: false })}>Complete</button> <button type="button" class="danger" onClick=${() => setEnding({ action, fails: true })}>Fail</button>`,
    };
    return html`<${Loaded} of=${pending}>
            ${(/** @type {{ actions: Action[], hasMore: boolean }} */ { actions, hasMore }) => {
                const driven = actions.some(({ dueAt }) => dueAt === null);
                const waiting = actions.filter(({ dueAt, attempts, requestedAt }) => dueAt === null && attempts === 0 && now - Date.parse(requestedAt) > UNATTENDED_MS);
                const begun = actions.flatMap(({ dueAt, lastAttemptAt }) => (dueAt === null && lastAttemptAt !== null ? now - Date.parse(lastAttemptAt) : []));
                const stalled = begun.filter((since) => since > STALLED_MS);
                return html`${waiting[0] && html`<p class="warning">No provider has begun ${waiting.length} of these actions, the oldest for ${duration(now - Date.parse(waiting[0].requestedAt))}: is <code>deskfleet-provider</code> running?</p>`}
                    ${stalled[0] !== undefined && html`<p class="warning">The last attempt at ${stalled.length} of these actions began long ago, the oldest ${duration(Math.max(...stalled))} ago: is the provider running, under the same <code>--name</code>, and does its web service complete them?</p>`}
                    ${hasMore && html`<p class="note">The ${SHOWN_MAX} oldest.</p>`}
                    <${DataTable} caption="Running actions" file="running" columns=${driven ? [...columns, ...provided, end] : columns} rows=${actions} rowKey=${(/** @type {Action} */ { id }) => id} empty=${EMPTY} />`;
            }}
        <//>
        ${ending && html`<${End} ...${ending} onClose=${() => setEnding(undefined)} onEnded=${() => (setEnding(undefined), pending.reload())} />`}`;
}

/** Asks how an action ended that no clock ends. @param {{ action: Action, fails: boolean, onClose: () => void, onEnded: () => void }} properties */
function End({ action: { id, action, workSpaceId }, fails, onClose, onEnded }) {
    const [error, setError] = useState(/** @type {unknown} */ (undefined));
    const title = `${fails ? "Fail" : "Complete"}: ${actionTitle(action)}`;
    /** @param {SubmitEvent} event */
    const submit = async (event) => {
        event.preventDefault();
        const fields = new FormData(/** @type {HTMLFormElement} */ (event.target));
        try {
            if (fails) await send("POST", `/operator/actions/${id}/fail`, {}, { state: fields.get("state"), detail: fields.get("detail") || null });
            else await send("POST", `/operator/actions/${id}/complete`);
            notify(`${actionTitle(action)} of ${workSpaceId} ${fails ? "has failed" : "is completed"}.`);
            onEnded();
        } catch (failed) {
            setError(failed);
        }
    };
    return html`<${Dialog} open=${true} title=${title} onClose=${onClose}>
        <form class="form" onSubmit=${submit}>
            <p>${fails ? "The action ends now, without success." : "The action ends now, with success: what it asks for must be done."}</p>
            <p>Desktop <code><${Text} text=${workSpaceId} /></code></p>
            ${fails &&
            html`<label>State <select name="state"><option value="ERROR">Error</option><option value="UNHEALTHY">Unhealthy</option></select></label>
                <label>What happened, for the audit <input name="detail" maxlength="256" /></label>`}
            <${Problem} error=${error} />
            <div class="dialog-actions"><button type="button" onClick=${onClose}>Cancel</button><button class=${fails ? "danger" : "primary"}>${fails ? "Fail it" : "Complete it"}</button></div>
        </form>
    <//>`;
}

/** Desktops in a state of transition, for keys that may not read the outbox. */
function InTransition() {
    const query = { state: TRANSITIONS, fields: "workSpId,username,state,transition", limit: SHOWN_MAX };
    const desktops = useResource("transitions", (signal) => get("/query/workspaces", query, signal), { every: EVERY_MS, on: changes });
    /** @type {import("../parts/data-table.js").Column<any>[]} */
    const columns = [
        { name: "transition", title: "Action", show: ({ transition }) => (transition ? actionTitle(transition) : "–") },
        { name: "workSpId", title: "Desktop", show: ({ workSpId }) => desktop({ workSpaceId: workSpId }) },
        { name: "username", title: "User", show: ({ username }) => username && html`<a href=${href("user", username)}><${Text} text=${username} /></a>` },
        { name: "state", title: "State", show: ({ state }) => html`<${State} state=${state} />` },
    ];
    return html`<p class="note">Desktops whose state is about to change. A key of scope <code>admin</code> also sees since when, and when it is due.</p>
        <${Loaded} of=${desktops}>
            ${(/** @type {any} */ { rows, hasMore }) => html`${hasMore && html`<p class="note">The first ${SHOWN_MAX}.</p>`}
                <${DataTable} caption="Desktops in transition" file="running" columns=${columns} rows=${rows} rowKey=${(/** @type {any} */ { workSpId }) => workSpId} empty=${EMPTY} />`}
        <//>`;
}
