import { DeskfleetError } from "../errors.js";
import { clearInterval, clearTimeout, setInterval, setTimeout } from "../timers.js";
import { afterThisTurn } from "../turn.js";
import { isRepeatable, lost, unmade } from "./calls.js";
import { Leader } from "./leader.js";

/** Part of the names by which workers find each other; changed when versions are incompatible. */
const PROTOCOL = 1;
/** Interval of requests for the leader, in milliseconds: a leader that just started may miss the first ones. */
const KNOCK_MS = 100;
/** Longer than the wait for a file, in milliseconds. */
const WELCOME_MS = 15_000;
/** Interval of pings to the leader while calls are pending, in milliseconds. */
const WATCH_MS = 1_000;
/** Unanswered pings after which pending calls are refused. */
const SILENT_TIMES = 15;
const SILENT = `the tab that keeps the store did not answer for ${(SILENT_TIMES * WATCH_MS) / 1000} s`;
const CLOSED = "the tab that kept the store was closed";

/**
 * One of the workers that share a store. The one that holds the Web Lock is the leader: it has the file open and serves
 * all members. The others send it their calls, each over its own channel. When it is gone, the browser gives the lock
 * to the next member, which opens the file and announces itself; pending calls are sent to it.
 */
export class Member {
    #base;
    #id = crypto.randomUUID();
    #deliver;
    #makeLeader;
    /** Received by all members. */
    #hall;
    /** Received by this member. */
    #inbox;
    /** @type {Leader | undefined} */
    #leader;
    /**
     * The channel to another member's leader, once it has welcomed this member. @type {BroadcastChannel |
     * undefined}
     */
    #remote;
    /** The leader that announced itself last. @type {string | undefined} */
    #expected;
    /**
     * Calls pending at another leader, by their number. @type {Map<number, { call: object, sent: boolean,
     * doubtful?: boolean }>}
     */
    #unanswered = new Map();
    /** Channels to the members that this leader serves. @type {Map<string, BroadcastChannel>} */
    #guests = new Map();
    #release = () => {};
    #leave = () => {};
    #knocking;
    #watching;
    /** Whether this member is the leader or is about to be. */
    #leading = false;
    /** Pings since the last message from the leader. */
    #askedInVain = 0;
    #joining = { joined() {}, failed() {} };
    #closed = new AbortController();

    /**
     * @param {string} name of the store
     * @param {() => Promise<import("../index.js").Engine>} open opens it
     * @param {(answers: object[]) => void} deliver receives the results of the calls of {@link take}
     */
    constructor(name, open, deliver) {
        this.#base = `deskfleet:${PROTOCOL}:${name}`;
        this.#makeLeader = () => new Leader(name, open);
        this.#deliver = gathered(deliver);
    }

    /**
     * Resolves once there is a leader; rejects when this member should lead and cannot open the file.
     * @param {(lock: string) => void} begun receives the name of a Web Lock that is held for as long as this member
     * lives
     */
    async join(begun) {
        await new Promise((held) => {
            const lock = this.#channelOf(this.#id);
            void navigator.locks.request(lock, () => {
                begun(lock);
                held();
                return new Promise((leave) => (this.#leave = leave));
            });
        });
        this.#inbox = new BroadcastChannel(this.#channelOf(this.#id));
        this.#inbox.onmessage = ({ data }) => this.#receive(data);
        this.#hall = new BroadcastChannel(this.#base);
        this.#hall.onmessage = ({ data }) => this.#overhear(data);
        await new Promise((joined, failed) => {
            const waited = setTimeout(() => failed(silent()), WELCOME_MS);
            const settled = () => clearTimeout(waited);
            navigator.locks.request(this.#base, { signal: this.#closed.signal }, () => this.#lead()).catch(failed);
            this.#joining = { joined: () => (settled(), joined()), failed: (error) => (settled(), failed(error)) };
            this.#knock();
        });
    }

    /** Makes calls; their results are delivered. */
    take(calls) {
        for (const call of calls) {
            if (this.#leader) void this.#leader.answer(call).then(this.#deliver);
            else this.#unanswered.set(call.id, { call, sent: false });
        }
        this.#send();
        if (this.#unanswered.size > 0) this.#watch();
    }

    /** Closes. A leader completes pending calls first, and announces its end. */
    async close() {
        clearInterval(this.#knocking);
        this.#unwatch();
        this.#closed.abort();
        this.#hall.close();
        this.#inbox.onmessage = null;
        try {
            await this.#leader?.close();
            // Results are sent at the end of a turn; the farewell comes after them.
            for (let turn = 0; turn < 2; turn++) await new Promise(afterThisTurn);
        } finally {
            for (const guest of this.#guests.values()) {
                guest.postMessage({ type: "gone", leader: this.#id });
                guest.close();
            }
            this.#inbox.close();
            this.#remote?.close();
            this.#release();
            this.#leave();
        }
    }

    // ---- as the leader

    async #lead() {
        // Opening may take long; calls that arrive meanwhile are served here.
        this.#leading = true;
        this.#unwatch();
        const leader = this.#makeLeader();
        try {
            await leader.engine();
        } catch (error) {
            // At first the error goes to one caller; later, each call reports it and tries again.
            if (this.#remote === undefined && this.#expected === undefined) return this.#joining.failed(error);
        }
        if (this.#closed.signal.aborted) return leader.close();
        clearInterval(this.#knocking);
        this.#leader = leader;
        this.#remote?.close();
        this.#remote = undefined;
        this.#hall.postMessage({ type: "leader", leader: this.#id });
        const left = [...this.#unanswered.values()];
        this.#unanswered.clear();
        for (const { call, sent } of left) {
            if (sent && !isRepeatable(call)) this.#deliver(lost(call, CLOSED));
            else void leader.answer(call).then(this.#deliver);
        }
        this.#joining.joined();
        return new Promise((release) => (this.#release = release));
    }

    /** Admits a member; it is forgotten when its lock is free. */
    #welcome(guest) {
        if (!this.#guests.has(guest)) {
            this.#guests.set(guest, new BroadcastChannel(this.#channelOf(guest)));
            void navigator.locks.request(this.#channelOf(guest), () => {
                this.#guests.get(guest)?.close();
                this.#guests.delete(guest);
            });
        }
        this.#guests.get(guest).postMessage({ type: "welcome", leader: this.#id });
    }

    #answer({ from, calls }) {
        const guest = this.#guests.get(from);
        if (guest === undefined) return;
        const deliver = gathered((answers) => guest.postMessage({ type: "answers", answers }));
        for (const call of calls) void this.#leader.answer(call).then(deliver);
    }

    // ---- as one of the others

    #overhear({ type, leader, from }) {
        if (type === "who" && this.#leader) this.#welcome(from);
        if (type === "leader") {
            this.#expected = leader;
            this.#forget();
        }
    }

    #receive({ type, leader, calls, from, answers }) {
        this.#askedInVain = 0;
        if (type === "calls" && this.#leader) this.#answer({ from, calls });
        if (type === "answers") {
            this.#deliver(...answers.filter(({ id }) => this.#unanswered.delete(id)));
        }
        if (type === "gone") {
            // The leader completed every call it took, so the remaining ones were not taken.
            for (const waiting of this.#unanswered.values()) waiting.sent = false;
            this.#forget();
        }
        if (type === "welcome" && !this.#leader && !this.#remote && (this.#expected ?? leader) === leader) {
            clearInterval(this.#knocking);
            this.#expected = leader;
            this.#remote = new BroadcastChannel(this.#channelOf(leader));
            for (const [id, { call, sent }] of this.#unanswered) {
                if (!sent || isRepeatable(call)) continue;
                this.#unanswered.delete(id);
                this.#deliver(lost(call, CLOSED));
            }
            for (const waiting of this.#unanswered.values()) {
                // A call in doubt stays in doubt: a repeated one may have been made the first time.
                waiting.doubtful ||= waiting.sent;
                waiting.sent = false;
            }
            this.#send();
            this.#joining.joined();
        }
    }

    #forget() {
        this.#remote?.close();
        this.#remote = undefined;
        this.#knock();
    }

    /** Pings the leader until one answers. */
    #knock() {
        clearInterval(this.#knocking);
        if (this.#leader) return;
        const who = () => this.#hall.postMessage({ type: "who", from: this.#id });
        who();
        this.#knocking = setInterval(who, KNOCK_MS);
    }

    #send() {
        if (this.#remote === undefined) return;
        const calls = [];
        for (const waiting of this.#unanswered.values()) {
            if (!waiting.sent) calls.push(waiting.call);
            waiting.sent = true;
        }
        if (calls.length > 0) this.#remote.postMessage({ type: "calls", from: this.#id, calls });
    }

    /**
     * Refuses pending calls when the leader is silent for too long: the browser may have frozen its tab. Counts pings,
     * not time, because this worker may have been frozen itself.
     */
    #watch() {
        if (this.#watching !== undefined || this.#leading) return;
        this.#askedInVain = 0;
        this.#watching = setInterval(() => {
            if (this.#unanswered.size === 0) return this.#unwatch();
            this.#askedInVain += 1;
            if (this.#askedInVain <= SILENT_TIMES) return this.#hall.postMessage({ type: "who", from: this.#id });
            this.#unwatch();
            for (const { call, sent, doubtful } of this.#unanswered.values()) this.#deliver(sent || doubtful ? lost(call, SILENT) : unmade(call, SILENT));
            this.#unanswered.clear();
            this.#forget();
        }, WATCH_MS);
    }

    #unwatch() {
        clearInterval(this.#watching);
        this.#watching = undefined;
    }

    #channelOf(member) {
        return `${this.#base}:${member}`;
    }
}

/** Delivers together the results of one turn. */
export function gathered(deliver) {
    let answers = [];
    return (...more) => {
        if (more.length > 0 && answers.length === 0) {
            afterThisTurn(() => {
                const turn = answers;
                answers = [];
                deliver(turn);
            });
        }
        answers.push(...more);
    };
}

function silent() {
    return new DeskfleetError(
        "StorageLocked",
        `another tab keeps the store and did not answer for ${WELCOME_MS / 1000} s; close or load it again, it may run another version`,
    );
}
