/** How old what the browser said about space may be. */
const STALE_MS = 10_000;

/** Whether the browser promised not to throw the data of this origin away. It may say no, and not every browser can say. */
export async function isKept() {
    try {
        return (await navigator.storage.persisted()) === true;
    } catch {
        return false;
    }
}

/**
 * What the browser says about the data of this origin, kept at hand for callers that cannot wait: whether it stays, and how many
 * bytes are free. Whoever asks gets what was said last, and has it asked again.
 */
export async function watchKeeping() {
    let kept = false;
    let free = Number.MAX_SAFE_INTEGER;
    /** What was added since the browser counted. */
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
            // Some browsers do not tell; writing shows it then.
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
