// Fragments of pages: the one place that makes HTML from text. It comes from our own server, which escaped it.
const policy = globalThis.trustedTypes
  ? trustedTypes.createPolicy("parts", { createHTML: (text) => text })
  : { createHTML: (text) => text };

export async function get(address) {
  const answer = await fetch(address, { credentials: "same-origin", headers: { Accept: "text/html" } });
  if (!answer.ok) throw new Error(`${answer.status}`);
  return answer.text();
}

// Writes need the page's secret, and JSON.
export function post(address, body) {
  return fetch(address, {
    method: "POST",
    credentials: "same-origin",
    headers: { "Content-Type": "application/json", "X-Goldrank-Write": meta("write") },
    body: JSON.stringify(body),
  });
}

export function made(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

export function button(text, act) {
  const pressed = made("button", { type: "button" }, text);
  pressed.addEventListener("click", act);
  return pressed;
}

export function put(element, html) {
  element.innerHTML = policy.createHTML(html);
}

export function page(html) {
  return new DOMParser().parseFromString(policy.createHTML(html), "text/html");
}

export function say(text) {
  const live = document.getElementById("live");
  if (live) live.textContent = text;
}

export function meta(name, where = document) {
  return where.querySelector(`meta[name="goldrank-${name}"]`)?.content ?? "";
}
