// The pages by their names in the address, and what is shown over a page: all that the overview does not need is loaded at once.

export { default as activity } from "./activity.js";
export { default as advice } from "./advice.js";
export { default as api } from "./api.js";
export { default as audit } from "./audit.js";
export { default as desktop } from "./desktop.js";
export { default as desktops } from "./desktops.js";
export { default as export } from "./export.js";
export { default as holds } from "./holds.js";
export { default as import } from "./import.js";
export { default as keys } from "./keys.js";
export { default as logons } from "./logons.js";
export { default as processes } from "./processes.js";
export { default as store } from "./store.js";
export { default as user } from "./user.js";
export { Dialogs } from "../shell/dialogs.js";
