// A count of moved bytes that is not one is an error, in every storage that moves bytes in steps.

import assert from "node:assert/strict";
import { test } from "node:test";
import { moveAll } from "../pkg/storage/moved.js";

test("count_that_is_not_in_the_rest_is_an_error", () => {
    for (const verb of ["read", "write"]) {
        for (const count of [0, -1, 0.5, 11, NaN, Infinity, undefined, "10"]) assert.throws(() => moveAll(verb, 10, () => count), RangeError, String(count));
        const seen = [];
        moveAll(verb, 10, (done) => (seen.push(done), 4 + done > 10 ? 10 - done : 4));
        assert.deepEqual(seen, [0, 4, 8]);
        // More than the rest, in a later step.
        assert.throws(() => moveAll(verb, 10, () => 6), /6 of the last 4 of 10/);
    }
});
