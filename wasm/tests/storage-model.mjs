// Compares a storage with plain bytes, over random steps. Uses no runtime API.

/** Pseudo-random numbers from 0 to 1, determined by the seed. */
function random(seed) {
    let state = seed >>> 0;
    return () => {
        state = (state + 0x6d2b79f5) >>> 0;
        let mixed = Math.imul(state ^ (state >>> 15), state | 1);
        mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
        return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    };
}

const LENGTH_MAX = 3_000_000;

/**
 * @param {() => import("../js/index.js").Storage} open opens the existing storage
 * @param {number} seed @param {number} steps
 * @returns {{ counts: Record<string, number>, difference?: string }}
 */
export function compare(open, seed, steps) {
    const next = random(seed);
    const upTo = (bound) => Math.floor(next() * (bound + 1));
    const counts = { read: 0, write: 0, setLen: 0, sync: 0, reopen: 0 };
    let storage = open();
    let model = new Uint8Array(storage.len());
    storage.read(0, model);
    const range = (longest) => {
        const at = upTo(model.length);
        return [at, upTo(Math.min(longest, model.length - at))];
    };
    const take = {
        read() {
            const [at, count] = range(next() < 0.1 ? LENGTH_MAX : 50_000);
            const found = new Uint8Array(count).fill(0xaa);
            storage.read(at, found);
            return found.every((byte, index) => byte === model[at + index]) ? undefined : `read of ${count} bytes at ${at}`;
        },
        write() {
            const [at, count] = range(next() < 0.05 ? LENGTH_MAX : 40_000);
            const bytes = new Uint8Array(count).fill(1 + upTo(254));
            model.set(bytes, at);
            storage.write(at, bytes);
            // The caller may reuse its memory.
            bytes.fill(0);
        },
        setLen() {
            const length = next() < 0.5 ? upTo(LENGTH_MAX) : Math.min(LENGTH_MAX, Math.max(0, model.length + upTo(40_000) - 20_000));
            const longer = new Uint8Array(length);
            longer.set(model.subarray(0, length));
            model = longer;
            storage.setLen(length);
        },
        sync: () => storage.sync(),
        reopen() {
            storage.sync();
            storage.close();
            storage = open();
        },
    };
    const choices = ["read", "read", "read", "write", "write", "write", "write", "setLen", "sync", "reopen"];
    for (let step = 0; step < steps; step++) {
        const name = choices[upTo(choices.length - 1)];
        counts[name] += 1;
        const difference = take[name]();
        if (difference) return { counts, difference: `seed ${seed}, step ${step}: ${difference}` };
        if (storage.len() !== model.length) return { counts, difference: `seed ${seed}, step ${step}: length after ${name}` };
    }
    take.reopen();
    const difference = take.read();
    storage.close();
    return { counts, difference };
}
