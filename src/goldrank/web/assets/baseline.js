// Setting a baseline: the name is typed twice.
import { meta } from "./parts.js";

const dialog = document.getElementById("baseline");
const field = (name) => document.getElementById(`baseline-${name}`);
let record = 0;

document.addEventListener("click", (event) => {
  const pressed = event.target.closest("button[data-baseline]");
  if (!pressed) return;
  record = Number(pressed.dataset.baseline);
  field("name").value = "";
  field("again").value = "";
  field("said").textContent = "";
  dialog.showModal();
});
field("cancel").addEventListener("click", () => dialog.close());
field("set").addEventListener("click", async () => {
  const body = { name: field("name").value, confirm: field("again").value, record };
  try {
    const answer = await fetch("/api/baseline", {
      method: "POST",
      credentials: "same-origin",
      headers: { "Content-Type": "application/json", "X-Goldrank-Write": meta("write") },
      body: JSON.stringify(body),
    });
    if (answer.ok) location.reload();
    else field("said").textContent = (await answer.json()).what ?? `${answer.status}`;
  } catch {
    field("said").textContent = "Not set: the server does not answer.";
  }
});
