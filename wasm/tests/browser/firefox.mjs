// Headless Firefox, as the tests use it.

import { find } from "../runtimes.mjs";
import { PATIENCE_MS, ended } from "./chromium.mjs";

/** A browser on a profile, killed as a crash would. */
export class Firefox {
    #browser;

    static async start(profile) {
        const { launch } = await import("puppeteer-core");
        const executablePath = find("firefox");
        if (executablePath === undefined) throw new Error("there is no Firefox; DESKFLEET_FIREFOX names one");
        const firefox = new Firefox();
        firefox.#browser = await launch({ browser: "firefox", executablePath, userDataDir: profile, detached: true, timeout: PATIENCE_MS });
        return firefox;
    }

    /** A page of the package's origin. */
    async open(url) {
        const page = await this.#browser.newPage();
        page.setDefaultTimeout(PATIENCE_MS);
        // The arguments as Chromium's driver takes them.
        const { waitForFunction } = page;
        page.waitForFunction = (found, argument) => waitForFunction.call(page, found, {}, argument);
        await page.goto(url);
        return page;
    }

    kill() {
        const child = this.#browser.process();
        try {
            // A group of its own, of all processes of the browser.
            process.kill(-child.pid, "SIGKILL");
        } catch {
            // It is gone already.
        }
        return ended(child);
    }

    async close() {
        await this.#browser.close();
    }
}
