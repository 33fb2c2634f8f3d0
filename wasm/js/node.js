export { fileStorage } from "./storage/file.js";
