// What to do with an empty fleet: load the demo, import desktops, connect an agent.

import { get, host, request } from "../api.js";
import { count } from "../format.js";
import { CopyButton } from "../parts/copy.js";
import { useResource } from "../resource.js";
import { go, href } from "../router.js";
import { may } from "../session.js";
import { html } from "../vendor/preact.js";
import { run, running, sendLines } from "./job.js";
import { Upload } from "./upload.js";

const SEED = 20_261_120;

/** @param {{ desktops: number | undefined, reporting: number | undefined }} properties in the fleet */
export function FirstRun({ desktops, reporting }) {
    return html`${may("admin") &&
        html`<div class="panels">
            ${(desktops === 0 || running.value !== undefined) &&
            html`<section class="panel">
                <h2>Look around in a demo fleet</h2>
                <p>320 desktops of five sites with a working week of statistics, logons, activity and processes, some actions, and three litigation holds.</p>
                <p><button type="button" class="primary" disabled=${running.value !== undefined} onClick=${loadDemo}>Load the demo fleet</button></p>
            </section>`}
            <${Upload} />
        </div>`}
        <${Agent} empty=${desktops === 0} reporting=${reporting} />`;
}

/** Loads the demo fleet, then shows it. */
async function loadDemo() {
    const { demo } = await import("../demo.js");
    const loaded = await run("Loading the demo fleet", async (step, signal) => {
        let records = 0;
        for (const { method, path, query, lines, json, done, of } of demo(SEED, Date.now())) {
            signal.throwIfAborted();
            step(done, of, `${count(records)} records`);
            if (lines !== undefined) {
                await sendLines(path, lines, signal);
                if (path.endsWith("telemetry")) records += lines.length;
            } else await request(method, path, { query, json, signal });
        }
        await host().file?.();
        return `The demo fleet is loaded: ${count(records)} records.`;
    }, "what arrived stays");
    if (loaded) go("overview");
}

/** @param {{ empty: boolean, reporting: number | undefined }} properties */
function Agent({ empty, reporting }) {
    const first = useResource(`first ${empty}`, async (signal) => (await get("/query/workspaces", { limit: 1, fields: "workSpId" }, signal)).rows[0]?.workSpId);
    const id = first.data ?? "ws-1";
    return html`<section class="panel">
        <h2>Connect an agent</h2>
        <p>
            An agent on each desktop posts what it measures; <code>instanceId</code> is the desktop's id or computer name.
            ${host().kind === "server" && html` Where the server asks agents for a key, it must have the scope <code>ingest</code>${may("admin") && html` (<a href=${href("keys")}>issue one</a>)`}.`}
        </p>
        ${(host().kind === "server" ? serverLines(id, empty) : engineLines(id, empty)).map(([title, line]) => html`<${Line} key=${title} title=${title} line=${line} />`)}
        <p class="note" role="status">${reporting ? `● Reported in the last 15 minutes: ${count(reporting)}.` : "◔ No desktop has reported in the last 15 minutes."}</p>
    </section>`;
}

/** A record as an agent posts it, without the time: then that of its arrival counts. @param {string} instanceId */
const stats = (instanceId) => JSON.stringify({ instanceId, processorInUse: 12, physicalMemory: 8589934592, availablePhysicalMemory: 5368709120 });
/** @param {string} workSpId */
const desktop = (workSpId) => JSON.stringify({ workSpId, username: "jdoe", computerName: "WSAMZN-1", state: "AVAILABLE", runningMode: "ALWAYS_ON" });

/** @param {string} id @param {boolean} empty @returns {[string, string][]} */
function serverLines(id, empty) {
    const address = (/** @type {string} */ path) => new URL(path, document.baseURI).href;
    const quoted = (/** @type {string} */ text) => `'${text.replaceAll("'", `'\\''`)}'`;
    const post = quoted(stats(id));
    return [
        ...(empty ? [/** @type {[string, string]} */ (["First a desktop, with a key of scope admin", `curl -H 'X-Api-Key: KEY' -H 'Content-Type: application/x-ndjson' -d ${quoted(desktop(id))} ${address("operator/workspaces")}`])] : []),
        ["curl", `curl -H 'Content-Type: application/json' -d ${post} ${address("api/Stats/Post")}`],
        ["PowerShell", `Invoke-RestMethod -Method Post -ContentType application/json -Body '${stats(id).replaceAll("'", "''")}' ${address("api/Stats/Post")}`],
    ];
}

/** @param {string} id @param {boolean} empty @returns {[string, string][]} */
function engineLines(id, empty) {
    // The page is in a folder of the package, as in `transport/engine.js`.
    const root = new URL("../opfs.js", document.baseURI).href;
    const open = `const { connect } = await import("${root}"); const fleet = await connect({ name: "console.redb" });`;
    const put = empty ? ` await fleet.importWorkspaces([${desktop(id)}]);` : "";
    const post = ` await fleet.fetch(new Request("/api/Stats/Post", { method: "POST", headers: { "content-type": "application/json" }, body: ${JSON.stringify(stats(id))} }));`;
    return [["JavaScript, in a page of this origin or the console of the browser", open + put + post]];
}

/** @param {{ title: string, line: string }} properties */
function Line({ title, line }) {
    return html`<div>
        <div class="row line-title"><h3>${title}</h3><${CopyButton} text=${line} label=${title}>Copy<//></div>
        <pre tabindex="0" aria-label=${title}>${line}</pre>
    </div>`;
}
