// What the first picture does without: panels, search, menus, the keyboard and the pointer.
import { h, icon, tool } from "./dom.js";
import { clean, rangeWord } from "./format.js";
import { offerMenu } from "./lanes/rows.js";
import { Dock } from "./panels/dock.js";
import { findingMarks } from "./parts/findings.js";
import { followKeys, help } from "./parts/keys.js";
import { laneMenu } from "./parts/lane-menu.js";
import { menuButton } from "./parts/menu.js";
import { palette } from "./parts/palette.js";
import { followPointer, handles } from "./parts/pointer.js";
import { readout } from "./parts/readout.js";
import { Search } from "./parts/search.js";
import { copyLink, currentViews, showView } from "./parts/view-file.js";
import { zeroButton } from "./parts/zero.js";
import * as view from "./state/view.js";

/** Makes it among the parts of the first picture. @param {FirstParts} parts */
export function rest({ app, top, head, time, axis, lanes, dock: place }) {
  const search = new Search();
  const dock = new Dock();
  const views = menuButton({}, () => currentViews().map(({ name, about }, i) => ({ name: `${name} — ${about}`, keys: i < 9 ? String(i + 1) : "", run: () => showView(i) })), "Views");
  const themes = menuButton({ "aria-label": "Colours", title: "Colours" }, () => Object.entries(view.THEMES).map(([id, name]) => ({ name, checked: view.theme.peek() === id, run: () => (view.theme.value = id) })), icon("theme"));
  top.append(search.element, views, tool("Copy link to this view", "link", copyLink), tool("Commands (Ctrl+Shift+P)", "command", palette), themes, tool("Keys (?)", "help", help));
  head.append(zeroButton());
  time.append(findingMarks(), handles());
  place.replaceWith(dock.element);
  offerMenu(laneMenu);
  followPointer(lanes.area, axis);
  readout(lanes.area, lanes.store, lanes.singles);
  followKeys();
  addEventListener("beforeprint", () => {
    printed(app, dock);
    document.documentElement.dataset.theme = "light";
    lanes.redraw();
  });
  addEventListener("afterprint", () => {
    document.documentElement.dataset.theme = view.theme.peek();
    lanes.retheme();
  });
  return { dock, search };
}

/** Puts the rows of the panel that are not in sight on paper, too. @param {HTMLElement} app @param {Dock} dock */
function printed(app, dock) {
  document.querySelector(".print-table")?.remove();
  const shown = dock.shown?.copied();
  if (!shown) return;
  const [from, to] = view.subject.peek();
  app.append(h("section.print-table", h("p", `${clean(view.recording.peek()?.name ?? "")}, ${rangeWord([from, to])}`), h("p", h("code", clean(dock.command, 2000))),
    h("table", h("thead", h("tr", shown.titles.map((one) => h("th", one)))), h("tbody", shown.cells.slice(0, 200).map((row) => h("tr", row.map((cell) => h("td", { class: /^[−\d,.]*$/.test(cell) ? "figure" : cell.length <= 18 ? "short" : null }, cell.slice(0, 160)))))))));
}
