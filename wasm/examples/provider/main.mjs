// node main.mjs
import { Engine } from "deskfleet";
import { fileStorage } from "deskfleet/node";

const engine = await Engine.open({ storage: fileStorage("fleet.redb"), actions: { driver: "host" } });
await engine.putWorkspaces([{ workSpId: "ws-1", username: "jdoe", state: "AVAILABLE" }]);
const { key } = await engine.issueKey({ name: `desk, ${new Date().toISOString()}`, scopes: ["act"] });
await engine.fetch("/api/Actions/RebootWorkSpace?workSpaceId=ws-1", { method: "POST", headers: { "x-api-key": key } });

/** Stands for the call of a cloud; returns the id of the request. */
const call = async (action, workSpaceId) => `${action} of ${workSpaceId}`;

for (const { id, action, workSpaceId, attempts } of await engine.pendingActions()) {
    try {
        // Before the call: after a crash the attempt is known, and whether the cloud has it already can be looked up.
        await engine.dispatchAction(id, { provider: "cloud", attempt: attempts + 1 });
    } catch (refusal) {
        console.log(action, workSpaceId, refusal.code); // Cancelled, LitigationHold: not to be carried out
        continue;
    }
    try {
        const requestId = await call(action, workSpaceId);
        await engine.noteAction(id, { attempt: attempts + 1, requestId });
        await engine.completeAction(id);
        console.log(action, workSpaceId, "completed");
    } catch (error) {
        await engine.failAction(id, { state: "ERROR", detail: String(error) });
    }
}
await engine.close();
