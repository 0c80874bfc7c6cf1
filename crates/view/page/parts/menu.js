// Menus, and what is shown above the page: one at a time, left by Escape.
import { h, handled, swatch } from "../dom.js";

/** @type {{ element: HTMLElement, anchor: HTMLElement } | null} */
let shown = null;

export function closeMenu(back = true) {
  if (!shown) return;
  const { element, anchor } = shown;
  shown = null;
  const had = element.contains(document.activeElement);
  element.remove();
  anchor.ariaExpanded = "false";
  if (back && had) anchor.focus({ preventScroll: true });
}

/** @type {OpenMenu} */
export function openMenu(anchor, items, x) {
  const again = shown?.anchor === anchor;
  closeMenu(false);
  if (again || items.length === 0) return;
  const element = h("div.menu", { role: "menu", tabindex: -1 }, items.map((item) => {
    if (item === "-") return h("div.rule", { role: "separator" });
    const checkable = item.checked !== undefined;
    const button = h("button.item", {
      role: checkable ? "menuitemcheckbox" : "menuitem", tabindex: -1, "aria-checked": checkable ? String(item.checked) : null,
      "aria-disabled": item.off ? "true" : null,
      onclick: () => {
        if (item.off) return;
        if (!item.stay) closeMenu();
        item.run();
        if (!item.stay) return;
        const now = button.getAttribute("aria-checked") !== "true";
        button.ariaChecked = String(now);
        const tick = button.firstElementChild;
        if (tick) tick.textContent = now ? "✓" : "";
      },
    }, h("span.tick", { "aria-hidden": "true" }, item.checked ? "✓" : ""), item.swatch === undefined ? null : swatch(item.swatch), h("span", item.name), item.keys ? h("kbd", item.keys) : null);
    return button;
  }));
  element.addEventListener("keydown", (event) => {
    const all = [...element.querySelectorAll("button")];
    const at = all.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 + all.length, Home: 0, End: all.length - 1 }[event.key];
    if (to !== undefined) all[to % all.length]?.focus();
    else if (event.key === "Escape" || event.key === "Tab") closeMenu();
    else if (event.key.length === 1 && event.key !== " ") all.find((one) => one.textContent?.trim().toLowerCase().startsWith(event.key.toLowerCase()))?.focus();
    else return;
    handled(event);
  });
  document.body.append(element);
  const box = anchor.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = element;
  element.style.left = `${Math.max(4, Math.min(x ?? box.left, innerWidth - width - 4))}px`;
  element.style.top = `${box.bottom + height + 4 > innerHeight ? Math.max(4, box.top - height - 2) : box.bottom + 2}px`;
  shown = { element, anchor };
  anchor.ariaExpanded = "true";
  element.querySelector("button")?.focus();
}

/** A button that opens a menu. @type {MenuButton} */
export function menuButton(props, items, ...children) {
  const button = h("button.quiet", { "aria-haspopup": "menu", ...props }, children);
  button.addEventListener("click", () => openMenu(button, items(button)));
  return button;
}

addEventListener("pointerdown", (event) => {
  if (shown && event.target instanceof Node && !shown.element.contains(event.target) && !shown.anchor.contains(event.target)) closeMenu(false);
}, { capture: true });
addEventListener("blur", () => closeMenu(false));

/** @type {OpenDialog} */
export function openDialog(label, make, kind = "") {
  const dialog = h("dialog", { class: `dialog ${kind}`, "aria-label": label });
  const close = () => dialog.close();
  dialog.append(...make(close));
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) close();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

let hideToast = 0;

/** Says in a word what happened. @param {string} text */
export function toast(text) {
  const element = document.getElementById("toast");
  if (!element) return;
  element.textContent = text;
  element.classList.add("on");
  clearTimeout(hideToast);
  hideToast = window.setTimeout(() => element.classList.remove("on"), 2500);
}

/** @param {string} text @param {string} what */
export async function copy(text, what) {
  lastCopied.text = text;
  try {
    await navigator.clipboard.writeText(text);
    toast(`${what} copied`);
  } catch {
    openDialog(`Copy ${what}`, (close) => [
      h("p", "The browser did not allow the copy. Copy it from here:"),
      h("textarea.wide", { readonly: true, rows: 8, "aria-label": what }, text),
      h("button", { onclick: close }, "Close"),
    ]);
  }
}

/** What was copied last, for tests. */
export const lastCopied = { text: "" };
