/**
 * The timers at the first import. A test may replace the global ones with timers that stand still until it moves them, and no commit may wait for
 * that.
 */
export const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;
