// Reading by keyboard, the choice of measure and systems, whole texts beside the page, copied links.
import { button, get, made, meta, page, put, say } from "./parts.js";

const KEYS = {
  "j k": "next, previous document or query",
  "h l": "left, right list",
  "n p": "next, previous query",
  Enter: "whole text",
  "0 to 9": "grade, where documents can be judged",
  u: "undo",
  "s x": "skip, cannot tell",
  "c g b": "comment, guidelines, blind mode",
  "/": "search",
  "?": "this help",
};

export const keysOff = () => localStorage.getItem("goldrank-keys") === "off";

export function isTyping(event) {
  const element = event.target;
  return (
    event.ctrlKey ||
    event.altKey ||
    event.metaKey ||
    event.isComposing ||
    element.isContentEditable ||
    /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName)
  );
}

const current = () => document.querySelector('.row[aria-current="true"]');

export function moveTo(row) {
  if (!row) return;
  current()?.removeAttribute("aria-current");
  row.setAttribute("aria-current", "true");
  row.querySelector("a")?.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

// The next row that is seen: an element that is not drawn has no offsetParent.
function sibling(row, step) {
  const neighbour = (one) => (step > 0 ? one.nextElementSibling : one.previousElementSibling);
  let next = neighbour(row);
  while (next && next.offsetParent === null) next = neighbour(next);
  return next;
}

// To the other list: to the same document, or else to the same rank.
function across(side) {
  const row = current();
  const list = document.querySelector(`.col.${side} ol`);
  if (!list) return;
  const same = row && [...list.children].find((one) => one.dataset.doc === row.dataset.doc);
  const place = row ? [...row.parentElement.children].indexOf(row) : 0;
  moveTo(same || list.children[Math.min(place, list.children.length - 1)]);
}

function madeDialog(id, label) {
  const dialog = made("dialog", { id });
  dialog.setAttribute("aria-label", label);
  document.body.append(dialog);
  return dialog;
}

const closing = (dialog) => button("Close (Esc)", () => dialog.close());

async function openText(link) {
  const address = new URL(link.href);
  address.pathname = "/part/doc";
  const panel = document.getElementById("panel") ?? madeDialog("panel", "Whole text");
  panel.className = "panel";
  const body = made("div", { className: "stack" });
  panel.replaceChildren(closing(panel), made("h2", {}, link.textContent), body);
  panel.showModal();
  try {
    put(body, await get(address));
  } catch {
    body.textContent = "The text cannot be read now.";
  }
}

function keyList() {
  const list = made("dl", { className: "keylist" });
  for (const [keys, words] of Object.entries(KEYS)) {
    const named = keys.split(" ").flatMap((key) => [made(key === "to" ? "span" : "kbd", {}, key), " "]);
    list.append(made("dt", {}, ...named), made("dd", {}, words));
  }
  return list;
}

function help() {
  let dialog = document.getElementById("keys-help");
  if (!dialog) {
    dialog = madeDialog("keys-help", "Keys");
    const box = made("input", { type: "checkbox", checked: !keysOff() });
    box.addEventListener("change", () => localStorage.setItem("goldrank-keys", box.checked ? "on" : "off"));
    dialog.append(made("h2", {}, "Keys"), keyList(), made("label", {}, box, " Keys work"), " ", closing(dialog));
  }
  dialog.showModal();
}

function follow(selector) {
  document.querySelector(selector)?.click();
}

// Move in the list of queries; false on pages without one.
function inList(step) {
  const rows = [...document.querySelectorAll("#queries tbody tr")];
  if (!rows.length) return false;
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  rows[Math.min(Math.max(at + step, 0), rows.length - 1)].querySelector("a").focus();
  return true;
}

function search() {
  const field = document.querySelector('input[type="search"]');
  if (field) field.focus();
  else location.href = "/queries";
}

document.addEventListener("keydown", (event) => {
  if (isTyping(event) || document.querySelector("dialog[open]")) return;
  if (event.key === "?") return help();
  if (keysOff()) return;
  const row = current();
  const acts = {
    j: () => inList(1) || (row && moveTo(sibling(row, 1))),
    k: () => inList(-1) || (row && moveTo(sibling(row, -1))),
    h: () => across("a"),
    l: () => across("b"),
    n: () => follow('.crumb a[rel="next"], .pager a[rel="next"]'),
    p: () => follow('.crumb a[rel="prev"], .pager a[rel="prev"]'),
    "/": search,
  };
  if (event.key in acts) {
    event.preventDefault();
    acts[event.key]();
  }
});

// Where a browser refuses to copy, the link is opened, so that it can be copied from there.
function copy(link) {
  const done = () => {
    link.textContent = "Copied";
    say("Link copied");
  };
  const refused = () => {
    location.href = link.href;
  };
  navigator.clipboard?.writeText(link.href).then(done, refused);
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  if (link.closest(".row .tx")) {
    event.preventDefault();
    moveTo(link.closest(".row"));
    openText(link);
  } else if (link.dataset.png !== undefined) {
    event.preventDefault();
    picture(link).catch(() => say("The picture cannot be made now; the SVG can."));
  } else if (link.dataset.copy !== undefined) {
    event.preventDefault();
    copy(link);
  }
});

// A picture of the drawing: made here of the SVG that the server drew, without foreign code.
async function picture(link) {
  const drawn = new Blob([await get(link.href)], { type: "image/svg+xml" });
  const source = URL.createObjectURL(drawn);
  const image = new Image();
  image.src = source;
  await image.decode();
  const canvas = made("canvas", { width: 2 * image.width, height: 2 * image.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(source);
  const href = URL.createObjectURL(await new Promise((done) => canvas.toBlob(done, "image/png")));
  made("a", { href, download: "goldrank.png" }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10000);
}

for (const link of document.querySelectorAll("[data-png]")) link.classList.remove("hide");
for (const choice of document.querySelectorAll("form.view select")) {
  choice.addEventListener("change", () => choice.form.requestSubmit());
}

// Intervals and verdicts are made after the first page: it is filled in when there is more to show.
async function fillIn() {
  const fresh = page(await get(location.href));
  const main = document.getElementById("main");
  const focused = main.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  main.replaceChildren(...fresh.getElementById("main").childNodes);
  for (const name of ["made", "data"]) {
    document.querySelector(`meta[name="goldrank-${name}"]`).content = meta(name, fresh);
  }
  document.querySelector("footer").replaceChildren(...fresh.querySelector("footer").childNodes);
  for (const link of main.querySelectorAll("[data-png]")) link.classList.remove("hide");
  if (!focused) return;
  const links = [...main.querySelectorAll("a")];
  links.find((one) => one.getAttribute("href") === focused)?.focus();
}

const isWaiting = () => document.querySelector("[data-waiting]") !== null;

async function isMore() {
  const state = JSON.parse(await get("/api/numbers"));
  const isOtherData = meta("data") && state.data !== meta("data");
  return !isOtherData && `${state.made}` !== meta("made");
}

if (isWaiting()) {
  const timer = setInterval(async () => {
    if (document.hidden) return;
    try {
      if (!(await isMore())) return;
      // The script of judging knows the elements of its page: that one is loaded again.
      if (document.getElementById("judge")) location.reload();
      else await fillIn();
      if (!isWaiting()) clearInterval(timer);
    } catch {
      // The server is away; the page stays as it is.
    }
  }, 1000);
}
