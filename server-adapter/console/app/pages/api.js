// Requests by hand, to try the interface.

import { get, host } from "../api.js";
import { ENDPOINTS, SERVER_AREA } from "../endpoints.js";
import { curl, exchange, withoutSecret } from "../exchange.js";
import { useCopy } from "../parts/copy.js";
import { Problem } from "../parts/problem.js";
import { Sign } from "../parts/state.js";
import { useResource } from "../resource.js";
import { session } from "../session.js";
import { notify } from "../shell/notices.js";
import { effect, html, signal, useRef, useState } from "../vendor/preact.js";

/** @typedef {import("../exchange.js").Request} Request */

const SENT_MAX = 20;
const METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE"];

const first = /** @type {import("../endpoints.js").Endpoint} */ (ENDPOINTS.find(({ path }) => path === "/query/fleet"));
const EMPTY = /** @type {Request} */ ({ method: first.method, path: first.path, headers: "", body: "", keyed: true });
/** What is in the form, and what was sent; kept while another page is shown, and never stored. */
const form = signal(EMPTY);
const sent = signal(/** @type {{ id: number, status: number, request: Request }[]} */ ([]));
let number = 0;

// A key may be among the headers: the next person who signs in must not read it.
effect(() => {
    if (session.value !== null) return;
    form.value = EMPTY;
    sent.value = [];
});

/** @param {Partial<Request>} changes */
const change = (changes) => (form.value = { ...form.value, ...changes });

export default function Api() {
    const [busy, setBusy] = useState(false);
    const [answer, setAnswer] = useState(/** @type {import("../exchange.js").Answer | undefined} */ (undefined));
    const [error, setError] = useState(/** @type {unknown} */ (undefined));
    const sending = useRef(/** @type {AbortController | undefined} */ (undefined));
    const send = async () => {
        const { signal } = (sending.current = new AbortController());
        const request = form.value;
        setBusy(true);
        try {
            const received = await exchange(request, signal);
            sent.value = [{ id: ++number, status: received.status, request }, ...sent.value].slice(0, SENT_MAX);
            setAnswer(received);
            setError(undefined);
        } catch (failed) {
            setAnswer(undefined);
            setError(signal.aborted ? new Error("Stopped.") : failed);
        }
        setBusy(false);
    };
    return html`<div class="head">
            <h1>API</h1>
            ${host().kind === "server" && html`<a href="openapi.json">openapi.json</a>`}
        </div>
        <div class="panels api">
            <section class="panel" aria-label="Request"><${Form} busy=${busy} send=${send} stop=${() => sending.current?.abort()} /></section>
            <section class="panel" aria-label="Response">
                <${Problem} error=${error} />
                <${Answer} answer=${answer} />
                <${Sent} />
            </section>
        </div>`;
}

/** An endpoint with the ids of a desktop that there is. @param {import("../endpoints.js").Endpoint} endpoint @param {any} desktop */
function filled({ method, path, body }, desktop) {
    /** @type {Record<string, string>} */
    const values = { workSpId: desktop?.workSpId ?? "ws-1", username: desktop?.username ?? "jdoe", id: "1" };
    const put = (/** @type {string} */ text, /** @type {(value: string) => string} */ as) => text.replaceAll(/\{(workSpId|username|id)\}/g, (_, name) => as(values[name]));
    const example = put(body, (value) => JSON.stringify(value).slice(1, -1));
    // A line for each record.
    const lines = path === "/operator/telemetry";
    const shown = example === "" || lines ? example : JSON.stringify(JSON.parse(example), null, 2);
    const headers = example === "" ? "" : `Content-Type: application/${lines ? "x-ndjson" : "json"}`;
    change({ method, path: put(path, encodeURIComponent), body: shown, headers });
}

/** @param {{ busy: boolean, send: () => void, stop: () => void }} properties */
function Form({ busy, send, stop }) {
    const desktop = useResource("desktop", async (signal) => (await get("/query/workspaces", { limit: 1, fields: "workSpId,username" }, signal)).rows[0]);
    const endpoints = ENDPOINTS.filter(({ area }) => area !== SERVER_AREA || host().kind === "server");
    const areas = [...new Set(endpoints.map(({ area }) => area))];
    const { method, path, headers, body, keyed } = form.value;
    const bare = path.split("?")[0];
    const chosen = endpoints.findIndex((endpoint) => endpoint.method === method && pattern(endpoint.path).test(bare));
    const submit = (/** @type {Event} */ event) => {
        event.preventDefault();
        if (!busy) send();
    };
    const pressed = (/** @type {KeyboardEvent} */ event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
    };
    const [said, copy] = useCopy();
    const copyCurl = () => {
        try {
            void copy(curl(form.value, document.baseURI.replace(/[?#].*$/, "")));
        } catch (error) {
            notify(`Not copied: ${error instanceof Error ? error.message : error}`, "bad");
        }
    };
    return html`<form class="form" onSubmit=${submit} onKeyDown=${pressed}>
        <label>Endpoint
            <select value=${String(chosen)} onChange=${(/** @type {any} */ { target }) => filled(endpoints[target.value], desktop.data)}>
                <option value="-1" disabled>Another</option>
                ${areas.map(
                    (area) => html`<optgroup key=${area} label=${area}>
                        ${endpoints.map((endpoint, index) => endpoint.area === area && html`<option key=${index} value=${String(index)}>${endpoint.method} ${endpoint.path.split("?")[0]}</option>`)}
                    </optgroup>`,
                )}
            </select>
        </label>
        <p class="note">${endpoints[chosen]?.summary ?? "Not in the list."}</p>
        <div class="row ends">
            <label>Method <select value=${method} onChange=${(/** @type {any} */ { target }) => change({ method: target.value })}>${METHODS.map((each) => html`<option key=${each}>${each}</option>`)}</select></label>
            <label class="grows">Path <input class="mono" required spellcheck=${false} autocomplete="off" autocapitalize="off" value=${path} onInput=${(/** @type {any} */ { target }) => change({ path: target.value })} /></label>
        </div>
        <label>Headers, one a line <textarea rows="2" spellcheck=${false} value=${headers} onInput=${(/** @type {any} */ { target }) => change({ headers: target.value })}></textarea></label>
        ${method !== "GET" && method !== "HEAD" && html`<label>Body <textarea rows="8" spellcheck=${false} value=${body} onInput=${(/** @type {any} */ { target }) => change({ body: target.value })}></textarea></label>`}
        <label class="check"><input type="checkbox" checked=${keyed} onChange=${() => change({ keyed: !keyed })} /> With the key of this session</label>
        <div class="row">
            <button class="primary" disabled=${busy}>Send</button>
            ${busy && html`<button type="button" onClick=${stop}>Stop</button>`}
            ${host().kind === "server" && html`<button type="button" class="quiet" title="With $KEY in place of the key" onClick=${copyCurl}>Copy as curl</button>`}
            <span class="note">Ctrl+Enter sends. Requests run without confirmation.</span>
            <span role="status">${said}</span>
        </div>
    </form>`;
}

/** Paths that an endpoint of the list stands for. @param {string} path */
function pattern(path) {
    const [bare] = path.split("?");
    return new RegExp(`^${bare.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`);
}

/** @param {{ answer: import("../exchange.js").Answer | undefined }} properties */
function Answer({ answer }) {
    if (answer === undefined) return html`<h2>Response</h2><p class="note" role="status">Nothing was received yet.</p>`;
    const { status, milliseconds, headers, body, cut } = answer;
    const good = status < 400;
    return html`<h2>Response</h2>
        <p role="status"><${Sign} tone=${good ? "good" : "bad"} glyph=${good ? "✔" : "✖"}><b>${status}</b><//> after ${milliseconds.toFixed(1)} ms</p>
        <pre tabindex="0" role="group" aria-label="Headers of the response">${headers}</pre>
        <pre tabindex="0" role="group" aria-label="Body of the response" class="body">${body}</pre>
        ${cut && html`<p class="note">The rest is not shown.</p>`}`;
}

function Sent() {
    return html`<h3>Sent before</h3>
        ${sent.value.length === 0 && html`<p class="note">The last ${SENT_MAX} requests are listed here, until the page is left; each can be taken back into the form.</p>`}
        <ol class="sent">
            ${sent.value.map(({ id, status, request }) => html`<li key=${id}><button type="button" class="quiet mono" onClick=${() => (form.value = request)}>${status} ${request.method} ${withoutSecret(request.path)}</button></li>`)}
        </ol>`;
}
