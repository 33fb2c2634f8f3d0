// All that is shown over a page.

import { ActionDialog } from "../parts/action-dialog.js";
import { Behind } from "../parts/behind.js";
import { Card } from "../parts/card.js";
import { HoldDialog } from "../parts/hold-dialog.js";
import { html } from "../vendor/preact.js";
import { Help } from "./help.js";
import { Palette } from "./palette.js";
import { PersonDialog } from "./person.js";

export const Dialogs = () => html`<${Palette} /><${Help} /><${PersonDialog} /><${Card} /><${ActionDialog} /><${HoldDialog} /><${Behind} />`;
