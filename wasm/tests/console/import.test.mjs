// The import of files: its readers as functions, and the page.

import assert from "node:assert/strict";
import { test } from "node:test";
import { checker, leftOut } from "../../../server-adapter/console/app/import/mapping.js";
import { inspect, read } from "../../../server-adapter/console/app/import/read.js";
import { consoleTest } from "./consoles.mjs";

const REFUSED = /Failed to load resource/;
const blob = (...parts) => new Blob(parts);

/** All rows of a file, and why it could not be read further. */
async function rowsOf(file, encoding) {
    const rows = [];
    try {
        const source = await inspect(file, encoding);
        for await (const part of read(source)) rows.push(...part.rows);
        return { rows, source };
    } catch (error) {
        return { rows, failure: error.message };
    }
}

test("csv_with_semicolons_quotes_and_line_ends_inside_keeps_lines_and_cells", async () => {
    const { rows, source } = await rowsOf(blob('\ufeffDesktop ID;User;Note\r\nws-1;"Doe; ""J""";"two\nlines"\r\n\r\nws-2;b;=1+1\r\n'));
    assert.equal(source.delimiter, ";");
    assert.deepEqual(source.columns, ["Desktop ID", "User", "Note"]);
    assert.deepEqual(rows.map(({ line, cells, error }) => [line, cells, error]), [[2, ["ws-1", 'Doe; "J"', "two\nlines"], undefined], [5, ["ws-2", "b", "=1+1"], undefined]]);
    assert.deepEqual(leftOut(source.columns, { workSpId: 0, username: 1 }), ["Note"]);
});

test("text_in_utf_16_with_and_without_a_mark_is_read", async () => {
    const text = "workSpId\tusername\nws-1\tzoë\n";
    for (const given of [text, `\ufeff${text}`]) {
        const { rows, source } = await rowsOf(blob(Buffer.from(given, "utf16le")));
        assert.equal(source.encoding, "utf-16le");
        assert.deepEqual(rows[0].cells, ["ws-1", "zoë"]);
    }
    const { rows } = await rowsOf(blob(Buffer.from(`\ufeff${text}`, "utf16le").swap16()));
    assert.deepEqual(rows[0].cells, ["ws-1", "zoë"]);
});

test("json_in_each_form_gives_the_same_records", async () => {
    const records = [{ workSpId: "ws-1", username: "a]}\"" }, { workSpId: "ws-2", username: null }];
    for (const text of [records.map((row) => JSON.stringify(row)).join("\n"), JSON.stringify(records), JSON.stringify(records, null, 2), JSON.stringify({ workSpaces: records, nextToken: null, hasMore: false })]) {
        const { rows, source, failure } = await rowsOf(blob(text));
        assert.equal(failure, undefined, text);
        assert.deepEqual(source.columns, ["workSpId", "username"]);
        const check = checker({ workSpId: 0, username: 1 });
        assert.deepEqual(rows.map((row) => check(row).patch), records, text);
    }
});

test("rows_across_slices_of_a_large_file_are_whole", async () => {
    const count = 60_000;
    const { rows } = await rowsOf(blob("workSpId,username\n", Array.from({ length: count }, (_, index) => `ws-${index},"user ""${index}"" ü"\n`).join("")));
    assert.equal(rows.length, count);
    assert.ok(rows.every(({ line, cells }, index) => line === index + 2 && cells[0] === `ws-${index}` && cells[1] === `user "${index}" ü`));
});

test("missing_and_repeated_ids_are_told_with_their_lines", async () => {
    const { rows } = await rowsOf(blob("user,id\na,ws-1\nb,\nc,ws-1\n"));
    const check = checker({ workSpId: 1, username: 0, region: "eu-west-1" });
    assert.deepEqual(rows.map(check), [
        { patch: { workSpId: "ws-1", username: "a", region: "eu-west-1" } },
        { error: "The id is missing.", column: 2 },
        { error: "The id ws-1 is on line 2 already.", column: 2 },
    ]);
});

test("hostile_files_are_refused_with_line_and_column", async () => {
    const line = "x".repeat(1 << 20);
    const fiftyMegabytes = blob("workSpId\nws-1\n", ...Array(50).fill(line), "\nws-2\n");
    const long = await rowsOf(fiftyMegabytes);
    assert.deepEqual(long.rows.map(({ line, error }) => [line, error]), [[2, undefined], [3, "The record is longer than 65536 characters."], [4, undefined]]);
    const inList = await rowsOf(blob('[{"workSpId":"', ...Array(50).fill(line), '"},\n{"workSpId":"ws-2"}]'));
    assert.deepEqual(inList.rows.map(({ line, error }) => [line, error]), [[1, "The record is longer than 65536 characters."], [2, undefined]]);
    const failures = [
        ['id,user\nws-1,a\nws-2,"b\n', "Line 3, column 2: The quote that begins here has no end. What follows was not read."],
        [`id${",x".repeat(9999)}\n`, "Line 1, column 257: There are 10000 columns; at most 256 can be read."],
        ["", "The file is empty."],
        ["PK\x03\x04", /^Line 1, column 1: This is an archive/],
        ["\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "This is not a text file."],
        ['[{"workSpId":"a"}, 5]', "Line 1, column 20: An object is expected here. What follows was not read."],
        ['[{"workSpId":"a"}', /^Line 1, column 17: The text ends before/],
    ];
    for (const [text, expected] of failures) {
        const { failure } = await rowsOf(blob(text));
        if (typeof expected === "string") assert.equal(failure, expected);
        else assert.match(failure, expected);
    }
    const odd = await rowsOf(blob("id,user\nws-1,a\0b\n", Uint8Array.of(0x77, 0x2c, 0xe9, 0x0a), "ws-3\n"));
    assert.deepEqual(odd.rows.map(({ line, column }) => [line, column]), [[2, 7], [3, 3], [4, 1]]);
    assert.deepEqual(odd.rows.map(({ error }) => error.slice(0, 20)), ["There is a null char", "Some characters cann", "The line has 1 cells"]);
});

consoleTest(
    "import_of_a_dropped_file_maps_columns_and_leads_from_an_error_to_its_row",
    async ({ page, request, show, passesAxe }) => {
        await show("#/import", "input[type=file]");
        // Sent until the page, which listens once it is drawn, has taken it.
        await page.waitForFunction(() => {
            const text = "Computer Name;Workspace ID;User_Name;Shoe size\nDESK-1;ws-1;ada;38\nDESK-2;;bob;44\nDESK-3;ws-3;eve;40\nDESK-4;ws-1;ida;41\n";
            const dataTransfer = new DataTransfer();
            dataTransfer.items.add(new File([text], "fleet.csv"));
            return !document.querySelector("main").dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer }));
        });
        await page.waitForSelector(".mapping select[name=region]");
        const mapped = await page.$$eval(".mapping select", (all) => Object.fromEntries(all.map(({ name, value }) => [name, value])));
        assert.deepEqual([mapped.workSpId, mapped.computerName, mapped.username, mapped.state], ["1", "0", "2", ""]);
        await page.waitForFunction(() => document.querySelector(".import").textContent.includes("Left out: Shoe size."));
        await page.select("select[name=region]", "fixed");
        await page.locator("input[aria-label='Value of Region for all']").fill("eu-west-1");
        await page.locator(".import button.primary").click();
        await page.waitForFunction(() => /2 rows imported: 2 desktops created, 0 changed/.test(document.querySelector(".import [role=status]")?.textContent ?? ""));
        const rejected = await page.$$eval("[aria-label='Rejected rows'] tbody tr", (rows) => rows.map((row) => [...row.cells].map(({ textContent }) => textContent)));
        assert.deepEqual(rejected, [
            ["3", "2", "The id is missing.", "DESK-2;;bob;44"],
            ["5", "2", "The id ws-1 is on line 2 already.", "DESK-4;ws-1;ida;41"],
        ]);
        const [{ detail }] = await request("GET", "/api/Information/GetAdminActivity", { query: { numberOfActivities: 1 } });
        assert.equal(detail, "2 created, 0 updated, 2 rejected", "the audit counts what the page does");
        const { rows } = await request("GET", "/query/workspaces", { query: { limit: 10 } });
        assert.deepEqual(rows.map(({ workSpId, computerName, username, region }) => [workSpId, computerName, username, region]), [["ws-1", "DESK-1", "ada", "eu-west-1"], ["ws-3", "DESK-3", "eve", "eu-west-1"]]);
        for (const theme of ["light", "dark"]) await passesAxe(theme);
    },
    { troubles: REFUSED },
);

consoleTest("errors_beyond_the_listed_ones_lead_to_their_rows_in_pasted_text", async ({ page, load, request, show }) => {
    // A hold makes the engine refuse another user: more refusals than one response lists.
    const ids = Array.from({ length: 130 }, (_, index) => `ws-${index}`);
    await load(ids.map((workSpId) => ({ workSpId, username: "before", state: "AVAILABLE" })));
    for (const id of ids) await request("PUT", `/operator/workspaces/${id}/litigation-hold`, { json: { matter: "M-1", reason: "r", placedBy: "Ada" } });
    await show("#/import", "input[type=file]");
    await page.waitForFunction(
        (ids) => {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text/plain", [...ids, "ws-new"].map((workSpId) => JSON.stringify({ workSpId, username: "after" })).join("\n"));
            return !document.querySelector("main").dispatchEvent(new ClipboardEvent("paste", { bubbles: true, cancelable: true, clipboardData }));
        },
        {},
        ids,
    );
    await page.locator(".import button.primary").click();
    await page.waitForFunction(() => /1 rows imported: .*; 130 rejected/.test(document.querySelector(".import [role=status]")?.textContent ?? ""));
    const last = await page.$$eval("[aria-label='Rejected rows'] tbody tr", (rows) => rows.length);
    assert.equal(last, 100);
    const rejected = await page.evaluate(async () => (await import(new URL("app/import/send.js", document.baseURI).href)).report.value.rejected.map(({ line }) => line));
    assert.deepEqual(rejected, ids.map((_, index) => index + 1));
}, { browsers: ["chromium"] });
