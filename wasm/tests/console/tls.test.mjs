// The console over TLS, in real browsers: they negotiate HTTP/2 and sign in. Needs the binary with the feature `tls`, which `cargo suite` builds.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after } from "node:test";
import { consoleTest } from "./consoles.mjs";

const folder = mkdtempSync(path.join(tmpdir(), "deskfleet-tls-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const [key, certificate] = ["key.pem", "certificate.pem"].map((name) => path.join(folder, name));

/** Makes a certificate of 127.0.0.1 that no browser knows. */
function withCertificate() {
    const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    execFileSync("openssl", ["req", "-x509", ...curve, "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=deskfleet", "-addext", "subjectAltName=IP:127.0.0.1"], { stdio: "pipe" });
    return ["--tls-cert", certificate, "--tls-key", key];
}

consoleTest(
    "console_is_served_over_tls_and_http_2",
    async ({ page, url, browser, load, show }) => {
        assert.match(url, /^https:/);
        const { secure, protocol } = await page.evaluate(() => ({ secure: isSecureContext, protocol: performance.getEntriesByType("navigation")[0].nextHopProtocol }));
        assert.deepEqual([secure, protocol], [true, "h2"], "what the browser negotiated");
        await load([{ workSpId: "ws-1", computerName: "DESK-1", state: "AVAILABLE" }]);
        await show("#/desktops");
        await page.waitForFunction(() => document.querySelector("main#main").textContent.includes("DESK-1"));
        // Events arrive over the same connection.
        await page.waitForSelector(".live.live");
        if (browser === "chromium") {
            const response = await page.reload();
            const details = response.securityDetails();
            assert.deepEqual([details.protocol(), details.issuer()], ["TLS 1.3", "deskfleet"]);
            assert.match(response.headers()["strict-transport-security"], /max-age=31536000/);
        }
    },
    { transports: ["server"], arguments: withCertificate, acceptInsecureCerts: true, bundle: true },
);
