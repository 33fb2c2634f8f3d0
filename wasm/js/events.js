import { invalidArgument, kindOf } from "./errors.js";

/** @param {unknown} after a position in the event log, or nothing for now @returns {number | null} */
export function position(after) {
    if (after === undefined || after === null) return null;
    if (!Number.isSafeInteger(after) || after < 0) throw invalidArgument(`after must be the id of an event, not ${typeof after === "number" ? after : kindOf(after)}`);
    return after;
}

/**
 * Follows the event log after a position, until `return()` or until the source is over.
 * @param {number | Promise<number>} start
 * @param {{ read: (after: number) => Promise<{ events: Array<{ id: number }> }>, whenMoved: (wake: () => void) => void, isOver: () => boolean }} source
 * `whenMoved` calls back once, when there may be more to read or the source is over
 */
export function followed(start, source) {
    let over = false;
    let wake = () => {};
    async function* follow() {
        let after = await start;
        while (!over && !source.isOver()) {
            // Before reading: what is committed meanwhile is not missed.
            const moved = new Promise((resolve) => {
                wake = resolve;
                source.whenMoved(resolve);
            });
            const events = await readUnlessOver(after);
            for (const event of events) {
                after = event.id;
                yield event;
            }
            if (events.length === 0) await moved;
        }
    }
    async function readUnlessOver(after) {
        try {
            return (await source.read(after)).events;
        } catch (error) {
            if (source.isOver()) return [];
            throw error;
        }
    }
    const events = follow();
    return {
        next: () => events.next(),
        return(value) {
            over = true;
            wake();
            return events.return(value);
        },
        [Symbol.asyncIterator]() {
            return this;
        },
        async [Symbol.asyncDispose]() {
            await this.return();
        },
    };
}
