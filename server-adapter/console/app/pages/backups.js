// Backups of a server's store.

import { get, send } from "../api.js";
import { bytes, time } from "../format.js";
import { Copy } from "../parts/copy.js";
import { DataTable } from "../parts/data-table.js";
import { Loaded, Problem } from "../parts/problem.js";
import { useResource } from "../resource.js";
import { notify } from "../shell/notices.js";
import { html, useState } from "../vendor/preact.js";

/** @typedef {{ file: string, bytes: number, at: string }} Backup */

const PATH = "/operator/backups";
/** @type {import("../parts/data-table.js").Column<Backup>[]} */
const COLUMNS = [
    { name: "file", title: "File" },
    { name: "at", title: "Begun", show: ({ at }) => time(at) },
    { name: "bytes", title: "Size", number: true, show: ({ bytes: length }) => bytes(length) },
];

export function Backups() {
    const list = useResource("backups", (signal) => get(PATH, {}, signal));
    return html`<section class="panel">
        <h2>Backup</h2>
        <p>A consistent copy of the whole store, in one file, written while the server runs.</p>
        <${Loaded} of=${list}>${(/** @type {any} */ { configured, backups }) => (configured ? html`<${Written} backups=${backups} reload=${list.reload} />` : html`<${ByCommand} />`)}<//>
    </section>`;
}

/** @param {{ backups: Backup[], reload: () => void }} properties */
function Written({ backups, reload }) {
    const [state, setState] = useState(/** @type {{ busy?: boolean, error?: unknown }} */ ({}));
    const write = async () => {
        setState({ busy: true });
        try {
            const { file, bytes: length } = await send("POST", PATH);
            notify(`${file} is written, ${bytes(length)}.`);
            setState({});
        } catch (error) {
            setState({ error });
        }
        reload();
    };
    return html`<div class="row"><button type="button" disabled=${state.busy} onClick=${write}>${state.busy ? "Writing …" : "Write a backup now"}</button></div>
        <${Problem} error=${state.error} />
        <${DataTable} caption="Backups" file="backups" columns=${COLUMNS} rows=${backups} rowKey=${(/** @type {Backup} */ { file }) => file} empty="None is written yet." />`;
}

const ByCommand = () => html`<p>Start the server with <code>--backups FOLDER</code>: then they are written here, and at this signal:</p>
    <${Copy} text="systemctl kill --signal=SIGUSR1 deskfleet" label="the signal" />
    <p>Beside a server that is stopped:</p>
    <${Copy} text="deskfleet backup deskfleet-backup.redb" label="the command" />`;
