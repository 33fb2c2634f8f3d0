import { Engine } from "deskfleet";

// In memory: everything ends with the isolate. For data that stays, see ../durable-object.
let opening;

export default {
    async fetch(request) {
        // Workers give no random numbers before the first request.
        opening ??= Engine.open();
        return (await opening).fetch(request);
    },
};
