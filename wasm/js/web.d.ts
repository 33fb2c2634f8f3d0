// The parts of the platform that the package uses, by the names of the library that the compiler is given: the DOM's,
// Node's or a Worker's. Without any of them, minimal declarations.

/// <reference lib="esnext.disposable" />

type Platform = typeof globalThis;

export type WebHeaders = Platform extends { Headers: { prototype: infer T } } ? T : HeadersLike;
export type WebRequest = Platform extends { Request: { prototype: infer T } } ? T : RequestLike;
export type WebResponse = Platform extends { Response: { prototype: infer T } } ? T : ResponseLike;
export type WebUrl = Platform extends { URL: { prototype: infer T } } ? T : { readonly href: string };
export type WebWorker = Platform extends { Worker: { prototype: infer T } } ? T : WorkerLike;
export type WasmModule = Platform extends { WebAssembly: { Module: { prototype: infer T } } } ? T : object;
/** The second argument of `fetch`. */
export type WebRequestInit = Platform extends { Request: new (input: any, init?: infer T) => any } ? T : RequestInitLike;

interface HeadersLike extends Iterable<[string, string]> {
    get(name: string): string | null;
}

interface RequestLike {
    readonly method: string;
    readonly url: string;
    readonly headers: HeadersLike;
    readonly body: unknown;
    readonly bodyUsed: boolean;
    arrayBuffer(): Promise<ArrayBuffer>;
}

interface ResponseLike {
    readonly status: number;
    readonly ok: boolean;
    readonly headers: HeadersLike;
    readonly body: unknown;
    arrayBuffer(): Promise<ArrayBuffer>;
    json(): Promise<any>;
    text(): Promise<string>;
}

interface RequestInitLike {
    method?: string;
    headers?: Record<string, string> | HeadersLike | Array<[string, string]>;
    body?: string | Uint8Array | null;
    signal?: object | null;
}

interface WorkerLike {
    postMessage(message: any, transfer: any[]): void;
    terminate(): void;
}
