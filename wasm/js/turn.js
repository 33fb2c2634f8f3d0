/** Runs `task` after the tasks that are ready in this turn of the event loop. @type {(task: () => void) => void} */
export const afterThisTurn = choose();

function choose() {
    if (typeof setImmediate === "function") return (task) => void setImmediate(task);
    // Nested timers wait 4 ms in a browser; messages do not.
    if (typeof MessageChannel === "function" && typeof document === "object") return byMessage();
    if (typeof MessageChannel === "function" && typeof importScripts === "function") return byMessage();
    return (task) => void setTimeout(task, 0);
}

function byMessage() {
    const { port1, port2 } = new MessageChannel();
    const tasks = [];
    port1.onmessage = () => tasks.shift()?.();
    return (task) => {
        tasks.push(task);
        port2.postMessage(null);
    };
}
