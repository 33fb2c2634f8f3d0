// Actions and outcomes of the audit, in words.

import { Sign } from "./state.js";
import { html } from "../vendor/preact.js";
import { ACTIONS } from "./actions.js";

/** How an outcome looks: never by its colour alone. @type {Record<string, { glyph: string, tone: string, label: string }>} */
export const RESULTS = {
    Accepted: { glyph: "◔", tone: "busy", label: "Running" },
    Completed: { glyph: "✔", tone: "good", label: "Completed" },
    Failed: { glyph: "✖", tone: "bad", label: "Failed" },
    Refused: { glyph: "⊘", tone: "warn", label: "Refused" },
    NoChange: { glyph: "=", tone: "off", label: "No change" },
    Cancelled: { glyph: "◌", tone: "off", label: "Cancelled" },
};

/** What the audit holds besides the actions on desktops. */
const OTHERS = ["PlaceLitigationHold", "ReleaseLitigationHold", "IssueKey", "RevokeKey", "ImportWorkSpaces", "UpdateWorkSpace", "BackUp", "DownloadBackup", "QueryExport", "ListKeys", "StartOnCopy", "RemoveTelemetry", "StopBatch", "ConfigureFleet"];
export const AUDITED = [...ACTIONS.map(({ name }) => name), ...OTHERS];

/** An action as people say it: `RecoveryRebootWorkSpace` is `Recovery reboot`. @param {string} action */
export function actionTitle(action) {
    const known = ACTIONS.find(({ name }) => name === action);
    return known?.title ?? action.replace(/WorkSpaces?$/, "").replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** @param {{ result: string }} properties */
export function Result({ result }) {
    return html`<${Sign} ...${RESULTS[result] ?? { glyph: "?", tone: "off", label: result }} />`;
}
