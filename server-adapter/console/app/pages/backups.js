// Backups of a server's store.

import { get, send } from "../api.js";
import { bytes, time } from "../format.js";
import { Copy } from "../parts/copy.js";
import { Problem } from "../parts/problem.js";
import { Text } from "../parts/text.js";
import { useResource } from "../resource.js";
import { notify } from "../shell/notices.js";
import { html, useState } from "../vendor/preact.js";

const PATH = "/operator/backups";

export function Backups() {
    const list = useResource("backups", (signal) => get(PATH, {}, signal));
    const [state, setState] = useState(/** @type {{ busy?: boolean, error?: unknown }} */ ({}));
    const begin = async () => {
        setState({ busy: true });
        try {
            const { file } = await send("POST", PATH);
            notify(`The backup ${file} is written.`);
            setState({});
            list.reload();
        } catch (error) {
            setState({ error });
        }
    };
    const { configured, backups } = list.data ?? {};
    return html`<section class="panel">
        <h2>Backup</h2>
        <p>A consistent copy of the whole store, in one file, written while the server runs.</p>
        <${Problem} error=${list.error} retry=${list.reload} />
        ${configured === false && html`<${ByCommand} />`}
        ${configured && html`<${Written} backups=${backups} /><div class="row"><button type="button" disabled=${state.busy} onClick=${begin}>${state.busy ? "Writing …" : "Write a backup now"}</button></div>`}
        <${Problem} error=${state.error} />
    </section>`;
}

function ByCommand() {
    return html`<p>The server writes copies if it is started with <code>--backups FOLDER</code>. Beside one that is stopped:</p>
        <${Copy} text="deskfleet backup deskfleet-backup.redb" label="the command" />`;
}

/** @param {{ backups: { file: string, bytes: number, at: string }[] }} properties */
function Written({ backups }) {
    if (backups.length === 0) return html`<p class="note">None is written yet.</p>`;
    return html`<table class="plain">
        <caption class="hidden">Backups</caption>
        <thead><tr><th scope="col">File</th><th scope="col">Written</th><th scope="col" class="number">Size</th></tr></thead>
        <tbody>${backups.map(({ file, bytes: size, at }) => html`<tr key=${file}><td><${Text} text=${file} /></td><td>${time(at)}</td><td class="number">${bytes(size)}</td></tr>`)}</tbody>
    </table>`;
}
