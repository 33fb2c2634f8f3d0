// Uses every entry of the package, as a strict consumer would; compiled, never run.

import { Hono } from "hono";
import { http, type HttpHandler } from "msw";
import { setupServer } from "msw/node";
import { DeskfleetError, Engine, memoryStorage } from "deskfleet";
import type { Answer, EngineOptions, ImportReport, IssuedKey, PendingAction, PendingActionList, ProblemDetails, RemovedTelemetry, StatsRecord, Storage, WorkSpaceApiResponse, Workspace, WorkspaceRow, WorkspaceRows } from "deskfleet";
import { durableObjectStorage } from "deskfleet/durable-object";
import { mount } from "deskfleet/hono";
import { indexedDbStorage } from "deskfleet/indexeddb";
import { Engine as InlineEngine } from "deskfleet/inline";
import { handlers, resolver } from "deskfleet/msw";
import { fileStorage } from "deskfleet/node";
import { connect, opfsStorage } from "deskfleet/opfs";
import type { ConnectOptions, ConnectedEngine } from "deskfleet/opfs";
import "deskfleet/opfs-worker";
import { answerFetches } from "deskfleet/service-worker";
import type { AnswerOptions } from "deskfleet/service-worker";
import { Double, Journal, fleet, record as recorded } from "deskfleet/testing";
import type { Exchange, Rule, ServedDouble } from "deskfleet/testing";

/** The relevant part of Cloudflare's type of `ctx.storage`. */
interface SqlStorageCursor<T extends Record<string, ArrayBuffer | string | number | null>> extends Iterable<T> {
    toArray(): T[];
    readonly rowsWritten: number;
}
declare const ctx: {
    storage: {
        sql: {
            exec<T extends Record<string, ArrayBuffer | string | number | null>>(query: string, ...bindings: any[]): SqlStorageCursor<T>;
            readonly databaseSize: number;
        };
        transactionSync<T>(closure: () => T): T;
        sync(): Promise<void>;
    };
};

class Own implements Storage {
    readonly persisted = true;
    #bytes = new Uint8Array(0);
    len = () => this.#bytes.length;
    read(offset: number, into: Uint8Array): void {
        into.set(this.#bytes.subarray(offset, offset + into.length));
    }
    write(offset: number, from: Uint8Array): void {
        this.#bytes.set(from, offset);
    }
    setLen(bytes: number): void {
        const longer = new Uint8Array(bytes);
        longer.set(this.#bytes.subarray(0, bytes));
        this.#bytes = longer;
    }
    sync(): void {}
    close(): void {}
    async settled(): Promise<void> {}
}

const options: EngineOptions = { storage: fileStorage("fleet.redb"), clock: () => Date.now(), seed: 7, limits: { queueRecords: 10 } };
const engine: Engine = await Engine.open(options);
await Engine.open({ storage: durableObjectStorage(ctx.storage, { maxBytes: 1e9 }) });
await Engine.open({ storage: Promise.resolve(new Own()) });
const inline: Engine = await InlineEngine.open({ storage: memoryStorage() });

const workspaces: Workspace[] = [{ workSpId: "ws-1", username: null }];
const count: number = await engine.putWorkspaces(workspaces);
const issued: IssuedKey = await engine.issueKey({ name: "desk", scopes: ["read"], expires: new Date(Date.now() + 60_000) });
const imported: ImportReport = await engine.importWorkspaces([{ workSpId: "ws-1", state: null }]);
console.log(imported.errors.map(({ line, column, message }) => `${line}:${column} ${message}`));
const rows: WorkspaceRows = await engine.query.workspaces({ state: ["STOPPED", "ERROR"], region: { not: "eu-central-1" }, sort: "-cpuP95", limit: 10 });
const asked: WorkspaceRow[] = (await engine.ask("workspaces", { nextToken: rows.nextToken })).rows;
const pending: PendingAction[] = await engine.pendingActions();
const waiting: PendingActionList = await engine.actions({ state: "waiting", limit: 10 });
const removed: RemovedTelemetry = await engine.removeTelemetry({ instanceId: "ws-1", stream: "stats", before: new Date() });
const answer: Answer = engine.handle("GET", "/api/Stats/Test", { "x-api-key": issued.key }, new Uint8Array());
const response: Response = await engine.fetch(new Request("http://fleet/api/Stats/Test"));
const posted: Response = await engine.fetch(new URL("http://fleet/api/Stats/Post"), { method: "POST", body: "{}", signal: AbortSignal.timeout(1000) });
const record: StatsRecord = { instanceId: "ws-1", processorInUse: 97 };
await engine.fetch("/api/Stats/Post", { method: "POST", body: JSON.stringify(record) });
const listed = await engine.fetch("/api/Information/GetAllWorkSpaces");
const body = (await listed.json()) as WorkSpaceApiResponse | ProblemDetails;
console.log("code" in body ? body.code : body.workSpaces.map((each) => each.state));
const restored = await Engine.restore(await engine.snapshot(), { storage: memoryStorage() });
try {
    await engine.revokeKey(issued.id, { force: true });
} catch (error) {
    if (error instanceof DeskfleetError && error.code === "NotFound") console.log(error.message, error.parameter);
}

const made: HttpHandler[] = handlers(engine, http, { origin: "https://fleet.example", base: "/fleet" });
setupServer(...made, http.all("*/api/*", resolver(Promise.resolve(engine))));
new Hono().all("/fleet/*", mount(engine, { base: "/fleet" }));

const connecting: ConnectOptions = { name: "fleet.redb", worker: new URL("./worker.js", import.meta.url), limits: { queueRecords: 10 } };
const connected: ConnectedEngine = await connect(connecting);
await connect({ worker: () => new Worker("/worker.js") }).then((each) => each.fetch("/api/Stats/Test", { method: "HEAD" }));
const kept: boolean = connected.persisted() || (await connected.persist());
connected.advanceClock((await connected.putWorkspaces(workspaces)) + (await connected.fetch(new Request("/api/Stats/Test"))).status);
await connected.wipe();
await connected.close();
for (const storage of [opfsStorage("fleet.redb"), indexedDbStorage("fleet")]) {
    const opened: Storage = await storage;
    console.log(kept, opened.persisted === true, opened.settled === undefined);
}
const answering: AnswerOptions = { name: "fleet", paths: ["/api/"], base: "/", takeOver: false, storage: () => indexedDbStorage("other"), onOpen: (each) => each.filePending().then(() => {}) };
const service = answerFetches(answering);
const served: Engine = await service.engine();
await served.maintain();

await using scoped = await Engine.open();
console.log(posted.ok, count, asked[0]?.cpu, pending.length, waiting.hasMore, answer.status, response.status, scoped.persisted());
await Promise.all([restored.close(), inline.close(), engine.close()]);

async function doubled(): Promise<Exchange[]> {
    const rules: Rule[] = [{ operation: "postStats", code: "QueueFull", times: 2 }, { storage: "slow", latency: 20 }];
    await using double = await Double.open({ seed: 1, clock: new Date(0), limits: { queueRecords: 5 } });
    await double.engine.putWorkspaces(fleet(3));
    double.fail(rules);
    double.fail({ operation: "*", status: 502 });
    const status: number = (await double.fetch("/api/Stats/Test")).status;
    await double.advance(1000);
    const served: ServedDouble = await double.serve({ port: 0 });
    await served.stop();
    const recording = recorded("https://fleet.example");
    double.replay(recording.journal);
    double.replay(new Journal([{ method: "GET", url: "/", status }]));
    double.journal.assertOrder(["postStats"]);
    return double.journal.exchangesOf("postStats");
}
void doubled;
