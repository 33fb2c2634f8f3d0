import type { Engine, EngineOptions, Storage } from "./index.js";

export interface AnswerOptions extends Omit<EngineOptions, "storage" | "restore"> {
    /** The name of the IndexedDB database, by default `deskfleet`. */
    name?: string;
    /** Opens another storage instead; called each time the browser has started the worker anew. */
    storage?: () => Storage | Promise<Storage>;
    /** Prefixes of the paths that are served, default `["/api/"]`; case does not matter. All other requests pass. */
    paths?: string[];
    /** The folder of the service, default `/`; it is removed before the engine sees a path. */
    base?: string;
    /** Called with each opened engine, before it serves requests: to put workspaces, for example. */
    onOpen?: (engine: Engine) => void | Promise<void>;
    /** Whether a new worker takes over open pages at once. Default true. */
    takeOver?: boolean;
}

/**
 * Makes a service worker serve requests of its pages with an engine, which is opened at the first of them. It always
 * responds: a failure is a problem response, 500 or 503. Call it at the top of the worker's script.
 */
export function answerFetches(options?: AnswerOptions): {
    /**
     * The engine, opened if necessary. Call it anew each time: the browser stops workers, and an engine that
     * crashed is replaced.
     */
    engine(): Promise<Engine>;
};
