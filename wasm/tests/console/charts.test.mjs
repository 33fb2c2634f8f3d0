// Charts, and the pages of insight: logons, activity, processes, advice.

import assert from "node:assert/strict";
import { consoleTest } from "./consoles.mjs";

const HOUR = 3_600_000;
const HOSTILE = '<img src=x onerror="document.title=1">\u202egpj.exe';

const FLEET = Array.from({ length: 6 }, (_, index) => ({
    workSpId: `ws-${index}`,
    computerName: `DESK-${index}`,
    username: index === 1 ? HOSTILE : `user${index}`,
    state: "AVAILABLE",
    runningMode: "AUTO_STOP",
    computeTypeName: index < 3 ? "STANDARD" : "VALUE",
    region: index % 2 === 0 ? "eu-central-1" : "us-east-1",
}));

const at = (/** @type {number} */ hours, minutes = 0) => new Date(Math.floor(Date.now() / HOUR) * HOUR - hours * HOUR + minutes * 60_000).toISOString();

/** Posts telemetry and waits until it is filed, as charts are of what is filed. */
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

/** The rows of the CSV that a button saves, by their columns. */
async function saved(page, button) {
    const text = await page.evaluate(async (button) => {
        const save = URL.createObjectURL;
        const click = HTMLAnchorElement.prototype.click;
        let text;
        URL.createObjectURL = (blob) => ((text = blob.text()), "data:,");
        HTMLAnchorElement.prototype.click = () => {};
        button.click();
        URL.createObjectURL = save;
        HTMLAnchorElement.prototype.click = click;
        return text;
    }, button);
    const [head, ...lines] = text.trimEnd().split("\r\n").map((line) => line.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/));
    return lines.map((line) => Object.fromEntries(head.map((name, index) => [name, line[index]])));
}

const button = (page, text, within = "main") =>
    page.waitForFunction((text, within) => [...document.querySelectorAll(`${within} button`)].find((each) => each.textContent.trim() === text), {}, text, within);
/** The texts of a table's cells, row by row. */
const cells = (page, selector) => page.$$eval(`${selector} tbody tr`, (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent.trim())));
const value = (page, selector, name) => page.$eval(selector, (element, name) => element.getAttribute(name), name);

consoleTest("chart_is_read_by_keyboard_and_its_table_equals_the_csv", async (given) => {
    const { page, load, show, passesAxe } = given;
    await load(FLEET);
    const stats = [1, 2, 3, 6, 7].flatMap((hours) => FLEET.slice(0, 4).map(({ workSpId }, index) => ({ stats: { instanceId: workSpId, username: `user${index}`, updatetime: at(hours, 5), processorInUse: 10 * hours + index, physicalMemory: 1000, availablePhysicalMemory: 400 } })));
    await filed(given, stats, "/query/series?from=-12h", ({ rows }) => rows.reduce((sum, { count }) => sum + count, 0) === 20);
    await show("#/logons");
    await show("#/overview", ".chart [role=slider]");
    const slider = ".chart [role=slider]";
    assert.match(await value(page, ".chart svg[role=img]", "aria-label"), /^CPU of the fleet, 24 h, .* mean from 11\.5 % to 71\.5 %, at last 11\.5 %; p95 from/);
    // Four and five hours ago there is nothing: the line has two parts.
    const path = await page.$eval(".chart svg[role=img] .line", (line) => line.getAttribute("d"));
    assert.equal(path.match(/M/g).length, 2, path);
    await page.focus(slider);
    await page.keyboard.press("End");
    const last = Number(await value(page, slider, "aria-valuenow"));
    await page.keyboard.press("ArrowLeft");
    await page.waitForFunction((slider, last) => document.querySelector(slider).getAttribute("aria-valuenow") === String(last - 1), {}, slider, last);
    assert.match(await value(page, slider, "aria-valuetext"), /: mean 11\.5 %, p95 \d/);
    assert.match(await page.$eval(".readout", (element) => element.textContent), /mean11\.5 %/);
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.querySelector(".readout") === null);
    for (const theme of ["light", "dark"]) await passesAxe(theme);
    await (await button(page, "Show as table", ".chart")).click();
    await page.waitForSelector(".chart table");
    const rows = await cells(page, ".chart table");
    const lines = await saved(page, await button(page, "Export CSV", ".chart"));
    assert.deepEqual(
        rows.map(([, ...numbers]) => numbers.map((number) => (number === "–" ? "" : number))),
        lines.map(({ cpuAvg, cpuP95, count }) => [cpuAvg, cpuP95, count]),
    );
    assert.ok(rows.length >= 24, "each step of the range is a row");
    assert.equal(lines.filter(({ cpuAvg }) => cpuAvg === "11.5").length, 1);
    await passesAxe();
});

consoleTest("time_axis_has_round_times_and_number_axis_begins_at_zero", async ({ page }) => {
    const { times, numbers, sizes } = await page.evaluate(async () => {
        const load = (path) => import(new URL(path, document.baseURI).href);
        const { numberTicks, timeTicks } = await load("app/parts/scale.js");
        const { utc } = await load("app/preferences.js");
        utc.value = true;
        const from = Date.parse("2026-03-28T21:40:00Z");
        return { times: timeTicks(from, from + 12 * 3_600_000, 6), numbers: numberTicks(47, 4, "%"), sizes: numberTicks(3 * 1024, 4, "B") };
    });
    assert.deepEqual(times.map(({ text }) => text), ["22:00", "29 Mar", "02:00", "04:00", "06:00", "08:00"]);
    assert.deepEqual(numbers, [0, 20, 40, 60]);
    assert.deepEqual(sizes, [0, 1024, 2048, 3072]);
}, { transports: ["server"] });

consoleTest("logons_show_the_phases_of_the_slowest", async (given) => {
    const { page, load, show, passesAxe } = given;
    await load(FLEET);
    const startup = FLEET.flatMap(({ workSpId, username }, index) => [30, 50].map((hours) => ({ startup: { instanceId: workSpId, username, baselineUtc: at(hours, index), profileMs: 1000 * hours, groupPolicyMs: 2000 + index, shellMs: 500, totalMs: 1000 * hours + 4000 + index } })));
    await filed(given, startup, "/query/startup", ({ rows }) => rows.reduce((sum, { count }) => sum + count, 0) === 12);
    await show("#/logons", "table.data tbody tr");
    const rows = await cells(page, "table.data");
    assert.equal(rows.length, 10);
    assert.deepEqual(rows[0].slice(0, 2), ["ws-5", "user5"]);
    assert.deepEqual(rows[0].slice(3), ["54.0 s", "50.0 s", "2.0 s", "500 ms", "1.5 s"]);
    const lines = await saved(page, await button(page, "Export CSV"));
    for (const { totalMs, profileMs, groupPolicyMs, shellMs, unattributedMs } of lines) assert.equal(Number(totalMs), Number(profileMs) + Number(groupPolicyMs) + Number(shellMs) + Number(unattributedMs));
    assert.ok(rows.some(([, user]) => user.includes("<img") && user.includes("U+202E")), "a hostile name is a text");
    for (const theme of ["light", "dark"]) await passesAxe(theme);
    await show("#/logons?phase=shell&region=us-east-1", "select");
    await page.waitForFunction(() => /Shell.*p50 from 500 ms to 5\d\d ms/s.test(document.querySelector(".chart svg[role=img]")?.getAttribute("aria-label")) && document.querySelectorAll("table.data tbody tr").length === 6);
});

consoleTest("heat_map_is_read_by_the_arrow_keys", async (given) => {
    const { page, load, show, request, passesAxe } = given;
    await load(FLEET);
    const activity = FLEET.flatMap(({ workSpId }, index) => Array.from({ length: 20 }, (_, hours) => ({ activity: { instanceId: workSpId, username: `user${index % 3}`, activity: "Lock", activityTime: at(hours + 2, index) } })));
    await filed(given, activity, "/query/heatmap", ({ rows }) => rows.reduce((sum, { count }) => sum + count, 0) === 120);
    await show("#/activity", "table.heat");
    const zone = await page.evaluate(() => -new Date().getTimezoneOffset());
    const offset = `${zone < 0 ? "-" : "+"}${String(Math.floor(Math.abs(zone) / 60)).padStart(2, "0")}:${String(Math.abs(zone) % 60).padStart(2, "0")}`;
    const { rows } = await request("GET", `/query/heatmap?offset=${encodeURIComponent(offset)}`);
    assert.deepEqual((await cells(page, "table.heat")).flatMap(([, ...counts]) => counts.map(Number)), rows.map(({ count }) => count));
    assert.deepEqual((await saved(page, await button(page, "Export CSV"))).map(({ count, users }) => [Number(count), Number(users)]), rows.map(({ count, users }) => [count, users]));
    await page.focus("table.heat td[tabindex='0']");
    for (const key of ["ArrowDown", "ArrowRight", "ArrowRight"]) await page.keyboard.press(key);
    const said = () => page.$eval(".heat-read", (element) => element.textContent);
    const { count, users } = rows[24 + 2];
    assert.equal(await said(), `Tuesday, 02:00 to 03:00: ${count} records, ${users} different users`);
    await page.keyboard.press("End");
    assert.match(await said(), /^Tuesday, 23:00 to 00:00/);
    assert.equal(await page.$$eval("table.heat td[tabindex='0']", ({ length }) => length), 1);
    for (const theme of ["light", "dark"]) await passesAxe(theme);
});

consoleTest("processes_are_sorted_by_the_fleet_and_filtered_by_name", async (given) => {
    const { page, load, show, fill, passesAxe } = given;
    await load(FLEET);
    const names = ["chrome", HOSTILE, "outlook.exe"];
    const reports = FLEET.map(({ workSpId }, index) => ({ processes: { instanceId: workSpId, createdDate: at(2, index), processes: names.map((processName, place) => ({ processName, processorUsage: 10 * (place + 1) + index, memoryUsage: 1024 * 1024 * (3 - place) })) } }));
    await filed(given, reports, "/query/processes", ({ rows }) => rows.length === 3 && rows[0].reports === 6);
    await show("#/processes", "table.data tbody tr");
    const first = () => page.$$eval("table.data tbody tr", (rows) => rows.map((row) => row.cells[0].textContent));
    assert.deepEqual((await first()).map((name) => name.slice(0, 4)), ["outl", "<img", "chro"]);
    const lines = await saved(page, await button(page, "Export CSV"));
    assert.deepEqual(lines.map(({ cpuAvg, cpuMax }) => [cpuAvg, cpuMax]), [["32.5", "35"], ["22.5", "25"], ["12.5", "15"]]);
    assert.deepEqual((await cells(page, "table.data")).map((row) => row[3]), ["32.5 %", "22.5 %", "12.5 %"]);
    await (await button(page, "Memory, mean")).click();
    await page.waitForFunction(() => document.querySelector("table.data tbody tr")?.cells[0].textContent === "chrome" && document.querySelector("[aria-sort=descending]")?.textContent.startsWith("Memory, mean"));
    for (const theme of ["light", "dark"]) await passesAxe(theme);
    await fill("main [type=search]", "OUTLOOK");
    await page.waitForFunction(() => document.querySelectorAll("table.data tbody tr").length === 1 && location.hash.includes("q=OUTLOOK"));
    await show("#/processes?instanceId=ws-2");
    await page.waitForFunction(() => document.querySelector("table.data tbody tr")?.cells[1].textContent === "1");
});

consoleTest("advice_shows_its_evidence_and_leads_to_the_action", async (given) => {
    const { page, load, show, passesAxe } = given;
    await load(FLEET);
    const stats = Array.from({ length: 24 }, (_, index) => ({ stats: { instanceId: "ws-0", username: "user0", updatetime: at(30, 5 * index), processorInUse: 97 } }));
    // Nothing is called idle before it has been known for a week.
    const unused = FLEET.slice(1).map(({ workSpId }) => ({ stats: { instanceId: workSpId, updatetime: at(9 * 24), processorInUse: 3 } }));
    await filed(given, [...stats, ...unused], "/query/advice", ({ rows }) => rows.length === FLEET.length);
    await show("#/advice", "table.data tbody tr");
    assert.deepEqual((await cells(page, "table.data")).map(([id]) => id), ["ws-1", "ws-2", "ws-3", "ws-4", "ws-5"], "those that nobody uses");
    assert.equal(await page.$$eval("table.data button:not(.sort)", ({ length }) => length), 0, "nothing is offered that the interface cannot do");
    for (const theme of ["light", "dark"]) await passesAxe(theme);
    await (await button(page, "Overloaded 1")).click();
    await page.waitForFunction(() => document.querySelector("table.data tbody tr")?.cells[0].textContent === "ws-0");
    const [row] = await cells(page, "table.data");
    const [line] = await saved(page, await button(page, "Export CSV"));
    assert.deepEqual([line.workSpId, line.evidence.replaceAll('"', ""), line.act], [row[0], row[4], undefined]);
    assert.ok(!(await page.$eval("table.data thead", ({ textContent }) => textContent)).includes("Saves"), "no price is known");
    await (await button(page, "Change type …")).click();
    await page.waitForSelector("dialog[open]");
    await page.waitForFunction(() => document.querySelector("dialog[open]").textContent.includes("Change type of 1 desktop"));
});
