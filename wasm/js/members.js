import { invalidArgument } from "./errors.js";

/** The members of a workspace. */
const MEMBERS = ["workSpId", "computerName", "account", "region", "directoryId", "runningMode", "computeTypeName", "protocol", "username", "state"];
const KNOWN = new Set(MEMBERS);
/** Longer names are no slips; the time to compare grows with the length. */
const NAME_LENGTH_MAX = 32;

/**
 * Refuses a member that is a known one misspelled; others are left out, so that objects of a cloud's interface can be given as they are.
 * @param {string} path @param {unknown[]} workspaces
 */
export function checkMembers(path, workspaces) {
    workspaces.forEach((workspace, index) => {
        for (const name in workspace) {
            if (KNOWN.has(name)) continue;
            const meant = nearest(name, workspace);
            if (meant !== undefined) throw invalidArgument(`${path}[${index}].${name} is no member of a workspace; did you mean ${meant}?`);
        }
    });
}

/** The known name that is absent and differs by case, separators or at most two slips. */
function nearest(name, workspace) {
    if (name.length > NAME_LENGTH_MAX) return undefined;
    const plain = (text) => text.replace(/[_.\- ]/g, "").toLowerCase();
    const near = (known) => !(known in workspace) && distance(plain(name), plain(known)) <= (known.length > 6 ? 2 : 1);
    return MEMBERS.find(near);
}

/** How many characters are to be inserted, removed, replaced or exchanged with their neighbour. */
function distance(one, other) {
    let [before, last] = [[], Array.from({ length: other.length + 1 }, (_, at) => at)];
    for (let row = 1; row <= one.length; row++) {
        const next = [row];
        for (let at = 1; at <= other.length; at++) {
            const replaced = last[at - 1] + (one[row - 1] === other[at - 1] ? 0 : 1);
            next[at] = Math.min(replaced, last[at] + 1, next[at - 1] + 1);
            if (one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1]) next[at] = Math.min(next[at], before[at - 2] + 1);
        }
        [before, last] = [last, next];
    }
    return last[other.length];
}
