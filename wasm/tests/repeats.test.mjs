// Which calls are made again at another engine, when it is unknown whether the one before it made them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CALLS, isRepeatable } from "../js/browser/calls.js";

const fetched = (method, url, body = null) => isRepeatable({ name: "fetch", argument: { method, url, body: body === null ? null : new TextEncoder().encode(body) } });

test("call_is_repeated_only_if_a_second_one_changes_nothing", () => {
    const repeated = [...CALLS].filter((name) => isRepeatable({ name, argument: [] }));
    assert.deepEqual(repeated.sort(), ["actions", "ask", "dispatchAction", "filePending", "keys", "maintain", "pendingActions", "queueCount", "readEvents", "settled", "snapshot", "storageKind"]);
    assert.ok(fetched("GET", "/operator/workspaces"));
    assert.ok(fetched("HEAD", "http://fleet/api/Stats/Test"));
    for (const [method, url] of [
        ["PUT", "/operator/workspaces/ws-1"],
        ["PUT", "/operator/workspaces/ws-1/litigation-hold"],
        ["DELETE", "/operator/workspaces/ws-1/litigation-hold"],
        ["POST", "/operator/workspaces"],
        ["POST", "/operator/telemetry"],
        ["POST", "/api/Actions/RebootWorkSpace?workSpaceId=ws-1"],
    ]) {
        assert.ok(!fetched(method, url, '{"updatetime":"2026-11-20T08:00:00Z"}'), `${method} ${url}`);
    }
});

test("post_of_a_record_is_repeated_only_if_it_has_a_time", () => {
    for (const [path, time] of [
        ["Post", "updatetime"],
        ["PostActivity", "activityTime"],
        ["postStartupMetrics", "BaselineUtc"],
        ["PostProcesses", "createdDate"],
    ]) {
        assert.ok(fetched("POST", `/api/Stats/${path}`, `{"id":1,"${time}" : "2026-11-20T08:00:00Z"}`), time);
    }
    const time = '"activityTime":"2026-11-20T08:00:00Z"';
    for (const body of ["{}", '{"activityTime":null}', '{"activityTime":""}', `{"updatetime":"2026-11-20T08:00:00Z"}`, `{"activity":{${time}}}`, `[{${time}}]`, `{${time}`, "null", "", '{"activity":"\\"activityTime\\":\\"x"}']) {
        assert.ok(!fetched("POST", "/api/stats/PostActivity", body), body);
    }
    assert.ok(!fetched("POST", "/api/Stats/Post"));
});
