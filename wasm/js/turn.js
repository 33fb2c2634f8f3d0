import { setTimeout } from "./timers.js";

// Taken at the first import, like the timers.
const { setImmediate, MessageChannel } = globalThis;

/** Runs `task` after the tasks that are ready in this turn of the event loop. @type {(task: () => void) => void} */
export const afterThisTurn = choose();

function choose() {
    if (typeof setImmediate === "function" && !isReplaced(setImmediate)) return (task) => void setImmediate(task);
    // Nested timers wait 4 ms in a browser; messages do not.
    const inBrowser = typeof document === "object" || typeof importScripts === "function";
    if (typeof MessageChannel === "function" && (inBrowser || isReplaced(setTimeout))) return byMessage();
    return (task) => void setTimeout(task, 0);
}

/** Whether a test had replaced a timer before the first import: the fake timers of sinon, which jest and vitest contain, carry their clock. */
function isReplaced(timer) {
    return typeof timer.clock === "object";
}

function byMessage() {
    const { port1, port2 } = new MessageChannel();
    const tasks = [];
    port1.onmessage = () => {
        // In Node an open port keeps the process alive; here, only while a task is due.
        if (tasks.length === 1) port1.unref?.();
        tasks.shift()?.();
    };
    port1.unref?.();
    return (task) => {
        tasks.push(task);
        port1.ref?.();
        port2.postMessage(null);
    };
}
