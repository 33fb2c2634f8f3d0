// The database of a Durable Object, with the statements of the storage alone. It counts rows that are written, and their bytes.

/** @param {() => void} [meddle] called before each statement that writes; what it throws ends the transaction */
export function objectDatabase(meddle = () => {}) {
    const tables = { deskfleet_store: new Map(), deskfleet_rows: new Map(), deskfleet_log: new Map() };
    const counts = { rows: 0, bytes: 0 };
    const exec = (query, ...bindings) => {
        if (query.startsWith("CREATE TABLE")) return { toArray: () => [] };
        const [, name] = /(?:FROM|INTO) (deskfleet_\w+)/.exec(query);
        if (query.startsWith("SELECT")) {
            const columns = { deskfleet_store: ["id", "length", "row_bytes"], deskfleet_rows: ["number", "bytes"], deskfleet_log: ["place", "entry", "length", "changes"] }[name];
            const rows = [...tables[name].values()].map((values) => Object.fromEntries(columns.map((column, at) => [column, values[at]])));
            const [, column, how, bound = bindings[0]] = /WHERE (\w+) ([=>]) (?:\?|(\d+))/.exec(query) ?? [];
            const found = rows.filter((row) => column === undefined || (how === "=" ? row[column] === Number(bound) : row[column] > bound));
            return { toArray: () => (query.includes("ORDER BY entry") ? found.sort((one, other) => one.entry - other.entry) : found) };
        }
        meddle();
        if (query.startsWith("DELETE")) {
            for (const number of tables[name].keys()) if (number >= bindings[0]) counts.rows += Number(tables[name].delete(number));
        } else {
            const values = query.includes("VALUES (1,") ? [1, ...bindings] : bindings;
            tables[name].set(values[0], values.map((value) => (ArrayBuffer.isView(value) ? value.slice().buffer : value)));
            counts.rows += 1;
            counts.bytes += values.reduce((sum, value) => sum + (value.byteLength ?? 8), 0);
        }
        return { toArray: () => [] };
    };
    const transactionSync = (run) => {
        const before = Object.entries(tables).map(([name, rows]) => [name, new Map(rows)]);
        try {
            return run();
        } catch (error) {
            for (const [name, rows] of before) tables[name] = rows;
            throw error;
        }
    };
    return { counts, tables, sql: { exec }, transactionSync };
}
