// What to do with an empty fleet, and the import of desktops.

import { get } from "../api.js";
import { FirstRun } from "../import/first-run.js";
import { Running } from "../import/job.js";
import { useResource } from "../resource.js";
import { html } from "../vendor/preact.js";

const EVERY_MS = 10_000;

export default function ImportPage() {
    const fleet = useResource("fleet", (signal) => get("/query/fleet", {}, signal), { every: EVERY_MS, on: ({ type }) => type === "import.committed" });
    return html`<div class="head"><h1>Import</h1></div>
        <${Running} />
        <${FirstRun} desktops=${fleet.data?.workSpaces} reporting=${fleet.data?.reporting15m} />`;
}
