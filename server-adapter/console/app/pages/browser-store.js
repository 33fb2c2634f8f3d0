// The store of an engine in the browser: whether it is kept, filed now, or wiped.

import { host } from "../api.js";
import { bytes, count } from "../format.js";
import { Dialog } from "../parts/dialog.js";
import { Typed } from "../parts/typed.js";
import { useResource } from "../resource.js";
import { notify } from "../shell/notices.js";
import { html, useState } from "../vendor/preact.js";

/** @param {{ onChanged: () => void }} properties */
export function BrowserStore({ onChanged }) {
    const [busy, setBusy] = useState(false);
    const [wiping, setWiping] = useState(false);
    const kept = useResource("kept", async () => ({ persisted: await navigator.storage.persisted(), ...(await navigator.storage.estimate()) }));
    /** @param {() => Promise<string>} work says what was done */
    const during = async (work) => {
        setBusy(true);
        try {
            notify(await work());
        } catch (error) {
            notify(error instanceof Error ? error.message : String(error), "bad");
        }
        setBusy(false);
        kept.reload();
        onChanged();
    };
    const file = async () => `${count(await host().file?.())} records were filed.`;
    const keep = async () => ((await navigator.storage.persist()) ? "The browser keeps the data until you delete it." : "The browser refused: it may delete the data when the disk is full. Until then it is kept, also when the browser is closed.");
    const { persisted, usage, quota } = kept.data ?? {};
    return html`<section class="panel">
        <h2>This browser</h2>
        <p>The fleet is a file of this browser, for this address. Nothing leaves this machine.</p>
        <dl class="facts">
            <dt>Kept</dt><dd>${persisted ? "until you delete it" : "until the browser needs the space"}</dd>
            <dt>Used</dt><dd>${bytes(usage)} of ${bytes(quota)}</dd>
        </dl>
        <div class="row">
            <button type="button" disabled=${busy} onClick=${() => during(file)}>File the queue now</button>
            <button type="button" disabled=${busy || persisted} onClick=${() => during(keep)}>Keep the data</button>
            <button type="button" class="danger" disabled=${busy} onClick=${() => setWiping(true)}>Wipe the fleet</button>
        </div>
        ${wiping && html`<${Wipe} onClose=${() => setWiping(false)} />`}
    </section>`;
}

const WORD = "wipe";

/** @param {{ onClose: () => void }} properties */
function Wipe({ onClose }) {
    const [agreed, setAgreed] = useState(false);
    const [busy, setBusy] = useState(false);
    /** @param {SubmitEvent} event */
    const submit = async (event) => {
        event.preventDefault();
        setBusy(true);
        try {
            await host().wipe?.();
            // The keys are gone too: the page starts again, with a new one.
            sessionStorage.clear();
            location.reload();
        } catch (error) {
            notify(error instanceof Error ? error.message : String(error), "bad");
            onClose();
        }
    };
    return html`<${Dialog} open=${true} title="Wipe the fleet" onClose=${onClose}>
        <form class="form" onSubmit=${submit}>
            <p>Deletes all desktops, their telemetry, the audit and the keys from this browser, in all tabs. This cannot be undone.</p>
            <${Typed} word=${WORD} onChange=${setAgreed} />
            <div class="dialog-actions"><button type="button" onClick=${onClose}>Cancel</button><button class="danger" disabled=${!agreed || busy}>Wipe</button></div>
        </form>
    <//>`;
}
