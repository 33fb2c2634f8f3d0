import { html } from "../vendor/preact.js";

export default () => html`<h1>import</h1>`;
