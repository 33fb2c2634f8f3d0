/** The clock of a double, and waits that end when their time has passed or when the clock was advanced by as much. */
export class Pause {
    #waiting = new Set();

    /** @param {number} now in milliseconds since 1970 */
    constructor(now) {
        this.now = now;
    }

    /** Uses the timers there are now, so that fake timers move it as well. @param {number} milliseconds @param {AbortSignal} [signal] */
    wait(milliseconds, signal) {
        return new Promise((resolve, reject) => {
            const waiting = { until: this.now + milliseconds, end: () => {} };
            const timer = setTimeout(() => waiting.end(), milliseconds);
            const aborted = () => waiting.end(() => reject(signal?.reason));
            waiting.end = (settle = resolve) => {
                clearTimeout(timer);
                signal?.removeEventListener("abort", aborted);
                this.#waiting.delete(waiting);
                settle();
            };
            this.#waiting.add(waiting);
            signal?.addEventListener("abort", aborted);
            if (signal?.aborted) aborted();
        });
    }

    advance(milliseconds) {
        this.set(this.now + milliseconds);
    }

    set(now) {
        this.now = now;
        for (const waiting of [...this.#waiting]) if (waiting.until <= now) waiting.end();
    }
}
