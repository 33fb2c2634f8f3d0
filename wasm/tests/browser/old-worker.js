// The worker of the package in an old browser.
import "./without-files.js";
import "../../pkg/opfs-worker.js";
