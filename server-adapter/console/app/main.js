// The start of the console, over any transport: finds the fleet, signs in, shows the shell.

import { use } from "./api.js";
import { follow } from "./live.js";
import { route } from "./router.js";
import { refused, session, start } from "./session.js";
import { Shell, more } from "./shell/shell.js";
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

/** How long the overview has before the other pages are loaded, so that they open also when the server is gone by then. */
const OTHERS_AFTER_MS = 2000;

/** Starts the console. @param {() => Promise<import("./transport/server.js").Transport>} connect */
export async function run(connect) {
    // The page of the address is loaded while the key is looked at.
    if (route.value.page !== "overview") load();
    try {
        use(await connect(), refused);
        await start();
        follow();
        root.replaceChildren();
        render(html`<${App} />`, root);
        setTimeout(load, OTHERS_AFTER_MS);
    } catch (error) {
        root.replaceChildren(`The console cannot start: ${error instanceof Error ? error.message : error}`);
    }
}

/** Loads the other pages. What cannot be loaded is tried again when a page is opened. */
const load = () => void more().catch(() => {});
