// The table of all desktops, and actions on many.

import assert from "node:assert/strict";
import { consoleTest } from "./consoles.mjs";

const FIELDS = "workSpId,computerName,username,state,runningMode,computeTypeName,region,directoryId,onHold,transition,lastSeen,cpu,memory,rootVolume,userVolume,uptimeSeconds,asOf";
const MANY = 100_000;
/** The least length of a task that browsers report as long. */
const LONG_MS = 50;

const desktop = (index, more = {}) => ({
    workSpId: `ws-${String(index).padStart(6, "0")}`,
    computerName: `DESK-${index}`,
    username: `user${index % 997}`,
    state: index % 4 === 0 ? "STOPPED" : "AVAILABLE",
    runningMode: "AUTO_STOP",
    computeTypeName: index % 3 === 0 ? "POWER" : "STANDARD",
    region: index % 2 === 0 ? "eu-central-1" : "us-east-1",
    ...more,
});
const desktops = (number) => Array.from({ length: number }, (_, index) => desktop(index));

/** The rows of the table as an array of the texts of their cells. */
const shownRows = (page) => page.$$eval(".grid-body .grid-row", (rows) => rows.map((row) => [...row.querySelectorAll("[role=gridcell]")].map((cell) => cell.textContent)));
const rowCount = (page, number) => page.waitForFunction((number) => document.querySelector(".grid")?.getAttribute("aria-rowcount") === String(number + 1), {}, number);
const rowHas = (page, id, text) => page.waitForFunction((id, text) => [...document.querySelectorAll(".grid-body .grid-row")].some((row) => row.textContent.includes(id) && row.textContent.includes(text)), {}, id, text);
const focused = (page) => page.evaluate(() => document.activeElement.textContent.trim());

/** Saves as CSV; returns the text of the file. */
function savedCsv(page) {
    return page.evaluate(
        () =>
            new Promise((done) => {
                const { createObjectURL } = URL;
                URL.createObjectURL = (blob) => {
                    URL.createObjectURL = createObjectURL;
                    void blob.text().then(done);
                    return createObjectURL(blob);
                };
                [...document.querySelectorAll(".head button")].find(({ textContent }) => textContent === "Export CSV").click();
            }),
    );
}

consoleTest("table_follows_the_fleet", async ({ page, load, request, show, context, passesAxe }) => {
    await load(desktops(40));
    await show("#/desktops");
    await rowCount(page, 40);
    await page.waitForSelector(".live.live");
    const begin = Date.now();
    await request("POST", "/api/Actions/StartWorkSpace", { query: { workSpaceId: "ws-000004", requester: "Ada" } });
    await rowHas(page, "ws-000004", "Starting");
    context.diagnostic(`${Date.now() - begin} ms from the request of an action to its state in the table`);
    await page.waitForFunction(() => /Starting\s*1/.test(document.querySelector(".states").textContent));
    await load([desktop(41), desktop(3, { state: "ERROR" })]);
    await rowCount(page, 41);
    await rowHas(page, "ws-000003", "Error");
    await request("POST", "/api/Information/RemoveWorkSpaceDbEntry", { query: { workSpaceId: "ws-000001" } });
    await rowCount(page, 40);
    await show("#/desktops?state=in.error,starting&sort=-workSpId");
    await rowCount(page, 2);
    assert.deepEqual((await shownRows(page)).map(([id]) => id), ["ws-000004", "ws-000003"]);
    assert.match(await page.$eval(".desktops .head", ({ textContent }) => textContent), /2 of 40 desktops/);
    for (const theme of ["light", "dark"]) await passesAxe(theme);
});

consoleTest("table_that_is_drawn_late_shows_all_that_was_read_before", async ({ page, load, show }) => {
    await load(desktops(3));
    // As a busy machine does: the next picture, and the timer that stands in for it, come after the answer of the fleet.
    await page.evaluate(() => {
        const { setTimeout } = globalThis;
        globalThis.setTimeout = (run, wait, ...given) => setTimeout(run, wait > 0 && wait < 1000 ? 1000 : wait, ...given);
        globalThis.requestAnimationFrame = (run) => setTimeout(() => run(performance.now()), 1000);
        globalThis.cancelAnimationFrame = clearTimeout;
    });
    await show("#/desktops");
    await rowCount(page, 3);
});

consoleTest("filters_and_csv_equal_those_of_the_interface", async ({ page, load, report, request, show }) => {
    const hostile = ["<img src=x onerror=document.title='x'>", "\u202Eevil", "=1+1", 'a "quoted", name', "Ärger"];
    await load([...desktops(60), ...hostile.map((name, index) => desktop(100 + index, { username: name, computerName: `${name} pc`, region: name }))]);
    const { errors } = await report(Array.from({ length: 9 }, (_, index) => ({ stats: { instanceId: `ws-00000${index}`, updatetime: new Date(Date.now() - index * 60_000 - 10).toISOString(), processorInUse: index, physicalMemory: 900, availablePhysicalMemory: 100 * index, uptime: 5000 + index } })));
    assert.deepEqual(errors, []);
    await show("#/desktops");
    await rowCount(page, 65);
    for (const [hash, query] of [
        ["sort=-username&q=DESK-1", { sort: "-username", q: "DESK-1" }],
        ["state=ne.stopped&computeTypeName=power&sort=computerName", { state: "ne.stopped", computeTypeName: "power", sort: "computerName" }],
        ["region=in.EU-CENTRAL-1,zz&runningMode=auto_stop", { region: "in.EU-CENTRAL-1,zz", runningMode: "auto_stop", sort: "workSpId" }],
        ["q=%C3%84RGER", { q: "ÄRGER" }],
        ["sort=-lastSeen&q=ws-00000", { sort: "-lastSeen", q: "ws-00000" }],
        ["q=ws-0001", { q: "ws-0001" }],
    ]) {
        await page.evaluate((hash) => void (location.hash = hash), `#/desktops?${hash}`);
        const csv = await request("GET", "/query/workspaces", { query: { format: "csv", fields: FIELDS, limit: 500, ...query } });
        // To a script 1.0 is 1.
        const expected = csv.replaceAll(/(?<=,\d+)\.0(?=,)/g, "");
        const ids = expected.trim().split("\r\n").slice(1).length;
        await rowCount(page, ids);
        assert.deepEqual((await savedCsv(page)).split("\r\n").sort(), expected.split("\r\n").sort(), hash);
    }
    const shown = await shownRows(page);
    assert.ok(shown.some(([, , user]) => user === hostile[0]), "markup is text");
    assert.equal(await page.$(".grid img"), null);
    assert.ok(shown.some(([, , user]) => user === "U+202Eevil"), "a hidden character is shown");
});

consoleTest("figures_of_the_past_are_marked_and_come_after_those_of_now", async ({ page, load, report, request, show }) => {
    await load(desktops(3));
    const stats = (number, cpu, minutes) => ({ stats: { instanceId: `ws-00000${number}`, processorInUse: cpu, updatetime: new Date(Date.now() - minutes * 60_000).toISOString() } });
    await report([stats(0, 99, 9 * 60), stats(1, 20, 1), stats(2, 40, 1)]);
    for (let rows = []; rows.length < 3; ) ({ rows } = await request("GET", "/query/workspaces", { query: { lastSeen: "ne.null" } }));
    await show("#/desktops?sort=-cpu");
    await rowCount(page, 3);
    await page.waitForFunction(() => [...document.querySelectorAll(".grid-body [role=row]")].map((row) => row.textContent.match(/ws-\d+/)[0]).join() === "ws-000002,ws-000001,ws-000000");
    const past = await page.$$eval(".grid-body .past", (all) => all.map(({ textContent, title }) => [textContent, title.startsWith("as of ")]));
    assert.deepEqual(past[0], ["99.0", true]);
});

consoleTest("desktops_are_selected_and_started_by_keyboard_alone", async ({ page, load, request, show, passesAxe }) => {
    await load(desktops(40));
    await request("PUT", "/operator/workspaces/ws-000008/litigation-hold", { json: { matter: "Matter 7", reason: null } });
    await show("#/desktops?state=STOPPED");
    await rowCount(page, 10);
    const press = async (...keys) => {
        for (const key of keys) await page.keyboard.press(key);
    };
    await press("/");
    await page.waitForFunction(() => document.activeElement.matches("input[type=search]"));
    for (let tabs = 0; !(await page.evaluate(() => document.activeElement.matches(".grid"))); tabs++) {
        assert.ok(tabs < 25, "Tab leads to the table");
        await press("Tab");
    }
    await press("ArrowDown", " ");
    await page.keyboard.down("Shift");
    await press("ArrowDown");
    await page.keyboard.up("Shift");
    await page.waitForFunction(() => /^2 selected/.test(document.querySelector(".bulk")?.textContent));
    // The row of the keys is below the heading, also after a jump.
    await press("End", "Home", "ArrowDown");
    assert.ok(await page.evaluate(() => document.querySelector(".grid .active").getBoundingClientRect().top >= document.querySelector(".heading").getBoundingClientRect().bottom - 1));
    while ((await focused(page)) !== "More actions") await press("Tab");
    await press("Enter");
    const items = await page.$$eval(".menu-list button", (all) => all.map(({ textContent }) => textContent));
    const moved = [];
    for (const key of ["ArrowDown", "ArrowUp", "ArrowUp", "ArrowDown", "End", "Home"]) {
        await press(key);
        moved.push(items.indexOf(await focused(page)));
    }
    assert.deepEqual(moved, [1, 0, items.length - 1, 0, items.length - 1, 0]);
    while ((await focused(page)) !== "Terminate …") await press("ArrowDown");
    await press("Enter");
    await page.waitForSelector("dialog[open] .outcomes");
    const said = await page.$eval("dialog", ({ textContent }) => textContent);
    assert.match(said, /1 will be terminated/);
    assert.match(said, /1 on litigation hold LitigationHold/);
    assert.match(said, /Matter 7/);
    for (const theme of ["light", "dark"]) await passesAxe(theme);
    assert.ok(await page.$eval("dialog .dialog-actions button:last-child", ({ disabled }) => disabled), "it is not confirmed yet");
    await press("Escape");
    // The focus returns. Going on beyond the last button would leave the page.
    await page.waitForFunction(() => document.querySelector("dialog[open]") === null && document.activeElement.textContent === "More actions");
    // All are stopped, so that the first button starts them; one that runs makes it reboot again.
    const first = () => page.$eval(".bulk .primary", ({ textContent }) => textContent);
    assert.equal(await first(), "Start …");
    await load([desktop(4, { state: "AVAILABLE" })]);
    await show("#/desktops");
    await page.waitForFunction(() => document.querySelector(".bulk .primary").textContent === "Reboot …");
    await load([desktop(4)]);
    await page.waitForFunction(() => document.querySelector(".bulk .primary").textContent === "Start …");
    await page.focus(".bulk .primary");
    await press("Enter");
    await page.waitForSelector("dialog[open] input[required]");
    await page.focus("dialog input[required]");
    await page.keyboard.type("Ada");
    await press("Enter");
    await page.waitForFunction(() => /2 accepted/.test(document.querySelector("dialog")?.textContent));
    await press("Escape");
    await show("#/desktops?state=STOPPED");
    await rowCount(page, 8);
    const { rows } = await request("GET", "/query/workspaces", { query: { state: "STARTING", fields: "workSpId" } });
    assert.deepEqual(rows.map(({ workSpId }) => workSpId), ["ws-000004", "ws-000008"]);
    const [latest] = await request("GET", "/api/Information/GetAdminActivity", { query: { numberOfActivities: 1 } });
    assert.equal(latest.requester, "Ada");
});

consoleTest("refusals_of_a_bulk_action_are_listed_with_their_code", async ({ page, load, show, fill }) => {
    await load(desktops(12));
    await show("#/desktops");
    await rowCount(page, 12);
    const all = async () => {
        await page.focus(".grid");
        await page.keyboard.down("Control");
        await page.keyboard.press("a");
        await page.keyboard.up("Control");
    };
    await all();
    const click = (within, text) => page.evaluate((within, text) => [...document.querySelectorAll(`${within} button`)].find(({ textContent }) => textContent.startsWith(text)).click(), within, text);
    await page.waitForSelector(".bulk");
    await click(".bulk", "More actions");
    await page.waitForSelector(".bulk .menu-list");
    await click(".bulk", "Rebuild");
    await page.waitForSelector("dialog .outcomes");
    await fill("dialog input[required]", "Ada");
    assert.match(await page.$eval("dialog .action-form", ({ textContent }) => textContent), /type 12/);
    await fill("dialog input[autocomplete=off]", "12");
    await click("dialog", "Rebuild 12");
    await page.waitForFunction(() => /12 accepted/.test(document.querySelector("dialog").textContent));
    await click("dialog", "Close");
    await rowHas(page, "ws-000000", "Rebuilding");
    // The action ended the selection.
    await all();
    await page.waitForSelector(".bulk");
    await click(".bulk", "Reboot");
    await page.waitForFunction(() => /12 with an action in progress/.test(document.querySelector("dialog")?.textContent));
    await page.locator("dialog .check input").click();
    await click("dialog", "Reboot 12");
    await page.waitForFunction(() => /0 accepted.*12 with an action in progress OperationInProgress/.test(document.querySelector("dialog").textContent));
}, { troubles: /409/ });

consoleTest("reboot_of_many_says_which_reported_lately_and_goes_in_waves_that_can_be_stopped", async ({ page, load, report, request, show, fill, passesAxe }) => {
    const running = { state: "AVAILABLE", runningMode: "ALWAYS_ON" };
    await load(Array.from({ length: 30 }, (_, index) => desktop(index, running)));
    const at = (minutes) => new Date(Date.now() - minutes * 60_000).toISOString();
    await report(Array.from({ length: 6 }, (_, index) => ({ stats: { instanceId: desktop(index).workSpId, username: desktop(index).username, updatetime: at(index < 3 ? 1 : 120), processorInUse: 5 } })));
    await show("#/desktops");
    await rowCount(page, 30);
    await page.focus(".grid");
    await page.keyboard.down("Control");
    await page.keyboard.press("a");
    await page.keyboard.up("Control");
    const click = (within, text) => page.evaluate((within, text) => [...document.querySelectorAll(`${within} button`)].find(({ textContent }) => textContent.startsWith(text)).click(), within, text);
    const says = (text) => page.waitForFunction((text) => document.querySelector("dialog")?.textContent.replace(/\s+/g, " ").includes(text), {}, text);
    await page.waitForSelector(".bulk");
    await click(".bulk", "Reboot");
    await says("3 of 30 reported in the last 15 minutes, the latest 1 min ago: somebody may be working there.");
    await page.evaluate(() => [...document.querySelectorAll("dialog details")].forEach((details) => (details.open = true)));
    const first = await page.$$eval("dialog .outcomes li li", (lines) => lines.slice(0, 4).map(({ textContent }) => textContent.replace(/\s+/g, " ")));
    for (const [index, line] of first.entries()) assert.match(line, index < 3 ? / user\d+ reported 1 min ago/ : / user\d+ reported 2 h ago/);
    // A desktop reports also while nobody works there.
    assert.doesNotMatch(await page.$eval("dialog", ({ textContent }) => textContent), /active/);
    await passesAxe();
    // A single click does not disconnect thirty people, nor all of them together.
    const isDisabled = () => page.$eval("dialog .dialog-actions button:last-child", ({ disabled, textContent }) => [disabled, textContent]);
    assert.deepEqual(await isDisabled(), [true, "Reboot 30 desktops"]);
    assert.equal(await page.$eval("dialog input[placeholder=all]", ({ value }) => value), "25");
    await page.locator("dialog .warning .check input").click();
    await says("type 27");
    await fill("dialog input[required]", "Ada");
    await fill("dialog input[placeholder=all]", "10");
    await fill("dialog input[autocomplete=off]", "27");
    assert.deepEqual(await isDisabled(), [false, "Reboot 27 desktops"]);
    await click("dialog", "Reboot 27");
    // What runs goes on in any case; those that wait end with the key of the session.
    await says("Finished: 0 of 27. It goes on when this is closed, and no more begin once you sign out.");
    await click("dialog", "Stop");
    await says("17 not sent");
    await says("Finished: 0 of 27. It goes on when this is closed.");
    const { batches } = await request("GET", "/operator/batches");
    assert.deepEqual(batches.map(({ running, waiting, stopped }) => [running, waiting, stopped]), [[10, 17, "Requested"]]);
    const { rows } = await request("GET", "/query/workspaces", { query: { state: "REBOOTING", limit: 50 } });
    assert.deepEqual(rows.filter(({ workSpId }) => workSpId < desktop(3).workSpId), [], "those that reported lately are left out");
    await says("Send the other 17");
});

consoleTest("terminate_of_stopped_desktops_says_which_reported_in_7_days", async ({ page, load, report, show }) => {
    await load(Array.from({ length: 4 }, (_, index) => desktop(index, { state: "STOPPED", runningMode: "AUTO_STOP" })));
    const hours = (number) => new Date(Date.now() - number * 3_600_000).toISOString();
    await report([2 * 24 + 1, 5, 9 * 24 + 1].map((age, index) => ({ stats: { instanceId: desktop(index).workSpId, username: desktop(index).username, updatetime: hours(age), processorInUse: 5 } })));
    await show("#/desktops");
    await rowCount(page, 4);
    await page.focus(".grid");
    await page.keyboard.down("Control");
    await page.keyboard.press("a");
    await page.keyboard.up("Control");
    const click = (within, text) => page.evaluate((within, text) => [...document.querySelectorAll(`${within} button`)].find(({ textContent }) => textContent.startsWith(text)).click(), within, text);
    await page.waitForSelector(".bulk");
    await click(".bulk", "More actions");
    await page.waitForSelector(".bulk .menu-list");
    await click(".bulk", "Terminate");
    await page.waitForSelector("dialog .outcomes li li");
    assert.match(await page.$eval("dialog .warning", ({ textContent }) => textContent), /2 of 4 reported in the last 7 days, the latest 5 h ago/);
    const lines = await page.$$eval("dialog .outcomes li li", (all) => all.map(({ textContent }) => /reported (.*) ago/.exec(textContent)?.[1] ?? "never"));
    assert.deepEqual(lines, ["5 h", "2 d", "9 d", "never"]);
    // The type of a desktop says something only where it changes; what is simulated is no alarm.
    const change = () => page.$eval("dialog .outcomes li li", ({ textContent }) => textContent.replace(/.*(?=Stopped)/s, "").trim());
    assert.equal(await change(), "Stopped → Terminating");
    assert.ok(await page.$$eval("dialog .action-form > p", (all) => all.some(({ className, textContent }) => className === "note" && textContent.startsWith("Simulated"))));
    await page.locator("dialog .warning .check input").click();
    await page.waitForFunction(() => document.querySelector("dialog .dialog-actions button:last-child").textContent === "Terminate 2 desktops");
    await click("dialog", "Cancel");
    await click(".bulk", "More actions");
    await page.waitForSelector(".bulk .menu-list");
    await click(".bulk", "Change type");
    await page.waitForSelector("dialog select");
    await page.select("dialog select", "PERFORMANCE");
    await page.waitForSelector("dialog .outcomes li li");
    assert.equal(await change(), "Stopped → Updating, now STANDARD");
});

consoleTest("hundred_thousand_desktops_are_shown_sorted_and_filtered", async ({ page, load, show, context }) => {
    await load(desktops(MANY));
    await page.evaluate(() => {
        globalThis.tasks = [];
        new PerformanceObserver((list) => globalThis.tasks.push(...list.getEntries().map(({ duration }) => Math.round(duration)))).observe({ entryTypes: ["longtask"] });
    });
    const long = async (what) => context.diagnostic(`${what}; tasks of ${LONG_MS} ms and more: ${(await page.evaluate(() => globalThis.tasks.splice(0))).join(", ") || "none"}`);
    /** Milliseconds until a change of the page is done. */
    const timed = async (change, done) => {
        const begin = Date.now();
        await change();
        await done();
        return Date.now() - begin;
    };
    const begin = Date.now();
    await show("#/desktops", ".grid-body .grid-row");
    const first = Date.now() - begin;
    await rowCount(page, MANY);
    await long(`first rows ${first} ms, all ${Date.now() - begin} ms`);
    assert.ok((await shownRows(page)).length < 100, "only what is seen is in the document");
    const firstId = (id) => page.waitForFunction((id) => document.querySelector(".grid-body [role=gridcell]").textContent === id, {}, id);
    const sorted = await timed(() => page.evaluate(() => document.querySelector(".heading button").click()), () => firstId("ws-099999"));
    await long(`sorted in ${sorted} ms`);
    const filtered = await timed(() => page.evaluate(() => void (location.hash = "#/desktops?q=user996&sort=-computerName")), () => rowCount(page, 100));
    await long(`filtered in ${filtered} ms`);
    await page.evaluate(() => void (location.hash = "#/desktops"));
    await rowCount(page, MANY);
    await long("shown again");
    await page.evaluate(async () => {
        const grid = document.querySelector(".grid");
        for (let step = 0; step < 60; step++) {
            grid.scrollTop += step < 30 ? 150 : 15_000;
            await new Promise(requestAnimationFrame);
        }
    });
    await long("scrolled");
    await page.focus(".grid");
    await page.keyboard.press("End");
    await rowHas(page, "ws-099999", "");
}, { transports: ["server"], browsers: ["chromium"] });

consoleTest("view_is_saved_with_its_filters_and_columns_and_opened_again", async ({ page, load, show, fill, passesAxe }) => {
    await load([desktop(1, { directoryId: "d-1", state: "ERROR" }), desktop(2, { directoryId: "d-2", state: "ERROR" }), desktop(3, { directoryId: "d-1" })]);
    await show("#/desktops?state=ERROR&directoryId=d-1&sort=-username");
    await rowCount(page, 1);
    const click = (text) => page.evaluate((text) => [...document.querySelectorAll(".head button, .head label")].find(({ textContent }) => textContent.trim().startsWith(text)).click(), text);
    const heading = (title) => page.waitForFunction((title) => document.querySelector(".grid .heading").textContent.includes(title), {}, title);
    await click("Columns");
    await page.waitForSelector(".popover-panel");
    await click("Directory");
    await heading("Directory");
    assert.ok((await shownRows(page))[0].includes("d-1"));
    await click("Views");
    await fill("input[name=view]", "Errors of d-1");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelector(".popover-panel") === null);
    await show("#/desktops");
    await page.evaluate(() => void (localStorage["deskfleet.hiddenColumns"] = "[]"));
    await page.reload();
    await show("#/desktops?state=&directoryId=&sort=");
    await rowCount(page, 3);
    await click("Views");
    await page.waitForSelector(".popover-panel");
    await passesAxe();
    await click("Errors of d-1");
    await rowCount(page, 1);
    const { hash } = await page.evaluate(() => ({ hash: location.hash }));
    for (const part of ["state=ERROR", "directoryId=d-1", "sort=-username"]) assert.ok(hash.includes(part), hash);
    await click("Views");
    await page.waitForSelector(".popover-panel");
    await page.locator("button[aria-label='Delete the view Errors of d-1']").click();
    await page.waitForFunction(() => !document.querySelector(".popover-panel").textContent.includes("Errors of d-1"));
});

consoleTest("order_of_many_desktops_that_change_while_they_are_sorted_is_that_of_one_sort", async ({ page }) => {
    const found = await page.evaluate(async () => {
        const app = (name) => import(new URL(`app/${name}`, document.baseURI).href);
        const [{ Names, Numbers, Texts }, { FleetView }, { FIELDS }] = await Promise.all([app("columns.js"), app("fleet-view.js"), app("fleet.js")]);
        const many = 60_000;
        let seed = 7;
        const random = (below) => (seed = (seed * 48_271) % 2_147_483_647) % below;
        const columns = Object.fromEntries(FIELDS.map((field) => [field, ["workSpId", "computerName", "username"].includes(field) ? new Texts() : ["cpu", "asOf", "memory"].includes(field) ? new Numbers() : new Names()]));
        for (const column of Object.values(columns)) column.grow(2 * many);
        const fleet = { columns, rows: 0 };
        const put = (row) => {
            for (const field of FIELDS) columns[field].set(row, null);
            fleet.rows = Math.max(fleet.rows, row + 1);
            if (random(20) === 0) return;
            columns.workSpId.set(row, `ws-${row}`);
            columns.computerName.set(row, random(9) === 0 ? null : `desk-${random(many)}`);
            columns.state.set(row, ["AVAILABLE", "STOPPED", null][random(3)]);
            columns.cpu.set(row, random(9) === 0 ? null : random(100));
        };
        for (let row = 0; row < many; row += 1) put(row);
        let sorts = 0;
        const view = new FleetView(fleet, () => (sorts += 1));
        const turn = () => new Promise((done) => setTimeout(done));
        const wrong = [];
        let during = 0;
        for (const sort of ["workSpId", "-computerName", "cpu", "-state", "computerName"]) {
            const before = sorts;
            view.set({ state: "AVAILABLE" }, sort);
            while (sorts === before) {
                const changed = Array.from({ length: 200 }, () => random(fleet.rows));
                changed.push(fleet.rows);
                for (const row of changed) {
                    put(row);
                    view.changed.add(row);
                }
                // As a page does it: not at once, but with the next picture.
                if (during % 3 === 0) {
                    view.update();
                    const { values } = columns.workSpId;
                    if (view.rows.some((row) => values[row] === null || columns.state.get(row) !== "AVAILABLE")) wrong.push(`${sort}: a row that the filter hides`);
                }
                during += 1;
                await turn();
            }
            view.update();
            const order = columns[sort.replace("-", "")].order(sort.startsWith("-") ? -1 : 1);
            const expected = Uint32Array.from({ length: fleet.rows }, (_, row) => row).filter((row) => columns.workSpId.values[row] !== null && columns.state.get(row) === "AVAILABLE").sort(order);
            if (expected.join() !== view.rows.join()) wrong.push(`${sort}: another order`);
        }
        return { wrong, during };
    });
    assert.deepEqual(found.wrong, []);
    assert.ok(found.during >= 10, `only ${found.during} changes while it sorts`);
}, { transports: ["server"], browsers: ["chromium"] });
