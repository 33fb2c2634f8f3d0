import type { Engine, EngineOptions, Storage } from "./index.js";

export interface AnswerOptions extends Omit<EngineOptions, "storage" | "restore"> {
    /** The name of the IndexedDB database, by default `deskfleet`. */
    name?: string;
    /** Opens another storage in its place; called whenever the browser has started the worker anew. */
    storage?: () => Storage | Promise<Storage>;
    /** What the paths begin with that are answered, by default `["/api/"]`; case does not matter. All other requests pass. */
    paths?: string[];
    /** The folder in which the service lies, by default `/`; it is taken off before the engine sees a path. */
    base?: string;
    /** Called with each engine that was opened, before it answers: to put workspaces, for one. */
    onOpen?: (engine: Engine) => void | Promise<void>;
    /** Whether a new worker takes over at once the pages that are open. Default true. */
    takeOver?: boolean;
}

/**
 * Makes a service worker answer the requests of its pages from an engine, which is opened at the first of them. It always answers:
 * a failure is a problem response, 500 or 503. Call it at the top of the worker's script.
 */
export function answerFetches(options?: AnswerOptions): {
    /** The engine, opened if need be. Ask anew each time: the browser stops workers, and an engine that crashed is replaced. */
    engine(): Promise<Engine>;
};
