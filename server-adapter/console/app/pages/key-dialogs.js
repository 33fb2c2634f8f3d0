// Issuing a key, and revoking one.

import { host, send } from "../api.js";
import { DAY_MS, ago, time } from "../format.js";
import { ACTIONS } from "../parts/actions.js";
import { Copy } from "../parts/copy.js";
import { Dialog } from "../parts/dialog.js";
import { Problem } from "../parts/problem.js";
import { TASKS } from "../parts/tasks.js";
import { Text } from "../parts/text.js";
import { Typed } from "../parts/typed.js";
import { session } from "../session.js";
import { notify } from "../shell/notices.js";
import { html, useState } from "../vendor/preact.js";

/** @typedef {import("../../../../wasm/js/types.js").IssuedKey} IssuedKey */

const SCOPES = {
    read: "Read everything except keys and older audit entries",
    act: "Act on desktops: reboot, start, rebuild, terminate and the like",
    admin: "Everything: import, holds, keys, the whole audit; includes read and act",
    ingest: "Post telemetry, where the server asks for a key; nothing else",
    audit: "The audit and the holds; nothing else",
};
const LIVES = { 0.5: "12 hours", 30: "30 days", 90: "90 days", 365: "A year", "": "Never" };

const ALL_ACTIONS = ACTIONS.map(({ name }) => name);

/** @param {{ onIssued: () => void, onClose: () => void }} properties */
export function IssueKey({ onIssued, onClose }) {
    const [issued, setIssued] = useState(/** @type {IssuedKey | undefined} */ (undefined));
    return html`<${Dialog} open=${true} title=${issued === undefined ? "Issue a key" : "The key is issued"} onClose=${onClose}>
        ${issued === undefined
            ? html`<${NewKey} onClose=${onClose} onIssued=${(/** @type {IssuedKey} */ key) => (setIssued(key), onIssued())} />`
            : html`<${Secret} issued=${issued} onClose=${onClose} />`}
    <//>`;
}

/** @param {{ onIssued: (key: IssuedKey) => void, onClose: () => void }} properties */
function NewKey({ onIssued, onClose }) {
    const [error, setError] = useState(/** @type {unknown} */ (undefined));
    const [task, setTask] = useState("helpdesk");
    const [scopes, setScopes] = useState(TASKS.helpdesk.scopes);
    const [actions, setActions] = useState(TASKS.helpdesk.actions ?? ALL_ACTIONS);
    const [perHour, setPerHour] = useState("");
    const [region, setRegion] = useState("");
    /** @param {string} name */
    const choose = (name) => {
        const { scopes, actions = ALL_ACTIONS, perHour } = TASKS[name];
        setTask(name);
        setScopes(scopes);
        setActions(actions);
        setPerHour(String(perHour ?? ""));
    };
    const toggled = (/** @type {string[]} */ all, /** @type {string} */ one) => (all.includes(one) ? all.filter((each) => each !== one) : [...all, one]);
    // A key of scope admin has no limits.
    const limited = scopes.includes("act") && !scopes.includes("admin");
    /** @param {SubmitEvent} event */
    const submit = async (event) => {
        event.preventDefault();
        const fields = new FormData(/** @type {HTMLFormElement} */ (event.target));
        const days = fields.get("days");
        if (scopes.length === 0) return setError(new Error("Choose at least one scope."));
        if (limited && actions.length === 0) return setError(new Error("Choose at least one action, or leave the scope act out."));
        const limits = {
            ...(actions.length < ALL_ACTIONS.length ? { actions } : {}),
            ...(region.trim() === "" ? {} : { filter: { region: region.trim() } }),
            ...(perHour === "" ? {} : { destructivePerHour: Number(perHour) }),
        };
        const expires = days === "" ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString();
        try {
            onIssued(await send("POST", "/operator/keys", {}, { name: fields.get("name"), scopes, expires, ...(limited ? limits : {}) }));
        } catch (failed) {
            setError(failed);
        }
    };
    return html`<form class="form" onSubmit=${submit}>
        <label>Name <input name="name" required maxlength="256" autocomplete="off" autofocus /></label>
        <label>For <select name="task" value=${task} onChange=${(/** @type {any} */ event) => choose(event.target.value)}>${Object.entries(TASKS).map(([name, { title }]) => html`<option key=${name} value=${name}>${title}</option>`)}</select></label>
        <details open=${task === "own"}>
            <summary>Permissions: <code>${scopes.join(" ")}</code>${limited && ` · ${actions.length === ALL_ACTIONS.length ? "all actions" : `${actions.length} of ${ALL_ACTIONS.length} actions`}`}</summary>
            <fieldset>
                <legend>Scopes</legend>
                ${Object.entries(SCOPES).map(([scope, what]) => html`<label key=${scope} class="check"><input type="checkbox" name="scope" value=${scope} checked=${scopes.includes(scope)} onChange=${() => (setTask("own"), setScopes(toggled(scopes, scope)))} /><span><code>${scope}</code> <span class="note">${what}</span></span></label>`)}
            </fieldset>
            ${
                limited &&
                html`<fieldset>
                        <legend>Actions</legend>
                        ${ACTIONS.map(({ name, title }) => html`<label key=${name} class="check"><input type="checkbox" name="action" value=${name} checked=${actions.includes(name)} onChange=${() => (setTask("own"), setActions(toggled(actions, name)))} /> ${title}</label>`)}
                    </fieldset>
                    <label>Destructive actions in an hour <input name="perHour" type="number" min="0" placeholder="any number" value=${perHour} onInput=${(/** @type {any} */ event) => setPerHour(event.target.value)} /></label>`
            }
        </details>
        ${limited && html`<label>Only desktops of the region <input name="region" maxlength="256" placeholder="all, or eu-west-1, or in.eu-west-1,eu-central-1" value=${region} onInput=${(/** @type {any} */ event) => setRegion(event.target.value)} /></label>`}
        <label>Expires after
            <select name="days">${["30", "90", "365", "0.5", ""].map((days) => html`<option key=${days} value=${days}>${LIVES[/** @type {keyof typeof LIVES} */ (days)]}</option>`)}</select>
        </label>
        <${Problem} error=${error} />
        <div class="dialog-actions"><button type="button" onClick=${onClose}>Cancel</button><button class="primary">Issue</button></div>
    </form>`;
}

/** @param {{ issued: IssuedKey, onClose: () => void }} properties */
function Secret({ issued: { key, scopes, name }, onClose }) {
    return html`<p>The key <b><${Text} text=${name} /></b>. It is shown only now: put it where the program reads it, such as a secret store.</p>
        <${Copy} text=${key} label="the key" />
        ${host().kind === "server" && html`<p>To try it:</p><${Copy} text=${trial(key, scopes)} label="the curl command" />`}
        <div class="dialog-actions"><button type="button" class="primary" onClick=${onClose}>Done, I saved it</button></div>`;
}

/** A command that a key with these scopes may do. @param {string} key @param {readonly string[]} scopes */
function trial(key, scopes) {
    const at = (/** @type {string} */ path) => new URL(path, document.baseURI.replace(/[?#].*$/, "")).href;
    const begin = `curl -H 'X-Api-Key: ${key}'`;
    if (scopes.includes("read") || scopes.includes("admin")) return `${begin} ${at("query/fleet")}`;
    const json = "-H 'Content-Type: application/json'";
    if (scopes.includes("act")) return `${begin} ${json} -d '{"action":"RebootWorkSpace","workSpaceIds":["ws-1"]}' ${at("query/preview")}`;
    return `${begin} ${json} -d '{"instanceId":"ws-1","processorInUse":12}' ${at("api/Stats/Post")}`;
}

/** @param {{ shown: { id: number, name: string, scopes: string, lastUsed: string | null }, onRevoked: () => void, onClose: () => void }} properties */
export function RevokeKey({ shown: { id, name, scopes, lastUsed }, onRevoked, onClose }) {
    const [error, setError] = useState(/** @type {any} */ (undefined));
    const [agreed, setAgreed] = useState(false);
    const last = error?.code === "LastAdminKey";
    /** @param {SubmitEvent} event */
    const submit = async (event) => {
        event.preventDefault();
        try {
            await send("DELETE", `/operator/keys/${id}`, last ? { force: true } : {});
            notify(`The key ${name} is revoked.`);
            onRevoked();
            onClose();
        } catch (failed) {
            setError(failed);
        }
    };
    return html`<${Dialog} open=${true} title="Revoke a key" onClose=${onClose}>
        <form class="form" onSubmit=${submit}>
            <p>The key <b><${Text} text=${name} /></b> (${scopes}) is refused from now on. What uses it stops working. This cannot be undone.</p>
            <dl class="facts"><dt>Last used</dt><dd>${lastUsed === null ? "never" : `${ago(lastUsed, Date.now())}, ${time(lastUsed)}`}</dd></dl>
            ${id === session.value?.id && html`<p class="problem">This session has this key: you will be signed out.</p>`}
            ${last
                ? html`<p class="problem" role="alert">It is the last key of scope <code>admin</code> that does not expire. Without one nobody can issue keys, import, or place holds over the interface: a new one then comes only from <code>deskfleet keys issue</code> beside the stopped server. Issue another admin key first.</p>
                      <${Typed} word=${name} onChange=${setAgreed} />`
                : html`<${Problem} error=${error} />`}
            <div class="dialog-actions"><button type="button" onClick=${onClose}>Cancel</button><button class="danger" disabled=${last && !agreed}>${last ? "Revoke the last admin key" : "Revoke"}</button></div>
        </form>
    <//>`;
}
