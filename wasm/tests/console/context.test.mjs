// The time range and the scope of all pages, and the way from a number to the desktops behind it.

import assert from "node:assert/strict";
import { consoleTest } from "./consoles.mjs";

const HOUR = 3_600_000;
const FLEET = Array.from({ length: 12 }, (_, index) => ({
    workSpId: `ws-${String(index).padStart(2, "0")}`,
    computerName: `DESK-${index}`,
    username: `user${index}`,
    state: index % 4 === 0 ? "STOPPED" : "AVAILABLE",
    runningMode: "AUTO_STOP",
    computeTypeName: index < 6 ? "STANDARD" : "POWER",
    region: index % 2 === 0 ? "eu-central-1" : "us-east-1",
    directoryId: index < 3 ? "d-1" : "d-2",
}));
const at = (hours, minutes = 5) => new Date(Math.floor(Date.now() / HOUR) * HOUR - hours * HOUR + minutes * 60_000).toISOString();

/** Posts telemetry and waits until it is filed. */
async function filed({ page, report, request }, lines, path, enough) {
    const { errors = [] } = await report(lines);
    assert.deepEqual(errors, []);
    for (let tries = 0; tries < 200; tries++) {
        await page.evaluate(async () => (await import(new URL("app/api.js", document.baseURI).href)).host().file?.());
        if (enough(await request("GET", path))) return;
        await new Promise((done) => setTimeout(done, 250));
    }
    assert.fail(`not filed: ${JSON.stringify(await request("GET", path))}`);
}

const rowCount = (page, number) => page.waitForFunction((number) => document.querySelector(".grid")?.getAttribute("aria-rowcount") === String(number + 1), {}, number);
const press = (page, text, within = "") => page.locator(`::-p-xpath(${within}//button[contains(normalize-space(), "${text}")])`).click();
const hashHas = (page, part) => page.waitForFunction((part) => location.hash.includes(part), {}, part);
const back = (page) => page.evaluate(() => history.back());

consoleTest("range_and_scope_stay_on_all_pages_and_back_undoes_them", async ({ page, load, show, passesAxe }) => {
    await load(FLEET);
    await show("#/logons");
    await press(page, "7 days", "//header");
    await page.waitForSelector(".popover-panel");
    await passesAxe();
    // Esc closes it and gives the focus back.
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.querySelector(".popover-panel") === null && document.activeElement.textContent.includes("7 days"));
    await page.keyboard.press("Enter");
    await press(page, "24 hours", "//header");
    await hashHas(page, "from=-24h");
    await press(page, "Whole fleet", "//header");
    await page.waitForFunction(() => document.querySelectorAll(".popover-panel option").length > 4);
    await page.select(".popover-panel select[name=region]", "eu-central-1");
    await hashHas(page, "region=eu-central-1");
    await page.keyboard.press("Escape");
    await page.locator("nav a[href^='#/desktops']").click();
    await rowCount(page, 6);
    assert.match(await page.evaluate(() => location.hash), /from=-24h&region=eu-central-1/);
    await page.locator("nav a[href^='#/activity']").click();
    await page.waitForFunction(() => /Not filtered by eu-central-1/.test(document.querySelector("main").textContent));
    await passesAxe();
    await back(page);
    await rowCount(page, 6);
    await page.locator(".states button").click();
    await hashHas(page, "state=");
    await rowCount(page, 3);
    await back(page);
    await page.waitForFunction(() => !location.hash.includes("state="));
    await rowCount(page, 6);
    await back(page);
    await hashHas(page, "#/logons");
});

consoleTest("own_range_is_of_24_hours_in_the_shown_zone", async ({ page, load, show }) => {
    await load(FLEET);
    await page.evaluate(async () => void ((await import(new URL("app/preferences.js", document.baseURI).href)).utc.value = true));
    await show("#/logons");
    await press(page, "7 days", "//header");
    await page.locator(".own-range input[name=from]").fill("2026-03-01 18:30");
    await page.locator(".own-range input[name=to]").fill("2026-03-01 17:00");
    await press(page, "Apply");
    await page.waitForFunction(() => /after the start/.test(document.querySelector(".own-range [role=alert]")?.textContent));
    await page.locator(".own-range input[name=to]").fill("2026-03-02 06:00");
    await press(page, "Apply");
    await hashHas(page, "from=2026-03-01T18%3A30%3A00.000Z&to=2026-03-02T06%3A00%3A00.000Z");
    assert.match(await page.$eval(".context", ({ textContent }) => textContent), /2026-03-01 18:30 – 2026-03-02 06:00 UTC/);
});

consoleTest("chart_is_zoomed_by_dragging_and_by_the_keys", async (given) => {
    const { page, load, show } = given;
    await load(FLEET);
    const startup = [1, 3, 5, 7, 9].map((hours) => ({ startup: { instanceId: "ws-01", username: "user1", baselineUtc: at(hours), profileMs: 1000, groupPolicyMs: 2000, shellMs: 500, totalMs: 4000 } }));
    await filed(given, startup, "/query/startup", ({ rows }) => rows.reduce((sum, { count }) => sum + count, 0) === 5);
    await show("#/logons?from=-24h", ".chart .reader");
    const { x, y, width, height } = await (await page.$(".chart .reader")).boundingBox();
    await page.mouse.move(x + width / 2, y + height / 2);
    // The other chart shows the same time.
    await page.waitForFunction(() => document.querySelectorAll(".chart .cross").length === 2);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.75, y + height / 2, { steps: 4 });
    await page.mouse.up();
    await hashHas(page, "to=2");
    const hours = await page.evaluate(() => {
        const query = new URLSearchParams(location.hash.split("?")[1]);
        return (Date.parse(query.get("to")) - Date.parse(query.get("from"))) / 3_600_000;
    });
    assert.ok(Math.abs(hours - 6) < 1, `a quarter of a day, and not ${hours} hours`);
    await back(page);
    await hashHas(page, "from=-24h");
    await page.waitForSelector(".chart .reader");
    await page.focus(".chart .reader");
    await page.keyboard.down("Shift");
    for (let steps = 0; steps < 3; steps++) await page.keyboard.press("ArrowLeft");
    await page.keyboard.up("Shift");
    await page.waitForSelector(".chart .selection");
    await page.keyboard.press("Enter");
    await hashHas(page, "to=2");
});

consoleTest("numbers_open_the_desktops_behind_them", async (given) => {
    const { page, load, show, passesAxe } = given;
    await load(FLEET);
    const reports = FLEET.slice(0, 5).flatMap(({ workSpId, username }, index) => [
        { processes: { instanceId: workSpId, username, createdDate: at(2, index), processes: [{ processName: index < 3 ? "teams.exe" : "excel.exe", processorUsage: 10 + index, memoryUsage: 1024 }] } },
        { activity: { instanceId: workSpId, username, activity: "Lock", activityTime: at(2, index) } },
    ]);
    await filed(given, reports, "/query/processes", ({ rows }) => rows.length === 2);
    await show("#/processes", ".number-link");
    await page.locator(`::-p-xpath(//tr[contains(., "teams.exe")]//button)`).click();
    await page.waitForFunction(() => document.querySelectorAll("dialog tbody tr").length === 3);
    assert.match(await page.$eval("dialog tbody tr", ({ textContent }) => textContent), /ws-02.*12\.0 %/);
    // It may run there no more.
    assert.equal(await page.$eval("dialog h2", ({ textContent }) => textContent), "Desktops that ran teams.exe");
    for (const theme of ["light", "dark"]) await passesAxe(theme);
    await page.locator("dialog a.button").click();
    await rowCount(page, 3);
    await show("#/activity", "table.heat td[tabindex='0']");
    await page.evaluate(() => [...document.querySelectorAll("table.heat tbody td")].find(({ textContent }) => textContent === "5").click());
    await page.waitForFunction(() => document.querySelectorAll("dialog tbody tr").length === 5);
});

consoleTest("desktops_are_filtered_by_figures_as_the_interface_does", async ({ page, load, report, request, show }) => {
    await load(FLEET);
    const stats = (index, cpu, minutes) => ({ stats: { instanceId: FLEET[index].workSpId, processorInUse: cpu, physicalMemory: 100, availablePhysicalMemory: 40, updatetime: new Date(Date.now() - minutes * 60_000).toISOString() } });
    await report([stats(0, 97, 1), stats(1, 70, 1), stats(2, 85, 120), stats(3, 10, 1)]);
    for (let rows = []; rows.length < 4; ) ({ rows } = await request("GET", "/query/workspaces", { query: { lastSeen: "ne.null" } }));
    for (const query of [{ cpu: "gt.80" }, { cpu: "ge.70,lt.90" }, { cpu: "null" }, { lastSeen: "lt.-1h" }, { lastSeen: "null" }, { memory: "le.60" }, { directoryId: "d-1" }, { username: "USER3" }, { workSpId: "in.ws-01,ws-03" }]) {
        const { rows } = await request("GET", "/query/workspaces", { query });
        await show(`#/desktops?${new URLSearchParams(query)}`);
        await rowCount(page, rows.length).catch((error) => assert.fail(`${JSON.stringify(query)}: ${rows.length}: ${error.message}`));
    }
    await show("#/desktops?cpu=gt.80");
    await page.waitForFunction(() => /high/.test(document.querySelector(".level.bad")?.textContent), {}, "a high figure is told by a word as well");
});

consoleTest("table_selects_copies_and_keeps_the_id_in_view", async ({ page, load, show, passesAxe, browser }) => {
    await load(FLEET);
    await page.setViewport({ width: 900, height: 700 });
    await show("#/desktops");
    await rowCount(page, 12);
    await page.locator(".heading .tick").click();
    await page.waitForFunction(() => /^12 selected/.test(document.querySelector(".bulk")?.textContent));
    await page.locator(".heading .tick").click();
    await page.waitForFunction(() => document.querySelector(".bulk") === null);
    await page.evaluate(() => void (document.querySelector(".grid").scrollLeft = 400));
    const left = await page.evaluate(() => document.querySelector(".grid-body [role=gridcell]").getBoundingClientRect().left - document.querySelector(".grid").getBoundingClientRect().left);
    assert.ok(left < 40, `the id is at ${left}`);
    await page.evaluate(() => void (document.querySelector(".grid").scrollLeft = 0));
    await page.locator(".grid-body .grid-row:nth-child(1) .tick").click();
    await page.keyboard.down("Shift");
    await page.locator(".grid-body .grid-row:nth-child(4) [role=gridcell]:nth-child(3)").click();
    await page.keyboard.up("Shift");
    await page.waitForFunction(() => /^4 selected/.test(document.querySelector(".bulk")?.textContent));
    assert.equal(await page.evaluate(() => getSelection().toString()), "");
    // Ctrl C copies the focused cell: what the page gave to the clipboard is read at the event.
    await page.evaluate(() => document.addEventListener("copy", ({ clipboardData }) => void (globalThis.copied = clipboardData.getData("text/plain"))));
    await page.keyboard.down("Control");
    // Chromium takes a key of its driver for a command only if that names it.
    await page.keyboard.press("c", browser === "chromium" ? { commands: ["copy"] } : {});
    await page.keyboard.up("Control");
    await page.waitForFunction(() => /Available/.test(globalThis.copied));
    // A menu closes at a click beside it.
    await press(page, "Columns");
    await page.waitForSelector(".popover-panel");
    await page.locator("main h1").click();
    await page.waitForFunction(() => document.querySelector(".popover-panel") === null);
    await page.setViewport({ width: 390, height: 800 });
    await page.waitForSelector(".grid.cards");
    assert.match(await page.$eval(".grid-body .grid-row", ({ textContent }) => textContent), /ws-00.*user0/);
    await passesAxe();
});
