// The pages of operation: actions and audit, keys, store, API.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after } from "node:test";
import { consoleTest } from "./consoles.mjs";

const FLEET = Array.from({ length: 4 }, (_, index) => ({ workSpId: `ws-${index}`, computerName: `DESK-${index}`, username: `user${index}`, state: index === 0 ? "STOPPED" : "AVAILABLE", runningMode: "AUTO_STOP", computeTypeName: "STANDARD" }));
const THEMES = ["light", "dark"];
/** What the browser says of a response of 4xx and 5xx. */
const REFUSED = /Failed to load resource/;

const BACKUPS = mkdtempSync(path.join(tmpdir(), "deskfleet-backups-"));
after(() => rmSync(BACKUPS, { recursive: true, force: true }));

/** Waits until an element has a text. */
const says = async (page, selector, text) => {
    const found = page.waitForFunction((selector, text) => [...document.querySelectorAll(selector)].some((each) => each.textContent.includes(text)), { timeout: 15_000 }, selector, text);
    await found.catch(async () => assert.fail(`“${text}” is not in ${selector}: ${await page.evaluate(() => document.querySelector("dialog[open], #main")?.innerText.slice(0, 1500))}`));
};
/** Clicks a button by its text, that of the open dialog first, as soon as there is one. */
const click = (page, text) =>
    page.waitForFunction(
        (text) => {
            const found = [...document.querySelectorAll("dialog[open] button"), ...document.querySelectorAll("button")].find((each) => each.textContent.trim() === text && !each.disabled);
            found?.click();
            return found !== undefined;
        },
        {},
        text,
    );
/** Takes the files that the page saves: their texts, by name. */
const takeFiles = (page) =>
    page.evaluate(() => {
        globalThis.saved = {};
        URL.createObjectURL = (blob) => ((globalThis.lastBlob = blob), "blob:taken");
        HTMLAnchorElement.prototype.click = function () {
            globalThis.saved[this.download] = globalThis.lastBlob.text();
        };
    });
const savedFile = async (page, name) => {
    await page.waitForFunction((name) => globalThis.saved[name], {}, name);
    return page.evaluate((name) => globalThis.saved[name], name);
};

consoleTest("audit_is_filtered_paged_followed_and_saved_whole", async ({ page, load, show, passesAxe }) => {
    // A row for each desktop whose user changes: more than one page of them.
    const desktops = (user, length = 130) => Array.from({ length }, (_, index) => ({ workSpId: `ws-${index}`, username: `${user}${index}`, state: "AVAILABLE" }));
    await load(desktops("=before"));
    await load(desktops("after"));
    await show("#/audit?action=UpdateWorkSpace", "table.data");
    await says(page, ".table-tools", "100 rows");
    await takeFiles(page);
    await click(page, "Export all (CSV)");
    const whole = (await savedFile(page, "audit-whole.csv")).trim().split("\r\n");
    assert.equal(whole.length, 131);
    assert.match(whole[0], /^id,activityTime,requester,action,/);
    assert.ok(whole.slice(1).every((line) => line.includes(",'=before")), "a formula is neutralised");
    await click(page, "More");
    await says(page, ".table-tools", "130 rows");
    await click(page, "Export CSV");
    assert.equal((await savedFile(page, "audit.csv")).trim().split("\r\n").length, 131);

    // An event shows what happens now above the rows that were read before.
    await load(desktops("later", 1));
    await says(page, ".table-tools", "131 rows");
    await page.locator("input[name=workSpaceId]").fill("ws-0");
    await page.keyboard.press("Enter");
    await says(page, ".table-tools", "2 rows");
    assert.match(await page.evaluate(() => location.hash), /workSpaceId=ws-0/);
    for (const theme of THEMES) await passesAxe(theme);
});

consoleTest("running_actions_are_listed_and_ended_where_the_host_drives", async ({ page, load, request, show, passesAxe }) => {
    await load(FLEET);
    await show("#/audit?tab=running", "table.data");
    for (const id of ["ws-1", "ws-2"]) await request("POST", "/api/Actions/RebootWorkSpace", { query: { workSpaceId: id } });
    await says(page, "table.data", "ws-2");
    const { actions } = await request("GET", "/operator/actions");
    await request("POST", `/operator/actions/${actions[0].id}/dispatch`, { json: { provider: "aws", attempt: 1 } });
    await says(page, "table.data", "aws");
    await request("POST", `/operator/actions/${actions[0].id}/note`, { json: { attempt: 1, requestId: "<b>r-1" } });
    await page.evaluate((minutes) => {
        const now = Date.now;
        Date.now = () => now() + minutes * 60_000;
    }, 16);
    await request("POST", `/operator/actions/${actions[0].id}/dispatch`, { json: { provider: "desk", attempt: 2 } });
    await says(page, "main", "No provider has begun 1 of these actions, the oldest for 16 min");
    await says(page, "table.data", "desk");
    await page.evaluate(() => {
        const now = Date.now;
        Date.now = () => now() + 3 * 3_600_000;
    });
    await request("POST", `/operator/actions/${actions[1].id}/dispatch`, { json: { provider: "desk", attempt: 1 } });
    await says(page, "main", "of these actions began long ago, the oldest 3 h");
    for (const theme of THEMES) await passesAxe(theme);
    await click(page, "Complete");
    await page.waitForSelector("dialog[open]");
    await click(page, "Complete it");
    await says(page, ".notices", "Reboot of ws-1 is completed.");
    await page.waitForFunction(() => document.querySelectorAll("table.data tbody tr").length === 1);
    await click(page, "Fail");
    await page.waitForSelector("dialog[open]");
    await passesAxe();
    await page.locator("dialog select").fill("UNHEALTHY");
    await page.locator("dialog input[name=detail]").fill("No answer");
    await click(page, "Fail it");
    await says(page, "main", "No action runs.");
    const { workSpace } = await request("GET", "/operator/workspaces/ws-2");
    assert.equal(workSpace.state, "UNHEALTHY");
    await show("#/audit", "table.data");
    await says(page, "table.data", "No answer");
    for (const theme of THEMES) await passesAxe(theme);
}, { transports: ["server"], arguments: ["--set", "actions.driver=host"] });

consoleTest("keys_are_issued_once_shown_and_revoked_with_care", async ({ page, request, show, passesAxe, transport }) => {
    await show("#/keys", "table.data");
    await says(page, "main", "this session");
    await click(page, "Issue a key");
    await page.waitForSelector("dialog[open]");
    await page.locator("dialog input[name=name]").fill("<img src=x onerror=alert(1)>");
    await page.select("dialog select[name=task]", "collector");
    await passesAxe();
    await click(page, "Issue");
    await says(page, "dialog h2", "The key is issued");
    await passesAxe();
    const secret = await page.$eval("dialog pre", (element) => element.textContent);
    assert.match(secret, /^dfk_/);
    const command = await page.$$eval("dialog pre", (all) => all[1]?.textContent);
    if (transport === "server") assert.ok(command.startsWith(`curl -H 'X-Api-Key: ${secret}' http`), command);
    await click(page, "Done, I saved it");
    await says(page, "table.data", "<img src=x onerror=alert(1)>");
    assert.ok(!(await page.content()).includes(secret), "the secret is shown once");
    for (const theme of THEMES) await passesAxe(theme);
    const { id } = await request("GET", "/query/key");
    const { keys } = await request("GET", "/operator/keys");
    const issued = keys.find(({ name }) => name.startsWith("<img"));
    const revoke = async (number) => {
        await page.$eval(`[aria-label="Revoke key ${number}"]`, (button) => button.click());
        await page.waitForSelector("dialog[open]");
    };
    await revoke(issued.id);
    await click(page, "Revoke");
    await says(page, ".notices", "is revoked");
    await page.waitForFunction((id) => document.querySelector(`[aria-label="Revoke key ${id}"]`) === null, {}, issued.id);

    // The last admin key needs its name: one that does not expire, where there is one.
    const permanent = keys.filter(({ scopes, expires, revoked }) => scopes.includes("admin") && !expires && !revoked);
    const last = permanent[0] ?? keys.find((key) => key.id === id);
    for (const other of permanent.filter((key) => key !== last)) await request("DELETE", `/operator/keys/${other.id}`);
    await revoke(last.id);
    await click(page, "Revoke");
    await says(page, "dialog [role=alert]", "It is the last key of scope admin");
    await passesAxe();
    const confirmed = () => page.$eval("dialog button.danger", (button) => !button.disabled);
    assert.equal(await confirmed(), false);
    await page.locator("dialog input").fill(last.name);
    assert.equal(await confirmed(), true);
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.querySelector("dialog[open]") === null);
    assert.equal((await request("GET", "/query/key")).id, id);
}, { troubles: REFUSED });

/** The tasks of keys, and what each may do: its scopes, the buttons of a selected desktop, and the pages that it is shown. */
const LOOKS = ["Desktops", "Logons", "Processes"];
const TASKS = {
    helpdesk: { scopes: ["read", "act"], buttons: ["Start", "Reboot", "Recovery reboot"], pages: LOOKS },
    operator: { scopes: ["read", "act", "audit"], buttons: ["Start", "Reboot", "Recovery reboot", "Change type", "Restore", "Rebuild", "Terminate", "Remove record"], pages: LOOKS },
    collector: { scopes: ["read"], buttons: [], pages: LOOKS },
    provider: { scopes: ["admin"], buttons: ["Place hold", "Start", "Reboot", "Recovery reboot", "Change type", "Restore", "Rebuild", "Terminate", "Remove record"], pages: [...LOOKS, "Keys"] },
};

consoleTest("key_of_each_task_may_do_in_the_console_what_it_may_over_HTTP", async ({ page, load, request, show, open, transport }) => {
    await load([{ workSpId: "ws-1", state: "AVAILABLE" }]);
    for (const [task, { scopes, buttons, pages }] of Object.entries(TASKS)) {
        await show("#/keys", "table.data");
        await click(page, "Issue a key");
        await page.waitForSelector("dialog[open] select[name=task]");
        await page.locator("dialog input[name=name]").fill(`for ${task}`);
        await page.select("dialog select[name=task]", task);
        await click(page, "Issue");
        await says(page, "dialog h2", "The key is issued");
        const key = await page.$eval("dialog pre", (element) => element.textContent);
        await click(page, "Done, I saved it");
        assert.deepEqual((await request("GET", "/query/key", { key })).scopes, scopes, task);
        // In a tab that is signed in with it.
        const tab = await open();
        await tab.evaluate(async (key) => (await import(new URL("app/session.js", document.baseURI).href)).signIn(key, "Ada"), key);
        await tab.evaluate(() => void (location.hash = "#/desktops"));
        await tab.waitForSelector(".grid-body .grid-row");
        const links = await tab.$$eval("nav a", (all) => all.map(({ textContent }) => textContent.trim()));
        for (const wanted of pages) assert.ok(links.some((link) => link.startsWith(wanted)), `${task}: ${wanted} of ${links}`);
        assert.equal(links.some((link) => link.startsWith("Keys")), pages.includes("Keys"), task);
        await tab.focus(".grid");
        await tab.keyboard.press("ArrowDown");
        await tab.keyboard.press(" ");
        if (buttons.length > 0) await tab.waitForSelector(".bulk");
        if (buttons.length > 0) await tab.click(".bulk .popover > button");
        const shown = await tab.$$eval(".bulk .actions > button, .bulk .menu-list button", (all) => all.map(({ textContent }) => textContent.replace(" …", "")));
        assert.deepEqual(shown.sort(), [...buttons].sort(), task);
        // What the console hides the interface refuses.
        for (const [action, title] of [["RebootWorkSpace", "Reboot"], ["TerminateWorkSpace", "Terminate"], ["ChangeComputeType", "Change type"]]) {
            const status = await tab.evaluate(
                async (action, key) => {
                    const { request } = await import(new URL("app/api.js", document.baseURI).href);
                    return request("POST", `/api/Actions/${action}`, { query: { workSpaceId: "ws-0", computeType: "POWER" }, key }).then(({ status }) => status, ({ status }) => status);
                },
                action,
                key,
            );
            assert.equal(status === 403, !buttons.includes(title), `${task}: ${action} is ${status}`);
        }
        await tab.close();
    }
    assert.ok(transport);
}, { troubles: REFUSED });

consoleTest("store_shows_the_metrics_and_saves_them", async ({ page, load, show, passesAxe, transport }) => {
    await load(FLEET);
    await show("#/store", ".figures");
    await says(page, ".panel h2", "Queue");
    await takeFiles(page);
    await click(page, "Export CSV");
    const rows = (await savedFile(page, "store.csv")).trim().split("\r\n");
    const shown = await page.$$eval(".panel .facts", (all) => all.flatMap((list) => [...list.querySelectorAll("dd")].map((each) => each.textContent)));
    const plain = rows.slice(1).map((row) => row.replace(/^[^,]*,[^,]*,/, "").replaceAll('"', ""));
    assert.deepEqual(plain, shown.slice(0, plain.length), "the CSV has what is shown");
    await click(page, "Save the metrics, for Prometheus");
    assert.match(await savedFile(page, "metrics.txt"), /^deskfleet_queue_records \d+$/m);
    if (transport === "server") await says(page, "main", "deskfleet check --data");
    for (const theme of THEMES) await passesAxe(theme);
});

consoleTest("backup_is_written_and_listed", async ({ page, show, passesAxe }) => {
    await show("#/store", ".figures");
    await click(page, "Write a backup now");
    await says(page, ".notices", "is written");
    await says(page, "table.data", ".redb");
    for (const theme of THEMES) await passesAxe(theme);
}, { transports: ["server"], arguments: ["--backups", BACKUPS] });

consoleTest("nodes_of_a_fleet_are_listed_with_what_is_wrong", async ({ page, show, passesAxe }) => {
    // Several nodes need a log; this server has none, and its answers are those of a node here.
    await page.evaluate(() => {
        const { fetch } = window;
        const node = { durable: 12, chain: "a", rules: 1, version: "0.1.0", halted: null, unready: [] };
        const nodes = [
            { ...node, node: "node-1", reportedAt: "2026-11-22T08:02:00Z", position: 12, lag: 0, warnings: ["ArchiveFailing"] },
            { ...node, node: "node-2", reportedAt: "2026-11-22T08:00:00Z", position: 4, lag: 8, unready: ["LowDisk"] },
        ];
        const fleet = { node: "node-1", fleet: "00ff", position: 12, positionAt: null, log: { first: 1, last: 12 }, problem: null, nodes, problems: ["node-2 said nothing for 120 s."] };
        window.fetch = async (to, options) => {
            const { pathname } = new URL(to instanceof Request ? to.url : to, location.href);
            if (pathname === "/operator/cluster") return Response.json(fleet);
            const answer = await fetch(to, options);
            const headers = new Headers(answer.headers);
            headers.set("x-deskfleet-position", "12");
            return pathname === "/query/metrics" ? new Response(await answer.text(), { headers }) : answer;
        };
    });
    await show("#/store", ".figures");
    await says(page, '[aria-label="Nodes"]', "node-2");
    await says(page, '[aria-label="Nodes"]', "LowDisk");
    await says(page, '[aria-label="Nodes"]', "ArchiveFailing");
    await says(page, ".problem", "node-2 said nothing for 120 s.");
    for (const theme of THEMES) await passesAxe(theme);
}, { transports: ["server"] });

consoleTest("store_in_the_browser_is_filed_and_wiped", async ({ page, load, report, request, show, passesAxe }) => {
    await load(FLEET);
    await report(Array.from({ length: 50 }, (_, id) => ({ stats: { id, instanceId: "ws-1", processorInUse: id } })));
    await show("#/store", ".figures");
    await click(page, "File the queue now");
    await page.waitForFunction(() => /records were filed/.test(document.querySelector(".notices").textContent));
    assert.equal(await request("GET", "/api/Stats/queue/count"), 0);
    await click(page, "Wipe the fleet");
    await page.waitForSelector("dialog[open]");
    await passesAxe();
    const wipes = () => page.$eval("dialog button.danger", (button) => !button.disabled);
    assert.equal(await wipes(), false);
    await page.locator("dialog input").fill("wipe");
    assert.equal(await wipes(), true);
    await Promise.all([page.waitForNavigation(), click(page, "Wipe")]);
    await show("#/overview");
    await says(page, "main", "The fleet is empty");
}, { transports: ["engine"] });

consoleTest("api_page_sends_all_that_it_lists", async ({ page, load, show, passesAxe, transport }) => {
    await load(FLEET);
    await show("#/api", "form select");
    const select = (value) => page.evaluate((value) => {
        const element = document.querySelector("form select");
        element.value = value;
        element.dispatchEvent(new Event("change", { bubbles: true }));
    }, value);
    const pathShown = () => page.$eval("form input.mono", (input) => input.value);
    const send = async () => {
        await page.evaluate(() => {
            document.querySelector("form button.primary").click();
            // By the next task the page shows that it is busy, or the response.
            return new Promise((done) => setTimeout(done));
        });
        await page.waitForFunction(() => !document.querySelector("form button.primary").disabled);
        return page.$eval("[aria-label=Response]", (element) => element.textContent);
    };
    // The ids of the examples are those of a desktop, as soon as one is known.
    await page.waitForFunction(() => {
        const element = document.querySelector("form select");
        element.value = [...element.options].find(({ text }) => text === "POST /query/preview").value;
        element.dispatchEvent(new Event("change", { bubbles: true }));
        return document.querySelector("form textarea[rows='8']")?.value.includes('"ws-0"');
    }, { polling: 100 });
    const options = await page.$$eval("form option", (all) => all.map(({ value, disabled }) => (disabled ? undefined : value)).filter((value) => value !== undefined && /^\d+$/.test(value)));
    assert.ok(options.length > 45, `${options.length} endpoints`);
    for (const option of options) {
        await select(option);
        const received = await send();
        // An action may be refused, a number unknown, the desktop removed by then; the code of the example is none.
        const shown = await pathShown();
        assert.match(received, shown === "/console/session" ? /Response.?401 after/s : /Response.?(200|201|204|404|409) after/s, shown);
    }
    assert.equal(await page.$$eval(".sent li", (all) => all.length), 20);

    // By keyboard alone.
    const order = await page.$$eval("form select, form input, form textarea, form button", (all) => all.length);
    await page.focus("form select");
    for (let step = 1; step < order; step++) await page.keyboard.press("Tab");
    assert.ok(await page.evaluate(() => document.activeElement.closest("form") !== null), "Tab reaches every control");
    await page.locator("form input.mono").fill("/nowhere?apiKey=dfk_secret");
    await page.focus("form input.mono");
    await page.keyboard.down("Control");
    await page.keyboard.press("Enter");
    await page.keyboard.up("Control");
    await says(page, "[aria-label=Response]", "404");
    await says(page, ".sent li:first-child", "/nowhere?apiKey=$KEY");

    // No secret in the page, nor in the command.
    const { key, command } = await page.evaluate(async () => {
        const { curl } = await import(new URL("app/exchange.js", document.baseURI).href);
        const request = { method: "POST", path: "/operator/keys?apikey=dfk_secret", headers: "Authorization: Bearer dfk_secret\nAccept: text/csv", body: "it's", keyed: true };
        return { key: JSON.parse(sessionStorage.getItem(`deskfleet.session ${new URL(".", document.baseURI).pathname}`)).key, command: curl(request, "http://localhost:8080/") };
    });
    assert.ok(!(await page.content()).includes(key));
    assert.equal(command, `curl -X POST -H "X-Api-Key: $KEY" -H 'Accept: text/csv' --data-binary 'it'\\''s' 'http://localhost:8080/operator/keys?apikey=$KEY'`);

    // A request is taken back into the form; one that cannot be sent says why.
    await page.evaluate(() => document.querySelector(".sent li:nth-child(2) button").click());
    assert.notEqual(await pathShown(), "/nowhere?apiKey=dfk_secret");
    await page.locator("form textarea").fill("no colon");
    assert.match(await send(), /The header line “no colon” has no colon/);
    if (transport === "server") {
        await page.locator("button[title^='With $KEY']").click();
        await says(page, ".notices", "Not copied: The header line “no colon” has no colon.");
    }
    for (const theme of THEMES) await passesAxe(theme);
    // A stream of events has no end: it is stopped.
    if (transport === "server") {
        await page.locator("form textarea").fill("Accept: text/event-stream");
        await page.locator("form input.mono").fill("/query/events?after=1");
        await page.evaluate(() => {
            const method = document.querySelectorAll("form select")[1];
            method.value = "GET";
            method.dispatchEvent(new Event("change", { bubbles: true }));
            document.querySelector("form button.primary").click();
        });
        await click(page, "Stop");
        await page.waitForFunction(() => /The rest is not shown|Stopped/.test(document.querySelector("[aria-label=Response]").textContent));
    }
}, { troubles: REFUSED });

consoleTest("console_without_its_engine_shows_the_reason", async ({ page }) => {
    await page.setRequestInterception(true);
    page.on("request", (request) => (request.url().endsWith("/opfs.js") ? request.respond({ status: 404, body: "none" }) : request.continue()));
    await page.reload();
    await says(page, "#app", "The console cannot start");
}, { transports: ["engine"], browsers: ["chromium"], troubles: REFUSED });
