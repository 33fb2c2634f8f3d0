// Import and export, and what to do with an empty fleet.

import { get } from "../api.js";
import { FirstRun } from "../import/first-run.js";
import { Running } from "../import/job.js";
import { useResource } from "../resource.js";
import { href, route } from "../router.js";
import { may } from "../session.js";
import { html } from "../vendor/preact.js";

const EVERY_MS = 10_000;

/** @type {[name: string, title: string, scope: string][]} */
const TABS = [
    ["begin", "First steps", "read"],
];

export default function ImportPage() {
    const fleet = useResource("fleet", (signal) => get("/query/fleet", {}, signal), { every: EVERY_MS, on: ({ type }) => type !== "workspace.changed" });
    const desktops = fleet.data?.workSpaces;
    const tabs = TABS.filter(([, , scope]) => may(scope));
    const { tab = desktops === 0 ? "begin" : "import" } = route.value.query;
    const shown = tabs.find(([name]) => name === tab)?.[0] ?? tabs[0][0];
    return html`<div class="head"><h1>Import and export</h1></div>
        <nav class="tabs" aria-label="Import and export">
            ${tabs.map(([name, title]) => html`<a key=${name} href=${href("import", undefined, { tab: name })} aria-current=${name === shown ? "page" : undefined}>${title}</a>`)}
        </nav>
        <${Running} />
        ${shown === "begin" && html`<${FirstRun} desktops=${desktops} reporting=${fleet.data?.reporting15m} />`}`;
}
