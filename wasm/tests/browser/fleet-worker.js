// A service worker with default options, a first workspace, and a key that the tests know.

import { answerFetches } from "../../pkg/service-worker.js";
import { idsOf } from "./history.js";

const settings = new URLSearchParams(location.search);
const fleet = answerFetches({
    name: "fleet",
    seed: 1,
    base: settings.get("base") ?? "/",
    ...(settings.get("storage") === "broken" && {
        storage: () => {
            throw new TypeError("the storage cannot be made");
        },
    }),
    async onOpen(engine) {
        await engine.putWorkspaces([{ workSpId: "ws-1", username: "jdoe", state: "AVAILABLE" }]);
        globalThis.key ??= (await engine.issueKey({ name: `desk ${crypto.randomUUID()}`, scopes: ["admin"] })).key;
    },
});
/** For the tests: state that only the worker can see. */
addEventListener("message", async ({ data, ports: [port] }) => {
    const engine = await fleet.engine();
    const asked = { key: () => key, persisted: () => engine.persisted(), ids: () => idsOf(engine) };
    port.postMessage(await asked[data]());
});
