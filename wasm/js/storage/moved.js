/**
 * Moves `length` bytes, in several steps if fewer are moved at once.
 * @param {"read" | "write"} verb for the message
 * @param {number} length
 * @param {(done: number) => number} move moves the bytes after the first `done`; returns how many
 */
export function moveAll(verb, length, move) {
    for (let done = 0; done < length; ) {
        const rest = length - done;
        const moved = move(done);
        // A browser at its quota was seen to return more than it was given.
        if (!Number.isInteger(moved) || moved < 1 || moved > rest) {
            throw new RangeError(`${String(moved)} of the last ${rest} of ${length} bytes were ${verb === "read" ? "read" : "written"}`);
        }
        done += moved;
    }
}
