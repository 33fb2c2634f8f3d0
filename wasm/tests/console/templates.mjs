// Compiles the `html` templates of the console to calls of `h`, as the bundle has them: without the parser, and without the indentation of the source.

import htm from "htm";
import { parseAst } from "rolldown/parseAst";

/** The name of the tag, where it is imported. */
const IMPORTED = /\bhtml\b(?=[^;]*\} from "[^"]*vendor\/preact\.js")/;

/** The place of an expression in a template: what htm does with a value, done with the code of it. */
class Place {
    /** @param {number} index @param {string} code */
    constructor(index, code) {
        // A spread copies this member, with which its code is found.
        this[`...${index}`] = code;
        Object.defineProperties(this, { index: { value: index }, code: { value: code } });
    }

    /** Beside text in an attribute. */
    toString() {
        return `\0${this.index}\0`;
    }
}

/** A call, which is no text. */
class Call {
    /** @param {string} code */
    constructor(code) {
        this.code = code;
    }
}

/** @param {string} code of a module @returns {string} the module with calls instead of templates */
export function compiled(code) {
    const found = templates(parseAst(code, { lang: "js" }));
    return found.size === 0 ? code : written(code, 0, code.length, found).replace(IMPORTED, "h");
}

/** The templates with the tag `html`, by where they begin; those in others as well. @param {any} tree */
function templates(tree, found = new Map()) {
    if (tree?.type === "TaggedTemplateExpression" && tree.tag.name === "html") found.set(tree.start, tree);
    for (const value of Object.values(tree ?? {})) if (typeof value === "object") templates(value, found);
    return found;
}

/** The source from one position to another, with its templates compiled. @param {string} code @param {number} from @param {number} to @param {Map<number, any>} found */
function written(code, from, to, found) {
    const [first] = [...found.values()].filter(({ start, end }) => start >= from && end <= to).sort((one, other) => one.start - other.start || other.end - one.end);
    if (first === undefined) return code.slice(from, to);
    const places = first.quasi.expressions.map(({ type, start, end }, index) => {
        const expression = written(code, start, end, found);
        // Between the commas of a call.
        return new Place(index, type === "SequenceExpression" ? `(${expression})` : expression);
    });
    const strings = first.quasi.quasis.map(({ value }) => value.cooked);
    const call = htm.call((type, props, ...children) => callOf(type, props, children, places), strings, ...places);
    const compiledTemplate = Array.isArray(call) ? `[${call.map(valueOf).join(",")}]` : valueOf(call);
    return code.slice(from, first.start) + compiledTemplate + written(code, first.end, to, found);
}

/** @param {unknown} type @param {object | null} props @param {unknown[]} children @param {Place[]} places */
function callOf(type, props, children, places) {
    const members = Object.entries(props ?? {}).map(([name, value]) => {
        if (name.startsWith("...")) return `...(${value})`;
        // Text with places in it.
        const parts = typeof value === "string" ? value.split("\0") : [];
        if (parts.length > 1) return `${JSON.stringify(name)}:${parts.map((part, at) => (at % 2 ? `(${places[Number(part)].code})` : JSON.stringify(part))).join("+")}`;
        return `${JSON.stringify(name)}:${valueOf(value)}`;
    });
    return new Call(`h(${[valueOf(type), members.length > 0 ? `{${members.join(",")}}` : "null", ...children.map(valueOf)].join(",")})`);
}

/** @param {unknown} value */
function valueOf(value) {
    return value instanceof Call || value instanceof Place ? value.code : JSON.stringify(value);
}
