// What an open console costs while the fleet changes.

import assert from "node:assert/strict";
import { consoleTest } from "./consoles.mjs";

const FLEET = 20_000;
const CHANGE_BYTES_MAX = 2000;

const ROWS = Array.from({ length: FLEET }, (_, index) => ({
    workSpId: `ws-${String(index).padStart(6, "0")}`,
    computerName: `DESK-${index}`,
    username: `user${index % 9000}`,
    state: index % 3 === 0 ? "STOPPED" : "AVAILABLE",
    runningMode: "AUTO_STOP",
    computeTypeName: "STANDARD",
    region: "eu-central-1",
}));

/** The bytes that a page receives, with their heads. @param {import("puppeteer-core").Page} page */
async function counted(page) {
    const session = await page.createCDPSession();
    await session.send("Network.enable");
    /** Of requests that have not ended, such as the stream of events. @type {Map<string, number>} */
    const open = new Map();
    let ended = 0;
    session.on("Network.dataReceived", ({ requestId, dataLength, encodedDataLength }) => open.set(requestId, (open.get(requestId) ?? 0) + (encodedDataLength || dataLength)));
    session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
        open.delete(requestId);
        ended += encodedDataLength;
    });
    return () => [...open.values()].reduce((sum, bytes) => sum + bytes, ended);
}

consoleTest("one_changed_desktop_costs_an_open_tab_at_most_2_kb", async ({ page, load, show, key, url, context }) => {
    await load(ROWS);
    await show("#/desktops");
    await page.waitForFunction((all) => document.querySelector("main#main").textContent.includes(all), {}, FLEET.toLocaleString("en"));
    await page.waitForSelector(".live.live");
    // The page reads again what its own import changed.
    await page.waitForNetworkIdle({ idleTime: 1500, concurrency: 1 });
    const bytes = await counted(page);
    const costs = [];
    // Some rounds, because the page also asks for the readiness of the server now and then.
    for (const state of ["ERROR", "UNHEALTHY", "STOPPED", "ERROR"]) {
        const before = bytes();
        // From outside the page, whose own bytes are counted.
        const sent = await fetch(new URL("operator/workspaces", url), { method: "POST", headers: { "x-api-key": key, "content-type": "application/x-ndjson" }, body: JSON.stringify({ workSpId: "ws-000001", state }) });
        assert.equal(sent.status, 200);
        const label = state[0] + state.slice(1).toLowerCase();
        await page.waitForFunction((label) => [...document.querySelectorAll(".grid-row")].some(({ textContent }) => textContent.includes("ws-000001") && textContent.includes(label)), {}, label);
        await new Promise((done) => setTimeout(done, 1500));
        costs.push(bytes() - before);
    }
    context.diagnostic(`bytes of a change, of ${FLEET} desktops: ${costs.join(", ")}`);
    assert.ok(Math.min(...costs) > 0 && Math.min(...costs) <= CHANGE_BYTES_MAX, `${costs}`);
}, { transports: ["server"], browsers: ["chromium"] });
