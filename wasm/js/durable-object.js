export { durableObjectStorage } from "./storage/durable-object.js";
