// What runs, and what was done: the running actions and the audit.

import { may } from "../session.js";
import { href, route } from "../router.js";
import { html } from "../vendor/preact.js";
import { Newest, Audit } from "./audit-rows.js";
import { Running } from "./running.js";

export default function ActionsAndAudit() {
    const running = route.value.query.tab === "running";
    const audit = may("audit") ? Audit : Newest;
    return html`<div class="head"><h1>Actions and audit</h1></div>
        <nav class="tabs" aria-label="Views">
            <a href=${href("audit")} aria-current=${running ? undefined : "page"}>Audit</a>
            ${may("read") && html`<a href=${href("audit", undefined, { tab: "running" })} aria-current=${running ? "page" : undefined}>Running</a>`}
        </nav>
        <${running ? Running : audit} />`;
}
