// Judging by keyboard and by buttons. Numbers come from the server; here nothing is computed.
import { isTyping, keysOff, moveTo } from "./explorer.js";
import { button, get, made, meta, post, put, say } from "./parts.js";

const WAITS = [1, 2, 4, 8, 8];
const STORE = `goldrank-waiting-${location.port}`;
const parameters = () => new URLSearchParams(location.search);
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

// A name for a judgement that no other has: 32 hexadecimal digits.
function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const waiting = () => JSON.parse(localStorage.getItem(STORE) || "[]");
const keep = (items) => localStorage.setItem(STORE, JSON.stringify(items));
const judgeName = () =>
  page?.dataset.judge || parameters().get("judge") || localStorage.getItem("goldrank-judge") || "";

function status(text) {
  const saved = document.getElementById("saved");
  if (saved) saved.textContent = text;
  say(text);
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

// An answer of the server, or null if there is none.
async function posted(item) {
  try {
    const given = await post("/api/judgements", item);
    return { status: given.status, body: await given.json().catch(() => ({})) };
  } catch {
    return null;
  }
}

const isFinal = (answer) => answer && answer.status !== 429 && answer.status < 500;

// Send one judgement; what is not acknowledged waits in this browser and is sent again with the same key.
async function send(item) {
  keep([...waiting(), item]);
  const slow = setTimeout(() => status("Saving…"), 300);
  for (let turn = 0; ; turn++) {
    const answer = await posted(item);
    clearTimeout(slow);
    if (isFinal(answer)) return settled(item, answer);
    await untilNextTurn(turn, answer);
  }
}

// What an answer means for the page: the saved judgement, or null if it was not saved.
function settled(item, { status: code, body }) {
  // Whom the server does not know, it may know after a reload: the judgement waits for that.
  if (code !== 403) keep(waiting().filter((one) => one.key !== item.key));
  if (code === 200) {
    trouble([]);
    status(`✓ saved ${new Date().toLocaleTimeString([], { hour12: false })}`);
    return body;
  }
  if (code === 409 && body.code === "newer-judgement") return conflict(item, body);
  if (code === 409 && body.code === "other-data") return otherData(item);
  if (code === 403) trouble(["Not saved: this page is no longer known to the server. Reload it."]);
  else trouble([`Not saved: ${body.what ?? code}`]);
  return null;
}

// Wait longer from turn to turn, and at last until the judge asks for another; a button ends each wait.
async function untilNextTurn(turn, answer) {
  const count = waiting().length;
  const many = count === 1 ? "1 judgement waits" : `${count} judgements wait`;
  const why = answer?.body?.what ?? "the server does not answer";
  const said = `Not saved: ${why}. ${many} in this tab`;
  const isLast = turn >= WAITS.length;
  const asked = new Promise((done) => {
    const next = isLast ? "judging pauses" : `trying again in ${WAITS[turn]} s`;
    trouble([`${said}; ${next}. `, button("Try now", done)]);
  });
  if (!isLast) return Promise.race([pause(WAITS[turn]), asked]);
  paused = true;
  await asked;
  paused = false;
}

// Another tab judged the same document meanwhile: which judgement stands is asked.
function conflict(item, body) {
  const yours = item.grade ?? item.action;
  const theirs = body.theirs ?? "no grade";
  return new Promise((done) => {
    const keepYours = button(`Keep ${yours}`, async () => {
      trouble([]);
      done(await send({ ...item, key: newKey(), knew: body.knew }));
    });
    const keepTheirs = button(`Keep ${theirs}`, () => {
      trouble([]);
      done({});
    });
    trouble([`Changed meanwhile: you gave ${yours} here, another tab gave ${theirs}. `, keepYours, keepTheirs]);
  });
}

// The judgement is about data that the server no longer has: it can be saved as a file, or forgotten.
function otherData(item) {
  keep([...waiting(), item]);
  const file = new Blob([JSON.stringify(waiting(), null, 1)], { type: "application/json" });
  const properties = { className: "btn", href: URL.createObjectURL(file), download: "judgements-waiting.json" };
  const link = made("a", properties, "Save as a file");
  const forget = button("Forget them", () => {
    keep([]);
    location.reload();
  });
  trouble(["The server has other data now; nothing is sent. ", link, " ", forget]);
  paused = true;
  return null;
}

// What is sent of a judgement; the seconds are those that the page was seen.
function judgement(more) {
  const view = parameters();
  const seconds = (performance.now() - shownAt - hiddenFor) / 1000;
  return {
    key: newKey(),
    judge: judgeName() || undefined,
    data: meta("data"),
    seconds,
    m: view.get("m") || undefined,
    a: view.get("a") || undefined,
    b: view.get("b") || undefined,
    ...more,
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

function judgementOf(shown, action, grade) {
  const { query = "", doc = "", knew } = shown.dataset;
  const what = { action, query, doc, blind: page.dataset.blind === "1", whole: true };
  if (action === "undo") return what;
  if (action === "grade") what.grade = grade;
  what.knew = Number(knew);
  const comment = document.getElementById("comment")?.value.trim();
  if (comment) what.comment = comment;
  return what;
}

async function act(action, grade) {
  const shown = document.getElementById("item");
  if (paused || !shown || shown.dataset.sent) return;
  const isEmpty = shown.dataset.empty !== undefined;
  if (isEmpty && action !== "undo") return;
  const what = judgementOf(shown, action, grade);
  shown.dataset.sent = "1";
  document.querySelectorAll(`#item [data-grade="${grade}"]`).forEach((one) => one.setAttribute("aria-busy", "true"));
  sending = sending.then(() => send(judgement(what)));
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
const current = () => document.querySelector('.row[aria-current="true"]');

async function refresh(doc) {
  const address = new URL("/part/query", location.origin);
  address.search = location.search;
  const parts = JSON.parse(await get(address));
  shownSeq = parts.seq;
  own.clear();
  const isLeft = current()?.closest(".col")?.classList.contains("a");
  const column = isLeft ? "a" : "b";
  put(document.getElementById("values"), parts.values);
  put(ladder, parts.ladder);
  const rows = [...document.querySelectorAll(`.col.${column} .row`)];
  moveTo(rows.find((row) => row.dataset.doc === doc) ?? rows[0]);
}

async function actInPlace(action, grade) {
  const row = current();
  if (paused || (!row && action !== "undo")) return;
  row?.classList.add("busy");
  const what = { action, query: parameters().get("id"), doc: row?.dataset.doc ?? "" };
  if (action === "grade") what.grade = grade;
  const next = row?.nextElementSibling?.dataset.doc;
  sending = sending.then(async () => {
    if (action !== "undo") {
      if (own.has(what.doc)) what.knew = own.get(what.doc);
      else what.as_of = shownSeq;
    }
    const answer = await send(judgement(what));
    if (answer?.seq && action !== "undo") own.set(what.doc, answer.seq);
    return answer;
  });
  const done = await sending;
  row?.classList.remove("busy");
  if (!done) return;
  if (action === "undo") await refresh(done.doc);
  else await refresh(next ?? row.dataset.doc);
}

const perform = page ? act : actInPlace;

function offeredGrades() {
  if (!page) return meta("grades").split(",").filter(Boolean).map(Number);
  return [...document.querySelectorAll("#item [data-grade]")].map((one) => Number(one.dataset.grade));
}

// By the place of the key first: some keyboards need Shift for digits.
function digitOf(event) {
  const byPlace = /^(?:Digit|Numpad)([0-9])$/.exec(event.code)?.[1];
  const typed = /^[0-9]$/.test(event.key) ? event.key : undefined;
  return byPlace ?? typed;
}

function toggleGuide() {
  const guide = document.getElementById("guide");
  if (guide) guide.open = !guide.open;
}

document.addEventListener("keydown", (event) => {
  if (isTyping(event) || keysOff() || document.querySelector("dialog[open]") || event.repeat) return;
  const digit = digitOf(event);
  if (digit !== undefined && !event.shiftKey) {
    if (offeredGrades().includes(Number(digit))) {
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
    g: toggleGuide,
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
  else if (pressed.dataset.act === "name") askForName();
});

function askForName() {
  const name = prompt("Your name as a judge", judgeName())?.trim();
  if (!name) return;
  localStorage.setItem("goldrank-judge", name);
  const next = parameters();
  next.set("judge", name);
  location.search = next.toString();
}

// Who judged in this browser before is the judge again.
const known = localStorage.getItem("goldrank-judge");
if (page && known && !parameters().get("judge") && known !== page.dataset.judge) {
  const next = parameters();
  next.set("judge", known);
  location.replace(`${location.pathname}?${next}`);
}

// What an earlier page could not send.
const left = waiting();
if (left.length) {
  keep([]);
  for (const one of left) sending = sending.then(() => (one.data === meta("data") ? send(one) : otherData(one)));
  sending.then(() => {
    if (!page) return refresh();
    return paused ? undefined : reload();
  });
}

// Others may judge at the same time: look every five seconds.
let knownSeq = meta("seq");
setInterval(async () => {
  if (document.hidden || paused) return;
  try {
    const state = JSON.parse(await get("/api/numbers"));
    const isNew = `${state.seq}` !== knownSeq;
    if (isNew && ladder && state.data === meta("data")) {
      await refresh(current()?.dataset.doc);
    }
    knownSeq = `${state.seq}`;
  } catch {
    // The server is away; the next judgement says so.
  }
}, 5000);
