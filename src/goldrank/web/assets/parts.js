// Fragments of pages: the one place that makes HTML from text. It comes from our own server, which escaped it.
const policy = globalThis.trustedTypes
  ? trustedTypes.createPolicy("parts", { createHTML: (text) => text })
  : { createHTML: (text) => text };

export async function get(address) {
  const answer = await fetch(address, { credentials: "same-origin", headers: { Accept: "text/html" } });
  if (!answer.ok) throw new Error(`${answer.status}`);
  return answer.text();
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
