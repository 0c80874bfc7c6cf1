// The files of the page.
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const PAGE = fileURLToPath(new URL("../page/", import.meta.url));

/** @returns {string[]} their names below the page's folder */
export function files(folder = "") {
  return readdirSync(PAGE + folder, { withFileTypes: true }).flatMap((one) => (one.isDirectory() ? files(`${folder}${one.name}/`) : [`${folder}${one.name}`]));
}
