// Chromium by its path, for tests and for measurements.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const PATHS = [process.env["CHROMIUM"] ?? "", "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/**
 * What Playwright turns off, as the browser takes only one such list, and the suggestions below the address: each new window loads two
 * pages for them, which took two seconds of processor time while the page of the test began.
 */
export const OFF = [
  "WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup",
  "AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding",
  "ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect", "OptimizationHints", "NetworkTimeServiceQuerying", "AimEnabled", "PreconnectToSearch",
];

/** @returns {string} */
export function browserPath() {
  const found = PATHS.find((path) => path && existsSync(path));
  if (!found) throw new Error(`no browser among ${PATHS.filter(Boolean).join(", ")}`);
  return found;
}

/** @param {string[]} args */
export function start(args) {
  return chromium.launch({ executablePath: browserPath(), args: ["--no-sandbox", "--disable-dev-shm-usage", `--disable-features=${OFF.join(",")}`, ...args] });
}
