/** Milliseconds for which an answer of the browser about space is used. */
const STALE_MS = 10_000;

/** Whether the browser promised to keep the data of this origin. It may refuse, and some browsers have no such API. */
export async function isKept() {
    try {
        return (await navigator.storage.persisted()) === true;
    } catch {
        return false;
    }
}

/**
 * The browser's answers about the data of this origin, cached for callers that cannot wait: whether it is persistent,
 * and how many bytes are free. A caller gets the last answer and starts the next request.
 */
export async function watchKeeping() {
    let kept = false;
    let free = Number.MAX_SAFE_INTEGER;
    /** Bytes added since the browser's last answer. */
    let grown = 0;
    let asked = 0;

    const ask = async () => {
        asked = Date.now();
        kept = await isKept();
        try {
            const { quota, usage } = await navigator.storage.estimate();
            free = Math.max(0, quota - usage);
            grown = 0;
        } catch {
            // Some browsers have no estimate; then a failing write shows it.
        }
    };
    const askAgain = () => {
        if (Math.abs(Date.now() - asked) > STALE_MS) void ask();
    };
    await ask();
    return {
        get kept() {
            askAgain();
            return kept;
        },
        grew(bytes) {
            grown += bytes;
        },
        freeBytes() {
            askAgain();
            return Math.max(0, free - grown);
        },
    };
}
