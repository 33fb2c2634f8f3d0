// The frame around every page: menu, live state, search, and where errors of a page are shown.

import { host } from "../api.js";
import { help, isAsked, palette, person } from "../asked.js";
import { live } from "../live.js";
import { PAGES } from "../pages/index.js";
import Overview from "../pages/overview.js";
import { Icon } from "../parts/icon.js";
import { Skeleton } from "../parts/problem.js";
import { Text } from "../parts/text.js";
import { requester, theme } from "../preferences.js";
import { useResource } from "../resource.js";
import { href, route } from "../router.js";
import { may, signOut } from "../session.js";
import { html, useEffect, useErrorBoundary, useState } from "../vendor/preact.js";
import { Context, NotInScope } from "./context.js";
import { useKeys } from "./keys.js";
import { Notices, notify } from "./notices.js";

const LIVE = {
    connecting: { glyph: "◔", text: "Connecting" },
    live: { glyph: "●", text: "Live" },
    lost: { glyph: "✖", text: "No connection. Retrying …" },
};

export function Shell() {
    useKeys();
    const [menu, setMenu] = useState(false);
    const { page: name } = route.value;
    const page = PAGES.find((each) => each.name === name);
    useEffect(() => setMenu(false), [route.value]);
    return html`<a class="skip" href="#main" onClick=${toMain}>Skip to content</a>
        <header class="bar">
            <button type="button" class="quiet menu-button" aria-expanded=${menu} aria-controls="menu" onClick=${() => setMenu(!menu)}>☰ <span class="hidden">Menu</span></button>
            <a class="brand" href=${href("overview")}><img src="app/icon.svg" alt="" width="22" height="22" /> deskfleet</a>
            <span class="place">${host().place}</span>
            ${may("read") && html`<${LiveState} />`}
            ${host().kind === "server" && html`<${Simulated} />`}
            <${Context} />
            <button type="button" class="find" onClick=${() => (palette.value = true)}>Search <kbd>Ctrl K</kbd></button>
            <${Settings} />
        </header>
        <div class="frame">
            <nav id="menu" class=${menu ? "menu open" : "menu"} aria-label="Pages"><${Menu} shown=${name} /></nav>
            <main id="main" tabindex="-1"><${NotInScope} /><${Content} key=${name} page=${page} /></main>
        </div>
        <${Notices} /><${Dialogs} />`;
}

/** Loads the pages but the overview, and what is shown over a page. @returns {Promise<Record<string, any>>} */
export const more = () => import("../pages/more.js");

/** The dialogs, from the first one that is asked for. */
function Dialogs() {
    const [loaded, setLoaded] = useState(/** @type {{ of: any } | undefined} */ (undefined));
    const asked = isAsked();
    useEffect(() => {
        if (asked) more().then((module) => setLoaded({ of: module.Dialogs }), (error) => notify(`This part of the console cannot be loaded: ${error.message}`, "bad"));
    }, [asked]);
    return loaded && html`<${loaded.of} />`;
}

/** @param {MouseEvent} event */
function toMain(event) {
    event.preventDefault();
    document.getElementById("main")?.focus();
}

function LiveState() {
    const { glyph, text } = LIVE[/** @type {keyof typeof LIVE} */ (live.value)];
    return html`<span class="live ${live.value}" role="status"><span aria-hidden="true">${glyph}</span> ${text}</span>`;
}

/** Says of a fleet whose actions the clock ends that nothing happens to a desktop. */
function Simulated() {
    const ready = useResource("ready", async (signal) => (await host().fetch("/readyz", { signal })).text());
    const simulated = /^simulated: .*/m.exec(ready.data ?? "");
    return simulated && html`<span class="tag" title=${simulated[0]}>Simulated</span>`;
}

/** @param {{ shown: string }} properties */
function Menu({ shown }) {
    const pages = PAGES.filter(({ group, scope }) => group !== "" && may(scope));
    const groups = [...new Set(pages.map(({ group }) => group))];
    return groups.map(
        (group) => html`<section key=${group}>
            <h2>${group}</h2>
            <ul>
                ${pages
                    .filter((page) => page.group === group)
                    .map(({ name, title }) => html`<li key=${name}><a href=${href(name)} aria-current=${name === shown ? "page" : undefined}><${Icon} name=${name} />${title}</a></li>`)}
            </ul>
        </section>`,
    );
}

/** @type {Record<string, string>} */
const THEMES = { auto: "as the system", light: "light", dark: "dark" };

function nextTheme() {
    const names = Object.keys(THEMES);
    theme.value = names[(names.indexOf(theme.value) + 1) % names.length];
}

function Settings() {
    return html`<div class="settings">
        <button type="button" class="quiet" title=${`Colours: ${THEMES[theme.value]}`} aria-label=${`Colours: ${THEMES[theme.value]}`} onClick=${nextTheme}><${Icon} name="theme" /></button>
        <${Person} />
        <button type="button" class="quiet" aria-label="Help" onClick=${() => (help.value = true)}>?</button>
        ${host().kind === "server" && html`<button type="button" class="quiet" onClick=${signOut}>Sign out</button>`}
    </div>`;
}

/** The name in the bar. */
function Person() {
    const name = requester.value || "No name";
    return html`<button type="button" class="quiet person" title="Your name, and what your key may do" onClick=${() => (person.value = true)}><span class="initials" aria-hidden="true">${initials(requester.value)}</span><span class="name"><${Text} text=${name} /></span></button>`;
}

/** @param {string} name */
const initials = (name) => name.split(/\s+/).slice(0, 2).map(([first = ""]) => first.toUpperCase()).join("") || "–";

/** Whether a page was shown before. */
let another = false;

/** @param {{ page: import("../pages/index.js").Page | undefined }} properties */
function Content({ page }) {
    const [loaded, setLoaded] = useState(/** @type {{ page: any } | undefined} */ (page?.name === "overview" ? { page: Overview } : undefined));
    const [failed, retry] = useErrorBoundary();
    const [missing, setMissing] = useState(/** @type {Error | undefined} */ (undefined));
    useEffect(() => {
        document.title = page === undefined ? "deskfleet" : `${page.title} · deskfleet`;
        if (page !== undefined && loaded === undefined) more().then((module) => setLoaded({ page: module[page.name] }), setMissing);
        // A page that was opened from another takes the focus, so that the keyboard and screen readers go on there.
        if (another) document.getElementById("main")?.focus({ preventScroll: true });
        another = true;
    }, [page]);
    if (page === undefined) return html`<h1>There is no such page</h1><p><a href=${href("overview")}>To the overview</a></p>`;
    if (!may(page.scope)) return html`<h1>${page.title}</h1><p class="problem">This key lacks the permission <code>${page.scope}</code>.</p><${Allowed} />`;
    const error = failed ?? missing;
    if (error) return html`<h1>${page.title}</h1><${Failure} error=${error} retry=${() => (missing ? location.reload() : retry())} />`;
    return loaded === undefined ? html`<${Skeleton} />` : html`<${loaded.page} />`;
}

/** What this key may open instead. */
function Allowed() {
    const pages = PAGES.filter(({ group, scope }) => group !== "" && may(scope));
    return html`<p>It may open: ${pages.map(({ name, title }, index) => html`${index > 0 && ", "}<a key=${name} href=${href(name)}>${title}</a>`)}.</p>`;
}

/** @param {{ error: Error, retry: () => void }} properties */
function Failure({ error, retry }) {
    return html`<div class="problem" role="alert"><p>The page failed: ${error.message}</p><button type="button" onClick=${retry}>Retry</button></div>`;
}
