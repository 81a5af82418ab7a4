// Judging by keyboard and by buttons. Numbers come from the server; here nothing is computed.
import { isTyping, keysOff, moveTo } from "./explorer.js";
import { button, get, made, meta, post, put, say } from "./parts.js";

const WAITS = [1, 2, 4, 8, 8];
const STORE = `goldrank-waiting-${location.port}`;
const place = () => new URLSearchParams(location.search);
const page = document.getElementById("judge");
const ladder = document.getElementById("ladder");
let shownAt = performance.now();
let hiddenFor = 0;
let hiddenAt = 0;
let paused = false;
let sending = Promise.resolve();

document.addEventListener("visibilitychange", () => {
  if (document.hidden) hiddenAt = performance.now();
  else if (hiddenAt) hiddenFor += performance.now() - hiddenAt;
});

const key = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
const waiting = () => JSON.parse(localStorage.getItem(STORE) || "[]");
const keep = (items) => localStorage.setItem(STORE, JSON.stringify(items));
const judgeName = () => page?.dataset.judge || place().get("judge") || localStorage.getItem("goldrank-judge") || "";

function status(text, bad) {
  const saved = document.getElementById("saved");
  if (saved) saved.textContent = text;
  say(text);
  if (bad !== undefined) trouble(bad ? [text] : []);
}

function trouble(parts) {
  let box = document.getElementById("trouble");
  if (!box) {
    box = made("div", { id: "trouble" });
    box.setAttribute("role", "alert");
    document.getElementById("main").prepend(box);
  }
  box.replaceChildren();
  if (parts.length) box.append(made("p", { className: "banner bad" }, ...parts));
}

const pause = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));

// Send one judgement; what is not acknowledged waits in this browser and is sent again with the same key.
async function send(item) {
  keep([...waiting(), item]);
  const slow = setTimeout(() => status("Saving…"), 300);
  for (let turn = 0; ; turn++) {
    let answer;
    try {
      const given = await post("/api/judgements", item);
      answer = { status: given.status, body: await given.json().catch(() => ({})) };
    } catch {
      answer = null;
    }
    if (answer && answer.status !== 429 && answer.status < 500) {
      clearTimeout(slow);
      // Whom the server does not know, it may know after a reload: the judgement waits for that.
      if (answer.status !== 403) keep(waiting().filter((one) => one.key !== item.key));
      if (answer.status === 200) {
        trouble([]);
        status(`✓ saved ${new Date().toLocaleTimeString([], { hour12: false })}`);
        return answer.body;
      }
      if (answer.status === 409 && answer.body.code === "newer-judgement") return conflict(item, answer.body);
      if (answer.status === 409 && answer.body.code === "other-data") return otherData(item);
      if (answer.status === 403) trouble(["Not saved: this page is no longer known to the server. Reload it."]);
      else trouble([`Not saved: ${answer.body.what ?? answer.status}`]);
      return null;
    }
    clearTimeout(slow);
    const wait = WAITS[Math.min(turn, WAITS.length - 1)];
    const count = waiting().length;
    const what = answer?.body?.what ?? "the server does not answer";
    const many = count === 1 ? "1 judgement waits" : `${count} judgements wait`;
    if (turn >= WAITS.length) {
      paused = true;
      await new Promise((done) =>
        trouble([`Not saved: ${what}. ${many} in this tab; judging pauses. `, button("Try now", done)]));
      paused = false;
    } else {
      let now;
      const asked = new Promise((done) => { now = done; });
      trouble([`Not saved: ${what}. ${many} in this tab; trying again in ${wait} s. `, button("Try now", now)]);
      await Promise.race([pause(wait), asked]);
    }
  }
}

function conflict(item, body) {
  const theirs = body.theirs ?? "no grade";
  return new Promise((done) => {
    const mine = button(`Keep ${item.grade ?? item.action}`, async () => {
      trouble([]);
      done(await send({ ...item, key: key(), knew: body.knew }));
    });
    const other = button(`Keep ${theirs}`, () => { trouble([]); done({}); });
    trouble([`Changed meanwhile: you gave ${item.grade ?? item.action} here, another tab gave ${theirs}. `, mine, other]);
  });
}

function otherData(item) {
  keep([...waiting(), item]);
  const file = new Blob([JSON.stringify(waiting(), null, 1)], { type: "application/json" });
  const properties = { className: "btn", href: URL.createObjectURL(file), download: "judgements-waiting.json" };
  const link = made("a", properties, "Save as a file");
  trouble(["The server has other data now; nothing is sent. ", link, " ",
    button("Forget them", () => { keep([]); location.reload(); })]);
  paused = true;
  return null;
}

function item(more) {
  const view = place();
  const seconds = (performance.now() - shownAt - hiddenFor) / 1000;
  return {
    key: key(), judge: judgeName() || undefined, data: meta("data"), seconds,
    m: view.get("m") || undefined, a: view.get("a") || undefined, b: view.get("b") || undefined, ...more,
  };
}

// The page of judging.

async function reload() {
  const address = new URL("/part/judge", location.origin);
  address.search = location.search;
  const name = judgeName();
  if (name) address.searchParams.set("judge", name);
  put(page, await get(address));
  shownAt = performance.now();
  hiddenFor = 0;
  document.querySelector("#judge .doc")?.focus({ preventScroll: true });
}

async function act(action, grade) {
  const shown = document.getElementById("item");
  if (paused || !shown || (shown.dataset.empty !== undefined && action !== "undo")) return;
  if (shown.dataset.sent) return;
  const what = { action, query: shown.dataset.query ?? "", doc: shown.dataset.doc ?? "", blind: page.dataset.blind === "1", whole: true };
  if (action === "grade") what.grade = grade;
  if (action !== "undo") what.knew = Number(shown.dataset.knew);
  const comment = document.getElementById("comment")?.value.trim();
  if (comment && action !== "undo") what.comment = comment;
  shown.dataset.sent = "1";
  document.querySelectorAll(`#item [data-grade="${grade}"]`).forEach((one) => one.setAttribute("aria-busy", "true"));
  sending = sending.then(() => send(item(what)));
  const done = await sending;
  delete shown.dataset.sent;
  if (done) {
    const text = document.getElementById("saved")?.textContent;
    await reload();
    if (text) status(text);
  }
}

// The page of a query: the document that is marked is judged in place.

// As of which judgement the page is, and what was acknowledged since: other tabs may judge the same documents.
let shownSeq = Number(meta("seq"));
const own = new Map();

async function refresh(doc) {
  const address = new URL("/part/query", location.origin);
  address.search = location.search;
  const parts = JSON.parse(await get(address));
  shownSeq = parts.seq;
  own.clear();
  const column = document.querySelector('.row[aria-current="true"]')?.closest(".col")?.classList.contains("a") ? "a" : "b";
  put(document.getElementById("values"), parts.values);
  put(ladder, parts.ladder);
  const rows = [...document.querySelectorAll(`.col.${column} .row`)];
  moveTo(rows.find((row) => row.dataset.doc === doc) ?? rows[0]);
}

async function actInPlace(action, grade) {
  const row = document.querySelector('.row[aria-current="true"]');
  if (paused || (!row && action !== "undo")) return;
  row?.classList.add("busy");
  const what = { action, query: place().get("id"), doc: row?.dataset.doc ?? "" };
  if (action === "grade") what.grade = grade;
  const next = row?.nextElementSibling?.dataset.doc;
  sending = sending.then(async () => {
    if (action !== "undo") Object.assign(what, own.has(what.doc) ? { knew: own.get(what.doc) } : { as_of: shownSeq });
    const answer = await send(item(what));
    if (answer?.seq && action !== "undo") own.set(what.doc, answer.seq);
    return answer;
  });
  const done = await sending;
  row?.classList.remove("busy");
  if (done) await refresh(action === "undo" ? done.doc : next ?? row.dataset.doc);
}

const perform = page ? act : actInPlace;
const offered = () => page
  ? [...document.querySelectorAll("#item [data-grade]")].map((one) => Number(one.dataset.grade))
  : (meta("grades") || "").split(",").filter(Boolean).map(Number);

document.addEventListener("keydown", (event) => {
  if (isTyping(event) || keysOff() || document.querySelector("dialog[open]") || event.repeat) return;
  const digit = /^(?:Digit|Numpad)([0-9])$/.exec(event.code)?.[1] ?? (/^[0-9]$/.test(event.key) ? event.key : undefined);
  if (digit !== undefined && !event.shiftKey) {
    if (offered().includes(Number(digit))) {
      event.preventDefault();
      perform("grade", Number(digit));
    }
    return;
  }
  const acts = {
    u: () => perform("undo"),
    s: () => page && perform("skip"),
    x: () => perform("cannot_tell"),
    c: () => document.getElementById("comment")?.focus(),
    g: () => { const guide = document.getElementById("guide"); if (guide) guide.open = !guide.open; },
    b: () => document.querySelector('[data-act="blind"]')?.click(),
  };
  if (event.key in acts) {
    event.preventDefault();
    acts[event.key]();
  }
});

document.addEventListener("keydown", (event) => {
  if (event.target.id === "comment" && (event.key === "Escape" || event.key === "Enter")) event.target.blur();
});

page?.addEventListener("click", (event) => {
  const pressed = event.target.closest("button");
  if (!pressed) return;
  if (pressed.dataset.grade !== undefined) act("grade", Number(pressed.dataset.grade));
  else if (["skip", "cannot_tell", "undo"].includes(pressed.dataset.act)) act(pressed.dataset.act);
  else if (pressed.dataset.act === "name") {
    const name = prompt("Your name as a judge", judgeName());
    if (name?.trim()) {
      localStorage.setItem("goldrank-judge", name.trim());
      const next = place();
      next.set("judge", name.trim());
      location.search = next.toString();
    }
  }
});

if (page && !place().get("judge") && localStorage.getItem("goldrank-judge") &&
    localStorage.getItem("goldrank-judge") !== page.dataset.judge) {
  const next = place();
  next.set("judge", localStorage.getItem("goldrank-judge"));
  location.replace(`${location.pathname}?${next}`);
}

// What an earlier page could not send.
const left = waiting();
if (left.length) {
  keep([]);
  for (const one of left) sending = sending.then(() => one.data === meta("data") ? send(one) : otherData(one));
  sending.then(() => (page ? !paused && reload() : refresh()));
}

// Others may judge at the same time: look every five seconds.
let known = meta("seq");
setInterval(async () => {
  if (document.hidden || paused) return;
  try {
    const state = JSON.parse(await get("/api/numbers"));
    if (`${state.seq}` !== known && ladder && state.data === meta("data")) {
      const doc = document.querySelector('.row[aria-current="true"]')?.dataset.doc;
      await refresh(doc);
    }
    known = `${state.seq}`;
  } catch { /* the server is away; the next judgement says so */ }
}, 5000);
