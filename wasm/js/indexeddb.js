export { indexedDbStorage } from "./storage/indexeddb.js";
