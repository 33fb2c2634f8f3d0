// Every page: without violations of accessibility in both themes, not wider than a narrow screen, silent about hostile names.
//
// With DESKFLEET_SCREENSHOTS=FOLDER a picture of each is written there: light and dark, wide and narrow.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { consoleTest } from "./consoles.mjs";

const HOSTILE = [`<img src=x onerror="document.title='hostile'">`, "\u202Egnp.exe", "javascript:alert(1)", "=cmd|' /C calc'!A0", "x".repeat(300)];
const SCREENSHOTS = process.env.DESKFLEET_SCREENSHOTS;

/** A fleet with something on each page, and names that try to act. */
async function fill({ load, report, request }) {
    const states = ["AVAILABLE", "STOPPED", "UNHEALTHY", "ERROR", "MAINTENANCE"];
    const desktop = (index) => ({
        workSpId: `ws-${index}`,
        computerName: HOSTILE[index % HOSTILE.length],
        username: index === 0 ? "jdoe" : `user${index}`,
        state: states[index % states.length],
        runningMode: "ALWAYS_ON",
        computeTypeName: index === 2 ? HOSTILE[0] : "STANDARD",
        region: "eu-central-1",
    });
    await load(Array.from({ length: 30 }, (_, index) => desktop(index)));
    const minutes = (count) => new Date(Date.now() - count * 60_000).toISOString();
    const records = Array.from({ length: 60 }, (_, index) => ({ stats: { updatetime: minutes(index * 30), instanceId: `ws-${index % 10}`, username: "jdoe", processorInUse: 20 + index, physicalMemory: 100, availablePhysicalMemory: 60 } }));
    records.push({ startup: { updateTime: minutes(90), instanceId: "ws-0", username: "jdoe", profileMs: 1200, groupPolicyMs: 900, shellMs: 700, totalMs: 3100 } });
    records.push({ activity: { activityTime: minutes(80), instanceId: "ws-0", username: "jdoe", activity: "Logon" } });
    records.push({ processes: { updateTime: minutes(70), instanceId: "ws-0", username: "jdoe", processes: [{ processName: HOSTILE[0], processorUsage: 12, memoryUsage: 300, processCount: 1 }] } });
    const { rejected, errors } = await report(records);
    assert.equal(rejected, 0, JSON.stringify(errors));
    await request("PUT", "/operator/workspaces/ws-1/litigation-hold", { json: { matter: HOSTILE[0], reason: HOSTILE[1] } });
    await request("POST", "/api/Actions/RebootWorkSpace", { query: { workSpaceId: "ws-0", requester: HOSTILE[0] } });
}

/** What makes the page wider than the window, if anything does. */
function beyond() {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const scrolls = (element) => element !== null && (getComputedStyle(element).overflowX !== "visible" || scrolls(element.parentElement));
    const wide = [...document.querySelectorAll("main *")].filter((element) => element.getBoundingClientRect().right > clientWidth + 1 && !scrolls(element.parentElement));
    return [`${scrollWidth}`, ...wide.slice(0, 12).map((element) => `${Math.round(element.getBoundingClientRect().width)} ${element.outerHTML.slice(0, 160)}`)];
}

consoleTest("every_page_is_accessible_and_shows_hostile_names_as_text", async (given) => {
    const { page, show, passesAxe, transport, browser } = given;
    await fill(given);
    const names = await page.evaluate(async () => (await import(new URL("app/pages/index.js", document.baseURI).href)).PAGES.map(({ name }) => name));
    assert.ok(names.length >= 13);
    const places = names.flatMap((name) => (name === "desktop" ? ["desktop/ws-0", "desktop/ws-1"] : name === "user" ? ["user", "user/jdoe"] : [name]));
    const wide = [];
    for (const place of places) {
        await show(`#/${place}`);
        await page.waitForFunction(() => document.querySelector("main#main .loading") === null && document.querySelector("main#main h1") !== null);
        for (const theme of ["light", "dark"]) {
            await passesAxe(theme);
            for (const [width, height] of [[1280, 860], [1024, 768], [320, 640]]) {
                await page.setViewport({ width, height });
                // Charts are drawn anew after a change of width.
                await page.waitForFunction(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth, { timeout: 3000 }).catch(() => {});
                wide.push(...(await page.evaluate(beyond)).map((element) => `${place}, ${width} pixels: ${element}`));
                if (SCREENSHOTS !== undefined) {
                    mkdirSync(SCREENSHOTS, { recursive: true });
                    await page.screenshot({ path: path.join(SCREENSHOTS, `${place.replace("/", "-")}-${width}-${theme}-${transport}-${browser}.png`) });
                }
            }
            await page.setViewport({ width: 1280, height: 860 });
        }
    }
    assert.deepEqual(wide, []);
    assert.match(await page.title(), /deskfleet$/);
    assert.equal(await page.evaluate(() => document.querySelectorAll("img[src=x]").length), 0);
});
