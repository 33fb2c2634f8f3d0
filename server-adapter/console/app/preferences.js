// What a person has chosen in this browser.

import { effect, signal } from "./vendor/preact.js";

/** A value kept in this browser's storage. @template T @param {string} name @param {T} initial */
function kept(name, initial) {
    const place = `deskfleet.${name}`;
    let value = initial;
    try {
        value = JSON.parse(localStorage.getItem(place) ?? "null") ?? initial;
    } catch {
        // Unreadable or forbidden: the initial value.
    }
    const choice = signal(value);
    effect(() => {
        const text = JSON.stringify(choice.value);
        try {
            localStorage.setItem(place, text);
        } catch {
            // Forbidden or full: kept until the page is left.
        }
    });
    return choice;
}

/** `light`, `dark`, or `auto` for that of the system. */
export const theme = kept("theme", "auto");
/** Whether keys without Ctrl work, such as `/` and `?`. */
export const letterKeys = kept("letterKeys", true);
/** The name that the audit holds as requester. */
export const requester = kept("requester", "");
/** Whether times are shown in UTC and not in this browser's zone. */
export const utc = kept("utc", false);
/** Columns of the desktops that are not shown: by default those that do not fit into 1440 pixels. */
export const hiddenColumns = kept("hiddenColumns", ["onHold", "runningMode", "computeTypeName", "region", "directoryId", "rootVolume", "userVolume", "uptimeSeconds"]);

/** @typedef {{ name: string, query: Record<string, string>, hidden: string[] }} View */
/** Views of the desktops that were saved. */
export const views = kept("views", /** @type {View[]} */ ([]));

effect(() => {
    document.documentElement.dataset.theme = theme.value;
});
