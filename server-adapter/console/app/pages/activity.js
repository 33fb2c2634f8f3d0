import { html } from "../vendor/preact.js";

export default () => html`<h1>activity</h1>`;
