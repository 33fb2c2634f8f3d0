// Programs that the tests start, and end.

import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

/** A bound against hanging, in milliseconds. */
const PATIENCE_MS = 120_000;
const running = new Set();

process.on("exit", () => {
    for (const child of running) child.kill("SIGKILL");
});

/**
 * Starts a program.
 * @param {string} binary @param {string[]} parameters
 * @param {{ cwd?: string, env?: Record<string, string>, input?: string }} [options] `input` is what it reads
 */
export function start(binary, parameters, { cwd, env, input } = {}) {
    const child = spawn(binary, parameters, { cwd, env: { ...process.env, NO_COLOR: "1", ...env }, stdio: "pipe" });
    child.stdin.on("error", () => {}).end(input);
    running.add(child);
    const said = { out: "", err: "" };
    child.stdout.setEncoding("utf8").on("data", (text) => (said.out += text));
    child.stderr.setEncoding("utf8").on("data", (text) => (said.err += text));
    const ended = new Promise((resolve, reject) => {
        child.once("error", reject);
        child.once("close", (code, signal) => {
            running.delete(child);
            resolve({ code, signal, ...said });
        });
    });
    ended.catch(() => {});
    return {
        said,
        ended,
        /** Kills it at once, as a power cut would. */
        async kill() {
            child.kill("SIGKILL");
            await ended;
        },
        /** Resolves once `ready` returns true; fails when the program ends before. @param {() => unknown} ready */
        async until(ready) {
            const end = Date.now() + PATIENCE_MS;
            for (;;) {
                const answer = await ready();
                if (answer) return answer;
                if (!running.has(child)) throw new Error(`${binary} ended: ${said.out}\n${said.err}`);
                if (Date.now() > end) throw new Error(`${binary} hangs: ${said.out}\n${said.err}`);
                await pause(5);
            }
        },
    };
}

/** Runs a program to its end; returns its output. */
export async function output(binary, parameters, options) {
    const { code, signal, out, err } = await start(binary, parameters, options).ended;
    if (code !== 0) throw new Error(`${binary} ${parameters.join(" ")} ended with ${code ?? signal}:\n${out}\n${err}`);
    return out;
}

/** A free port. @returns {Promise<number>} */
export function freePort() {
    return new Promise((resolve, reject) => {
        const server = createServer().once("error", reject);
        server.listen(0, "127.0.0.1", () => {
            const { port } = server.address();
            server.close(() => resolve(port));
        });
    });
}

/** Whether a server responds there. @param {string} url */
export async function answers(url) {
    try {
        return await fetch(url);
    } catch {
        return undefined;
    }
}
