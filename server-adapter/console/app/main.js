// Starts the console: finds the fleet, signs in, shows the shell.

import { use } from "./api.js";
import { connect } from "./host.js";
import { follow } from "./live.js";
import { PAGES } from "./pages/index.js";
import { route } from "./router.js";
import { refused, session, start } from "./session.js";
import { Shell } from "./shell/shell.js";
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

// The page of the address is loaded while the key is looked at.
PAGES.find(({ name }) => name === route.value.page)
    ?.load()
    .catch(() => {});

try {
    use(await connect(), refused);
    await start();
    follow();
    root.replaceChildren();
    render(html`<${App} />`, root);
} catch (error) {
    root.replaceChildren(`The console cannot start: ${error instanceof Error ? error.message : error}`);
}
