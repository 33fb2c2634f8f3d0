// Files of any size and kind as records, in pieces, so that no piece keeps the page from answering.

/** Read at once, in bytes. */
const SLICE = 256 * 1024;
/** The longest record in characters, and the most cells of one, as the engine reads them. */
const RECORD_MAX = 65_536;
const CELLS_MAX = 256;
const SAMPLE = 20;

/** @type {Record<string, string>} */
export const ENCODINGS = { "utf-8": "UTF-8", "utf-16le": "UTF-16 LE", "utf-16be": "UTF-16 BE", "windows-1252": "Windows-1252" };

/**
 * A record as it is in the file. `column` counts cells in CSV, and else characters.
 * @typedef {{ line: number, column: number, text: string, cells?: unknown[], value?: unknown, error?: string }} Row
 * @typedef {"csv" | "lines" | "document"} Kind
 * @typedef {{ file: Blob, encoding: string, kind: Kind, delimiter: string, columns: string[], sample: Row[] }} Source
 */

/** The file cannot be read any further. */
export class Unreadable extends Error {
    /** @param {string} message @param {number} line @param {number} column */
    constructor(message, line, column) {
        super(`Line ${line}, column ${column}: ${message}`);
    }
}

/** @param {Blob} file */
async function encodingOf(file) {
    const [a, b, c, d] = new Uint8Array(await file.slice(0, 4).arrayBuffer());
    if (a === 0x50 && b === 0x4b && c === 3 && d === 4) throw new Unreadable("This is an archive, such as an Excel workbook. Save the sheet as CSV (UTF-8), and import that.", 1, 1);
    if (a === 0x1f && b === 0x8b) throw new Unreadable("This is compressed with gzip: unpack it first.", 1, 1);
    if ((a === 0xff && b === 0xfe) || (a !== 0 && b === 0)) return "utf-16le";
    if ((a === 0xfe && b === 0xff) || (a === 0 && b !== 0)) return "utf-16be";
    return "utf-8";
}

/** @param {Blob} file @param {string} encoding @param {AbortSignal} [signal] */
async function* pieces(file, encoding, signal) {
    const decoder = new TextDecoder(encoding);
    for (let at = 0; at < file.size; at += SLICE) {
        signal?.throwIfAborted();
        const bytes = await file.slice(at, at + SLICE).arrayBuffer();
        const last = at + SLICE >= file.size;
        yield { text: decoder.decode(bytes, { stream: !last }), last, done: Math.min(at + SLICE, file.size) };
    }
}

/** @param {string} text @param {number} line @param {number} column @param {string} error @returns {Row} */
const wrong = (text, line, column, error) => ({ line, column, text: text.slice(0, 500), error });
const TOO_LONG = `The record is longer than ${RECORD_MAX} characters.`;

/** What both kinds of lines have in common: the text that was not read yet, and lines without an end. */
class Lines {
    rest = "";
    line = 1;
    skipping = false;

    /** @param {string} piece @param {boolean} last @returns {Generator<Row>} */
    *read(piece, last) {
        const text = this.rest + piece;
        let at = 0;
        let quote = -1;
        while (at < text.length) {
            const end = text.indexOf("\n", at);
            const stop = end < 0 ? text.length : end;
            if (this.skipping) {
                at = stop + 1;
                if (end < 0) break;
                this.skipping = false;
                this.line++;
                continue;
            }
            if (quote < at) quote = this.quotes(text, at);
            const record = quote < stop ? this.quoted(text, at, last) : end >= 0 || last ? { stop, cells: undefined } : undefined;
            if ((record?.stop ?? text.length) - at > RECORD_MAX) {
                yield wrong(text.slice(at, at + 500), this.line, 1, TOO_LONG);
                this.skipping = record === undefined;
                if (this.skipping) at = text.length;
            } else if (record !== undefined) {
                const row = text.slice(at, record.stop).replace(/\r$/, "");
                if (row !== "") yield this.row(row, record.cells);
            }
            if (record === undefined) break;
            for (let each = text.indexOf("\n", at); each >= 0 && each < record.stop; each = text.indexOf("\n", each + 1)) this.line++;
            this.line++;
            at = record.stop + 1;
        }
        this.rest = text.slice(at);
    }

    /** Where the next quote is that may hold a line end. @param {string} _text @param {number} _at */
    quotes(_text, _at) {
        return Infinity;
    }

    /** @param {string} _text @param {number} _at @param {boolean} _last @returns {{ stop: number, cells: string[] } | undefined} `undefined` where the end of the record is not there yet */
    quoted(_text, _at, _last) {
        return undefined;
    }

    /** @param {string} text @param {string[]} [_cells] @returns {Row} */
    row(text, _cells) {
        return json(text, this.line, 1);
    }
}

class Csv extends Lines {
    /** @param {string} delimiter */
    constructor(delimiter) {
        super();
        this.delimiter = delimiter;
    }

    /** @override @param {string} text @param {number} at */
    quotes(text, at) {
        const found = text.indexOf('"', at);
        return found < 0 ? Infinity : found;
    }

    /** @override @param {string} text @param {number} at @param {boolean} last */
    quoted(text, at, last) {
        /** @type {string[]} */
        const cells = [];
        for (let i = at; ; i++) {
            let cell = "";
            if (text[i] === '"') {
                const opened = i;
                for (;;) {
                    const close = text.indexOf('"', ++i);
                    if (close < 0 || (close + 1 === text.length && !last)) {
                        if (!last && text.length - opened <= RECORD_MAX) return undefined;
                        const before = text.slice(at, opened).split("\n").length - 1;
                        throw new Unreadable("The quote that begins here has no end. What follows was not read.", this.line + before, cells.length + 1);
                    }
                    cell += text.slice(i, close);
                    i = close + 1;
                    if (text[i] !== '"') break;
                    cell += '"';
                }
            }
            const begin = i;
            while (i < text.length && text[i] !== this.delimiter && text[i] !== "\n") i++;
            if (i === text.length && !last) return undefined;
            cell += text.slice(begin, i);
            if (cells.length <= CELLS_MAX) cells.push(text[i] === this.delimiter ? cell : cell.replace(/\r$/, ""));
            if (text[i] !== this.delimiter) return { stop: i, cells };
        }
    }

    /** @override @param {string} text @param {string[]} [cells] @returns {Row} */
    row(text, cells) {
        return { line: this.line, column: 1, text, cells: cells ?? text.split(this.delimiter) };
    }
}

/** @param {string} text @param {number} line @param {number} column @returns {Row} */
function json(text, line, column) {
    try {
        const value = JSON.parse(text);
        if (typeof value === "object" && value !== null && !Array.isArray(value)) return { line, column, text, value };
        return wrong(text, line, column, "A record must be an object, such as {\"workSpId\":\"ws-1\"}.");
    } catch (error) {
        const message = String(/** @type {Error} */ (error).message);
        const at = /position (\d+)/.exec(message)?.[1];
        const from = /column (\d+)/.exec(message)?.[1];
        return wrong(text, line, at ? Number(at) + column : Number(from ?? column), `This is not JSON: ${message}.`);
    }
}

/** The objects of the first list of a JSON text. */
class Document {
    rest = "";
    line = 1;
    /** Of the record that has begun. */
    first = { line: 1, column: 1 };
    column = 0;
    begun = false;
    over = false;
    inText = false;
    escaped = false;
    depth = 0;
    length = 0;

    /** @param {string} text @param {boolean} last @returns {Generator<Row>} */
    *read(text, last) {
        let from = 0;
        for (let i = 0; i < text.length && !this.over; i++) {
            const character = text[i];
            this.column++;
            this.length++;
            if (character === "\n") [this.line, this.column] = [this.line + 1, 0];
            if (this.inText) {
                if (this.escaped) this.escaped = false;
                else if (character === "\\") this.escaped = true;
                else if (character === '"') this.inText = false;
            } else if (!this.begun) {
                this.inText = character === '"';
                this.begun = character === "[";
            } else if (this.depth > 0) {
                if (character === '"') this.inText = true;
                else if (character === "{" || character === "[") this.depth++;
                else if (character === "}" || character === "]") this.depth--;
                if (this.depth === 0) {
                    const { line, column } = this.first;
                    const record = this.rest + text.slice(from, i + 1);
                    this.rest = "";
                    yield this.length > RECORD_MAX ? wrong(record, line, column, TOO_LONG) : json(record, line, column);
                }
            } else if (character === "{") {
                this.depth = 1;
                this.first = { line: this.line, column: this.column };
                this.length = 1;
                from = i;
            } else if (character === "]") this.over = true;
            else if (!/[\s,]/.test(character)) throw new Unreadable("An object is expected here. What follows was not read.", this.line, this.column);
        }
        if (this.depth > 0) this.rest = (this.rest + text.slice(from)).slice(0, RECORD_MAX);
        if (last && !this.over) throw new Unreadable("The text ends before its list of records does.", this.line, this.column);
    }
}

/** What a file is, its columns, and its first rows. @param {Blob} file @param {string} [chosen] the encoding @returns {Promise<Source>} */
export async function inspect(file, chosen) {
    const encoding = chosen || (await encodingOf(file));
    const { value: first } = await pieces(file, encoding).next();
    const text = first?.text.trimStart() ?? "";
    if (text === "") throw new Error("The file is empty.");
    // A null character further on is refused with its line.
    if (/^(?:[^\n]*\0|[^]{0,8}[\x01-\x08\x0e-\x1f])/.test(text)) throw new Error("This is not a text file.");
    const kind = text.startsWith("[") || /^\{\s*"(workspaces|nexttoken|hasmore)"\s*:/i.test(text) ? "document" : text.startsWith("{") ? "lines" : "csv";
    /** @type {Source} */
    const source = { file, encoding, kind, delimiter: ",", columns: [], sample: [] };
    if (kind === "csv") {
        const line = /^(?:"(?:[^"]|"")*"|[^"\n])*/.exec(text.slice(0, RECORD_MAX))?.[0].replace(/"(?:[^"]|"")*"/g, "") ?? "";
        source.delimiter = [",", ";", "\t"].reduce((best, each) => (line.split(each).length > line.split(best).length ? each : best));
    }
    for await (const { rows } of read(source)) {
        source.sample.push(...rows.slice(0, SAMPLE - source.sample.length));
        if (source.sample.length === SAMPLE) break;
    }
    if (kind !== "csv") {
        const names = new Set(source.sample.flatMap((row) => Object.keys(flat(row.value))));
        source.columns = [...names].slice(0, CELLS_MAX);
        for (const row of source.sample) row.cells = cellsOf(row, source.columns);
    }
    return source;
}

/**
 * The records of a source, by the piece; the first line of a CSV becomes its columns.
 * @param {Source} source
 * @param {AbortSignal} [signal]
 */
export async function* read(source, signal) {
    const { file, encoding, kind, delimiter } = source;
    const reader = kind === "csv" ? new Csv(delimiter) : kind === "lines" ? new Lines() : new Document();
    let named = kind !== "csv";
    for await (const { text, last, done } of pieces(file, encoding, signal)) {
        /** @type {Row[]} */
        const rows = [];
        let failure;
        try {
            for (const row of reader.read(text, last)) {
                if (named) rows.push(checked(row, source));
                else {
                    if (row.error !== undefined) throw new Unreadable(row.error, row.line, row.column);
                    const names = /** @type {string[]} */ (row.cells);
                    if (names.length > CELLS_MAX) throw new Unreadable(`There are ${names.length > CELLS_MAX + 1 ? names.length : `more than ${CELLS_MAX}`} columns; at most ${CELLS_MAX} can be read.`, row.line, CELLS_MAX + 1);
                    if (row.text.includes("\0")) throw new Unreadable(NULL, row.line, row.text.indexOf("\0") + 1);
                    source.columns = names.map((name) => name.trim());
                    named = true;
                }
            }
        } catch (error) {
            failure = error;
        }
        // The rows before the place that cannot be read count.
        yield { rows, done };
        if (failure !== undefined) throw failure;
    }
    if (!named) throw new Unreadable("The first line must name the columns.", 1, 1);
}

const NULL = "There is a null character here: the file is not text, or has another encoding.";

/** A row with what can be seen to be wrong with it. @param {Row} row @param {Source} source @returns {Row} */
function checked(row, { kind, columns }) {
    if (row.error !== undefined) return row;
    if (kind !== "csv") row.cells = columns.length === 0 ? undefined : cellsOf(row, columns);
    else if (row.cells?.length !== columns.length) row.error = `The line has ${row.cells?.length} cells, the first line ${columns.length}.${row.text.includes("\n") ? " A quote may be missing its end." : ""}`;
    const odd = /[\0\ufffd]/.exec(row.text);
    if (odd !== null) {
        row.error = odd[0] === "\0" ? NULL : "Some characters cannot be read: choose the encoding of the file, or save it as UTF-8.";
        row.column = odd.index + 1;
    }
    return row;
}

/** @param {Row} row @param {string[]} columns */
function cellsOf({ value }, columns) {
    const members = flat(value);
    return columns.map((name) => members[name]);
}

/** The members of a record and of the objects in it. @param {unknown} value @returns {Record<string, unknown>} */
function flat(value) {
    /** @type {Record<string, unknown>} */
    const members = Object.create(null);
    for (const [name, member] of Object.entries(value ?? {})) {
        if (Array.isArray(member)) members[name] = member.join(",");
        else if (typeof member === "object" && member !== null) for (const [inner, each] of Object.entries(member)) members[`${name}.${inner}`] = Array.isArray(each) ? each.join(",") : each;
        else members[name] = member;
    }
    return members;
}
