import { DeskfleetError } from "../errors.js";
import { afterThisTurn } from "../turn.js";
import { lost, unmade } from "./calls.js";
import { Leader } from "./leader.js";

/** Part of the names by which workers find each other; another when they would not understand each other. */
const PROTOCOL = 1;
/** A worker that starts may be heard a little later than it speaks. */
const KNOCK_MS = 100;
/** Longer than a file is waited for. */
const WELCOME_MS = 15_000;
/** How often the leader is asked whether it is there while calls are not answered. */
const WATCH_MS = 1_000;
/** When it was asked this often in vain, the calls are refused. */
const SILENT_TIMES = 15;
const SILENT = `the tab that keeps the store did not answer for ${(SILENT_TIMES * WATCH_MS) / 1000} s`;
const CLOSED = "the tab that kept the store was closed";

/**
 * One of the workers that share a store. The one that holds the Web Lock is the leader: it has the file open and answers for all.
 * The others send it their calls, each over a channel of its own. When it is gone the browser gives the lock to the next, which
 * opens the file and makes itself known; what had not been answered is sent to it.
 */
export class Member {
    #base;
    #id = crypto.randomUUID();
    #tell;
    #makeLeader;
    /** Heard by all members. */
    #hall;
    /** Heard by this one. */
    #inbox;
    /** @type {Leader | undefined} */
    #leader;
    /** The channel of another's leader, once it has welcomed this member. @type {BroadcastChannel | undefined} */
    #remote;
    /** Which leader made itself known last. @type {string | undefined} */
    #expected;
    /** Calls that another leader is to answer, by their number. @type {Map<number, { call: object, sent: boolean, doubtful?: boolean }>} */
    #unanswered = new Map();
    /** Channels to those that this leader answers. @type {Map<string, BroadcastChannel>} */
    #guests = new Map();
    #release = () => {};
    #leave = () => {};
    #knocking;
    #watching;
    /** Whether this member is the leader or is about to be. */
    #leading = false;
    /** How often the leader was asked since it was last heard. */
    #askedInVain = 0;
    #joining = { joined() {}, failed() {} };
    #closed = new AbortController();

    /**
     * @param {string} name of the store
     * @param {() => Promise<import("../index.js").Engine>} open opens it
     * @param {(answers: object[]) => void} tell takes the answers to the calls of {@link take}
     */
    constructor(name, open, tell) {
        this.#base = `deskfleet:${PROTOCOL}:${name}`;
        this.#makeLeader = () => new Leader(name, open);
        this.#tell = gathered(tell);
    }

    /**
     * Resolves once there is a leader; rejects when this member should be it and cannot open the file.
     * @param {(lock: string) => void} begun is given the name of a Web Lock that is held for as long as this member lives
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

    /** Makes calls; their answers are told. */
    take(calls) {
        for (const call of calls) {
            if (this.#leader) void this.#leader.answer(call).then(this.#tell);
            else this.#unanswered.set(call.id, { call, sent: false });
        }
        this.#send();
        if (this.#unanswered.size > 0) this.#watch();
    }

    /** Gives everything back. A leader answers what it was asked first, and tells the others that it goes. */
    async close() {
        clearInterval(this.#knocking);
        this.#unwatch();
        this.#closed.abort();
        this.#hall.close();
        this.#inbox.onmessage = null;
        try {
            await this.#leader?.close();
            // Answers go at the end of a turn; the farewell comes after them.
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
        // Opening may take long, and then calls are answered here.
        this.#leading = true;
        this.#unwatch();
        const leader = this.#makeLeader();
        try {
            await leader.engine();
        } catch (error) {
            // At first there is someone to tell; later, each call tells, and tries again.
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
            if (sent && !call.repeatable) this.#tell(lost(call, CLOSED));
            else void leader.answer(call).then(this.#tell);
        }
        this.#joining.joined();
        return new Promise((release) => (this.#release = release));
    }

    /** Takes a member in; it is forgotten when its lock is free. */
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
        const tell = gathered((answers) => guest.postMessage({ type: "answers", answers }));
        for (const call of calls) void this.#leader.answer(call).then(tell);
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
            this.#tell(...answers.filter(({ id }) => this.#unanswered.delete(id)));
        }
        if (type === "gone") {
            // It answered all that it took, so that what is left was not taken.
            for (const waiting of this.#unanswered.values()) waiting.sent = false;
            this.#forget();
        }
        if (type === "welcome" && !this.#leader && !this.#remote && (this.#expected ?? leader) === leader) {
            clearInterval(this.#knocking);
            this.#expected = leader;
            this.#remote = new BroadcastChannel(this.#channelOf(leader));
            for (const [id, { call, sent }] of this.#unanswered) {
                if (!sent || call.repeatable) continue;
                this.#unanswered.delete(id);
                this.#tell(lost(call, CLOSED));
            }
            for (const waiting of this.#unanswered.values()) {
                // Once in doubt, always: what is sent again may have been carried out the first time.
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

    /** Asks for the leader until one answers. */
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
     * Refuses what is not answered when the leader is silent for too long: the browser may have frozen its tab. Counts in steps, for
     * this worker may have been frozen itself.
     */
    #watch() {
        if (this.#watching !== undefined || this.#leading) return;
        this.#askedInVain = 0;
        this.#watching = setInterval(() => {
            if (this.#unanswered.size === 0) return this.#unwatch();
            this.#askedInVain += 1;
            if (this.#askedInVain <= SILENT_TIMES) return this.#hall.postMessage({ type: "who", from: this.#id });
            this.#unwatch();
            for (const { call, sent, doubtful } of this.#unanswered.values()) this.#tell(sent || doubtful ? lost(call, SILENT) : unmade(call, SILENT));
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

/** Tells together what comes in one turn. */
function gathered(tell) {
    let answers = [];
    return (...more) => {
        if (more.length > 0 && answers.length === 0) {
            afterThisTurn(() => {
                const told = answers;
                answers = [];
                tell(told);
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
