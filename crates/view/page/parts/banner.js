// What the recording cannot say: warnings of its health, and kinds of data that it lacks.
import { effect, fill, h, icon, tool } from "../dom.js";
import { clean } from "../format.js";
import { trouble } from "../api/client.js";
import { copy } from "./menu.js";
import * as view from "../state/view.js";

export function banner() {
  const element = h("section.banner", { "aria-label": "What this recording cannot say" });
  effect(() => {
    const recording = view.recording.value;
    const health = recording?.health ?? [];
    const missing = recording?.missing ?? [];
    const bad = health.filter(({ level }) => level === "warning");
    const count = health.length + missing.length;
    element.hidden = count === 0;
    element.classList.toggle("bad", bad.length > 0);
    const first = bad[0]?.text ?? (missing.length > 0 ? `This recording has no ${missing.map(({ what }) => what).join(", no ")}` : health[0]?.text ?? "");
    fill(element, h("details",
      h("summary", icon("warning"), h("span", clean(first, 200)), count > 1 ? h("span.dim", bad.length > 0 ? ` (+${count - 1} more)` : " Details") : null),
      h("ul",
        health.map(({ level, text }) => h("li", { class: level }, clean(text, 600))),
        missing.map(({ what, why, cure }) => h("li", h("strong", `No ${clean(what, 80)}`), why ? `: ${clean(why, 300)}. ` : ". ", cure ? h("button.link", { title: "Copy", onclick: () => copy(cure, "cure") }, clean(cure, 200)) : null)))));
  });
  return element;
}

export function troubleBar() {
  const element = h("div.trouble", { role: "alert", hidden: true });
  effect(() => {
    const now = trouble.value;
    element.hidden = now === null;
    if (now) fill(element, icon("warning"), h("span", clean(now.text, 300), now.hint ? h("span.dim", ` ${clean(now.hint, 300)}`) : null), tool("Close", "close", () => (trouble.value = null)));
  });
  return element;
}
