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
            await send("POST", PATH);
            notify("The backup is being written.");
            setState({});
            list.reload();
        } catch (error) {
            setState({ error });
        }
    };
    const error = /** @type {any} */ (list.error);
    // An older server, or one without a folder for them.
    const refused = error !== undefined && error.status >= 400 && error.status < 500;
    return html`<section class="panel">
        <h2>Backup</h2>
        <p>A consistent copy of the whole store, in one file, written while the server runs.</p>
        ${refused ? html`<${ByCommand} reason=${error.status === 404 ? "" : error.message} />` : html`<${Problem} error=${error} retry=${list.reload} />`}
        ${list.data !== undefined && html`<${Written} backups=${list.data.backups} /><div class="row"><button type="button" disabled=${state.busy} onClick=${begin}>Write a backup now</button></div>`}
        <${Problem} error=${state.error} />
    </section>`;
}

/** @param {{ reason: string }} properties */
function ByCommand({ reason }) {
    return html`${reason !== "" && html`<p class="note">${reason}</p>`}
        <p>The server writes copies if it was started with <code>--backups FOLDER</code>, at this signal:</p>
        <${Copy} text="systemctl kill --signal=SIGUSR1 deskfleet" label="the command" />
        <p>Beside a server that is stopped:</p>
        <${Copy} text="deskfleet backup deskfleet-backup.redb" label="the command" />`;
}

/** @param {{ backups: { name: string, bytes: number, at: string }[] }} properties */
function Written({ backups }) {
    if (backups.length === 0) return html`<p class="note">None is written yet.</p>`;
    return html`<table class="plain">
        <caption class="hidden">Backups</caption>
        <thead><tr><th scope="col">File</th><th scope="col">Written</th><th scope="col" class="number">Size</th></tr></thead>
        <tbody>${backups.map(({ name, bytes: size, at }) => html`<tr key=${name}><td><${Text} text=${name} /></td><td>${time(at)}</td><td class="number">${bytes(size)}</td></tr>`)}</tbody>
    </table>`;
}
