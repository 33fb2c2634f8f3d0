// What can be done to desktops: the first thing as a button, the others in a menu.

import { askAction, askHold, askRelease } from "../asked.js";
import { may, mayStart } from "../session.js";
import { html } from "../vendor/preact.js";
import { ACTIONS } from "./actions.js";
import { Icon } from "./icon.js";
import { Popover } from "./popover.js";

/** The usual action: a start where there are stopped desktops, and none that may be rebooted. @param {(string | null)[]} states */
export function usual(states) {
    const all = String([...new Set(states)]);
    return /STOPPED/i.test(all) && !/AVAILABLE|IMPAIRED|UNHEALTHY|REBOOTING/i.test(all) ? "StartWorkSpace" : "RebootWorkSpace";
}

/** `first` names the action of the button, `held` says that all are on hold, and `begun` is called once one is confirmed. @param {{ ids: readonly string[], first: string, held?: boolean, begun?: () => void }} properties */
export function ActionMenu({ ids, first, held = false, begun }) {
    const allowed = ACTIONS.filter(({ name }) => mayStart(name));
    const [main, ...more] = [...allowed.filter(({ name }) => name === first), ...allowed.filter(({ name }) => name !== first)];
    const button = (/** @type {typeof ACTIONS[number]} */ { name, title, danger }, kind = danger ? "danger" : "") => html`<button key=${name} type="button" class=${kind} onClick=${() => askAction(name, ids, begun)}>${title} …</button>`;
    const hold = may("admin") && (held ? html`<button type="button" class="danger" onClick=${() => askRelease([...ids])}>Release hold …</button>` : html`<button type="button" onClick=${() => askHold([...ids])}>Place hold …</button>`);
    if (main === undefined && !hold) return null;
    return html`<span class="row actions">
        ${main && button(main, main.danger ? "danger" : "primary")}
        ${(more.length > 0 || hold) && html`<${Popover} label=${html`<${Icon} name="more" />More actions`} title="More actions" kind="" menu>
            <div class="menu-list">${more.filter(({ danger }) => !danger).map((each) => button(each))}${hold}${more.some(({ danger }) => danger) && html`<hr />`}${more.filter(({ danger }) => danger).map((each) => button(each))}</div>
        <//>`}
    </span>`;
}
