// What cannot be taken back is asked for twice: a baseline, and withdrawing all judgements of a judge.
import { meta, post } from "./parts.js";

const dialog = document.getElementById("confirm");
const field = (name) => document.getElementById(`confirm-${name}`);
let about = "";

document.addEventListener("click", (event) => {
  const pressed = event.target.closest("button[data-confirm]");
  if (!pressed) return;
  about = pressed.dataset.confirm;
  field("what").textContent = about;
  field("again").value = "";
  field("said").textContent = "";
  if (field("name")) field("name").value = "";
  dialog.showModal();
});

function asked() {
  const confirm = field("again").value;
  if (field("name")) return { name: field("name").value, confirm, record: Number(about) };
  return { action: "withdraw_all", judge: about, confirm, since: Number(field("since").value), data: meta("data") };
}

field("cancel").addEventListener("click", () => dialog.close());
field("set").addEventListener("click", async () => {
  try {
    const answer = await post(dialog.dataset.to, asked());
    if (answer.ok) return location.reload();
    const body = await answer.json().catch(() => ({}));
    field("said").textContent = body.what ?? `Refused: ${answer.status}`;
  } catch {
    field("said").textContent = "Not done: the server does not answer.";
  }
});
