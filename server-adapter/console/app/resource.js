// Data of a page: loaded, kept while it is loaded again, and loaded again when something happens.

import { live, onEvent } from "./live.js";
import { useCallback, useEffect, useRef, useState } from "./vendor/preact.js";

/** Events that come together cause one load. */
const TOGETHER_MS = 250;
/** A load that takes longer is given up. */
const LOAD_MAX_MS = 60_000;

/**
 * @template T
 * @typedef {{ data: T | undefined, error: Error | undefined, loading: boolean, at: number | undefined, reload: () => void }} Resource
 * `data` is that of the last load which succeeded for the same `key`, at the time `at` in ms
 */

/**
 * Loads something when `key` changes, every `every` milliseconds while the page is visible, and after the events in `on`.
 * @template T
 * @param {string} key what is loaded; another key is another thing, whose data is not shown for this one
 * @param {(signal: AbortSignal) => Promise<T>} load
 * @param {{ every?: number, on?: (event: import("./live.js").FleetEvent) => boolean }} [when]
 * @returns {Resource<T>}
 */
export function useResource(key, load, { every, on } = {}) {
    const [state, setState] = useState(/** @type {{ key: string, data?: T, error?: Error, at?: number, loading: boolean }} */ ({ key, loading: true }));
    const latest = useRef({ load, on });
    latest.current = { load, on };
    const loading = useRef(/** @type {{ controller: AbortController, again: boolean } | undefined} */ (undefined));

    // What happens during a load causes another after it, and does not end it: under many events none would arrive.
    const reload = useCallback(() => {
        if (loading.current !== undefined) {
            loading.current.again = true;
            return;
        }
        const load = (loading.current = { controller: new AbortController(), again: false });
        const { signal } = load.controller;
        setState((before) => (before.key === key ? { ...before, loading: true } : { key, loading: true }));
        /** @param {(before: any) => any} next */
        const loaded = (next) => {
            if (signal.aborted) return;
            loading.current = undefined;
            setState(next);
            if (load.again) reload();
        };
        latest.current.load(AbortSignal.any([signal, AbortSignal.timeout(LOAD_MAX_MS)])).then(
            (data) => loaded(() => ({ key, data, at: Date.now(), loading: false })),
            (error) => loaded((before) => ({ key, ...(before.key === key ? { data: before.data, at: before.at } : {}), error, loading: false })),
        );
    }, [key]);

    useEffect(() => {
        reload();
        return () => {
            loading.current?.controller.abort();
            loading.current = undefined;
        };
    }, [reload]);

    useEffect(() => {
        if (every === undefined) return;
        const timer = setInterval(() => {
            if (!document.hidden) reload();
        }, every);
        return () => clearInterval(timer);
    }, [reload, every]);

    useEffect(() => {
        /** @type {ReturnType<typeof setTimeout> | undefined} */
        let timer;
        const stop = onEvent((event) => {
            if (event.type !== "resync" && !latest.current.on?.(event)) return;
            timer ??= setTimeout(() => {
                timer = undefined;
                reload();
            }, TOGETHER_MS);
        });
        return () => {
            stop();
            clearTimeout(timer);
        };
    }, [reload]);

    // What failed without a connection is there again with it.
    const failed = useRef(false);
    failed.current = state.error !== undefined;
    useEffect(() => live.subscribe((now) => now === "live" && failed.current && reload()), [reload]);

    const shown = state.key === key ? state : { key, data: undefined, error: undefined, loading: true };
    return { data: shown.data, error: shown.error, loading: shown.loading, at: shown.at, reload };
}
