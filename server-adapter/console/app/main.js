// The start of the console, over any transport: finds the fleet, signs in, shows the shell.

import { use } from "./api.js";
import { follow } from "./live.js";
import { PAGES } from "./pages/index.js";
import { route } from "./router.js";
import { refused, session, start } from "./session.js";
import { Shell, dialogs } from "./shell/shell.js";
import { SignIn } from "./shell/sign-in.js";
import { html, render } from "./vendor/preact.js";

const root = /** @type {HTMLElement} */ (document.getElementById("app"));

function App() {
    return session.value === null ? html`<${SignIn} />` : html`<${Shell} />`;
}

// A link that signs in, opened in a tab that shows the console already.
addEventListener("hashchange", () => {
    if (location.hash.startsWith("#code=")) location.reload();
});

/** How long the first page has before the others are loaded. */
const OTHERS_AFTER_MS = 2000;

/** Starts the console. @param {() => Promise<import("./transport/server.js").Transport>} connect */
export async function run(connect) {
    // The page of the address is loaded while the key is looked at.
    void load(PAGES.filter(({ name }) => name === route.value.page));
    try {
        use(await connect(), refused);
        await start();
        follow();
        root.replaceChildren();
        render(html`<${App} />`, root);
        setTimeout(() => void load([{ load: dialogs }, ...PAGES]), OTHERS_AFTER_MS);
    } catch (error) {
        root.replaceChildren(`The console cannot start: ${error instanceof Error ? error.message : error}`);
    }
}

/** Loads pages one after another, so that they open also when the server is gone by then. @param {{ load: () => Promise<unknown> }[]} pages */
async function load(pages) {
    for (const page of pages) {
        // A page that cannot be loaded is tried again when it is opened.
        await page.load().catch(() => {});
        // Safari has no such callback.
        await new Promise((done) => void (globalThis.requestIdleCallback ?? setTimeout)(done));
    }
}
