/** Whether a value is of this built-in class, also of another realm: jest and jsdom have realms, with classes, of their own. */
function isA(name, value) {
    return Object.prototype.toString.call(value) === `[object ${name}]`;
}

/** @param {unknown} value @returns {value is Uint8Array} */
export const isBytes = (value) => ArrayBuffer.isView(value) && isA("Uint8Array", value);
/** @param {unknown} value @returns {value is ArrayBuffer} */
export const isBuffer = (value) => isA("ArrayBuffer", value);
/** @param {unknown} value @returns {value is Date} */
export const isDate = (value) => isA("Date", value);
/** @param {unknown} value @returns {value is URL} */
export const isUrl = (value) => isA("URL", value);
/** @param {unknown} value @returns {value is WebAssembly.Module} */
export const isModule = (value) => isA("WebAssembly.Module", value);
