import { invalidArgument, kindOf } from "../errors.js";

/**
 * Checks the name of a store, which becomes a file or a database of the browser. @param {unknown} name @returns
 * {string}
 */
export function storeName(name) {
    if (typeof name !== "string") throw invalidArgument(`the name of a store must be a string, not ${kindOf(name)}`);
    if (name === "" || name === "." || name === ".." || name.length > 200 || /[/\\\u0000-\u001f]/.test(name)) {
        throw invalidArgument("the name of a store has 1 to 200 characters, is neither . nor .., and holds no slash and no control character");
    }
    return name;
}
