// The fleet of the server that this page comes from.

/**
 * A way to a fleet: the rest of the console does not know which.
 * @typedef {object} Transport
 * @property {"server" | "engine"} kind
 * @property {string} place where the fleet is, for people
 * @property {(path: string, init?: RequestInit) => Promise<Response>} fetch
 * @property {(after: number | undefined, key: string, signal: AbortSignal, opened: () => void) => AsyncIterable<FleetEvent>} events
 * events after a number, or from now; throws or ends when they stop
 * @property {() => Promise<IssuedKey>} [ownKey] issues a key without a sign-in
 * @property {() => Promise<void>} [wipe] deletes the fleet
 * @property {() => Promise<number>} [file] files the queue now
 *
 * @typedef {{ id: number, at: string, type: string, workSpaceId: string | null, username: string | null, detail: any }} FleetEvent
 * @typedef {{ id: number, key: string, name: string, expires: string | null }} IssuedKey
 */

/** @returns {Promise<Transport>} */
export async function connect() {
    /** Below the page's own address, whatever the path holds. @param {string} path begins with `/` */
    const address = (path) => new URL(`.${path}`, document.baseURI.replace(/[?#].*$/, ""));
    return {
        kind: "server",
        place: location.host,
        fetch: (path, init) => fetch(address(path), { cache: "no-store", credentials: "omit", ...init }),
        async *events(after, key, signal, opened) {
            const headers = { accept: "text/event-stream", "x-api-key": key };
            const query = after === undefined ? "" : `?after=${after}`;
            const response = await fetch(address(`/query/events${query}`), { headers, signal, cache: "no-store", credentials: "omit" });
            if (!response.ok || response.body === null) throw Object.assign(new Error(`events: ${response.status}`), { status: response.status });
            opened();
            yield* parsed(response.body);
        },
    };
}

/** The server sends a comment every 15 s: a stream that is silent for longer is dead, as after a sleep of the machine. */
const SILENCE_MAX_MS = 40_000;
/** The longest block of an event: beyond it the stream is not one of ours. */
const BLOCK_MAX = 1 << 20;

/**
 * The data of server-sent events.
 * @param {ReadableStream<Uint8Array>} body
 */
async function* parsed(body) {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    let text = "";
    try {
        for (;;) {
            const silent = setTimeout(() => void reader.cancel().catch(() => {}), SILENCE_MAX_MS);
            const { done, value } = await reader.read().finally(() => clearTimeout(silent));
            if (done) return;
            text += decoder.decode(value, { stream: true });
            const blocks = text.split("\n\n");
            text = /** @type {string} */ (blocks.pop());
            if (text.length > BLOCK_MAX) throw new Error("an event is too long");
            for (const block of blocks) {
                const data = block.split("\n").filter((line) => line.startsWith("data:"));
                if (data.length > 0) yield JSON.parse(data.map((line) => line.slice(5)).join("\n"));
            }
        }
    } finally {
        reader.cancel().catch(() => {});
    }
}
