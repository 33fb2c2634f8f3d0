// What can be done to desktops.

/**
 * What can be done. `danger`: data is lost, so that it is confirmed by typing; `disconnects`: people who work there are disconnected; `holds`: refused for a desktop on litigation hold.
 * @type {{ name: string, title: string, will: string, danger?: boolean, disconnects?: boolean, holds?: boolean, note: string }[]}
 */
export const ACTIONS = [
    { name: "StartWorkSpace", title: "Start", will: "will start", note: "Starts stopped desktops whose running mode is AUTO_STOP or MANUAL." },
    { name: "RebootWorkSpace", title: "Reboot", will: "will reboot", disconnects: true, note: "Restarts the system. Whoever works there is disconnected." },
    { name: "RecoveryRebootWorkSpace", title: "Recovery reboot", will: "will reboot on another host", disconnects: true, note: "Moves the desktop to another host and restarts it. Its volumes stay." },
    { name: "ChangeComputeType", title: "Change type", will: "will change", disconnects: true, note: "Changes the hardware. Whoever works there is disconnected." },
    { name: "RestoreWorkSpace", title: "Restore", will: "will be restored", danger: true, disconnects: true, holds: true, note: "Sets both volumes back to the last snapshot. What was written since is lost." },
    { name: "RebuildWorkSpace", title: "Rebuild", will: "will be rebuilt", danger: true, disconnects: true, holds: true, note: "Makes the root volume anew and sets the user volume back to the last snapshot." },
    { name: "TerminateWorkSpace", title: "Terminate", will: "will be terminated", danger: true, disconnects: true, holds: true, note: "Deletes the desktop and its volumes. This cannot be undone." },
    { name: "RemoveWorkSpaceDbEntry", title: "Remove record", will: "to be removed from the inventory", danger: true, holds: true, note: "Removes the record from the inventory. The desktop itself is not touched." },
];
