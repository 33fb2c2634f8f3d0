// Headless Firefox, as the tests use it.

import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { find } from "../runtimes.mjs";
import { PATIENCE_MS, ended, killed } from "./chromium.mjs";

/** After a kill it does not restore tabs, and does not offer safe mode; few frames are drawn, which nobody sees. */
const PREFERENCES = { "browser.sessionstore.resume_from_crash": false, "toolkit.startup.max_resumed_crashes": -1, "layout.frame_rate": 10 };

/** A browser on a profile, killed as by a crash. */
export class Firefox {
    #process;
    #connection;

    static async start(profile) {
        const { connect } = await import("puppeteer-core");
        const executable = find("firefox");
        if (executable === undefined) throw new Error("there is no Firefox; DESKFLEET_FIREFOX names one");
        writeFileSync(path.join(profile, "user.js"), Object.entries(PREFERENCES).map(([name, value]) => `user_pref("${name}", ${value});\n`).join(""));
        const firefox = new Firefox();
        // Not started by the driver, which cleans up the profile at a time of its own. A process group, so that all
        // processes can be killed at once.
        firefox.#process = spawn(executable, ["--headless", "--new-instance", "--profile", profile, "--remote-debugging-port=0", "about:blank"], {
            detached: true,
            stdio: ["ignore", "ignore", "pipe"],
        });
        const address = await addressSaid(firefox.#process);
        firefox.#connection = await connect({ browserWSEndpoint: `${address}/session`, protocol: "webDriverBiDi" });
        return firefox;
    }

    /** A page of the package's origin. */
    async open(url) {
        const page = await this.#connection.newPage();
        page.setDefaultTimeout(PATIENCE_MS);
        // The arguments as Chromium's driver takes them.
        const { waitForFunction } = page;
        page.waitForFunction = (found, argument) => waitForFunction.call(page, found, {}, argument);
        await page.goto(url);
        return page;
    }

    kill() {
        return killed(this.#process);
    }

    async close() {
        await this.#connection.close();
        await ended(this.#process);
    }
}

/** The address that it prints. */
async function addressSaid(child) {
    let hangs;
    const address = new Promise((found, failed) => {
        let said = "";
        hangs = setTimeout(() => failed(new Error(`${child.spawnfile} did not start: ${said}`)), PATIENCE_MS);
        child.stderr.setEncoding("utf8").on("data", (data) => {
            said += data;
            const [, address] = /WebDriver BiDi listening on (ws:\S+)/.exec(said) ?? [];
            if (address) found(address);
        });
        child.once("close", () => failed(new Error(`${child.spawnfile} ended: ${said}`)));
        child.once("error", failed);
    });
    return address.finally(() => clearTimeout(hangs));
}
