// From an empty store to a desktop on hold, as a person who has never seen the console.

import { consoleTest } from "./consoles.mjs";

const button = (text) => `::-p-xpath(//button[contains(normalize-space(), "${text}")])`;

consoleTest("first_start_leads_to_a_desktop_on_hold", async ({ page, context, fill, passesAxe }) => {
    const begin = Date.now();
    await page.waitForFunction(() => document.querySelector("main#main").textContent.includes("The fleet is empty"));
    await page.locator("main#main a.button").click();
    await page.waitForFunction(() => location.hash === "#/import");
    await page.waitForSelector(button("Load the demo fleet"));
    for (const theme of ["light", "dark"]) await passesAxe(theme);
    await page.locator(button("Load the demo fleet")).click();
    await page.waitForFunction(() => location.hash.startsWith("#/overview") && document.querySelector(".strip") !== null);
    await page.locator("nav a[href='#/desktops']").click();
    await page.locator("[role=row] a[href^='#/desktop/']").click();
    await page.locator(button("More actions")).click();
    await page.locator(button("Place hold")).click();
    await fill("dialog[open] input[name=matter]", "Matter 2026-114");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelector(".hold")?.textContent.includes("Matter 2026-114"));
    context.diagnostic(`${Math.round((Date.now() - begin) / 1000)} s from the first page to the first desktop on hold`);
});

consoleTest("demo_that_is_stopped_says_so_and_leaves_a_console_that_works", async ({ page, show }) => {
    await show("#/import");
    await page.locator(button("Load the demo fleet")).click();
    await page.locator(".running button").click();
    await page.waitForFunction(() => /stopped/.test(document.querySelector(".notices").textContent));
    await show("#/desktops");
    await page.waitForSelector("[role=grid], [role=table], .note");
});
