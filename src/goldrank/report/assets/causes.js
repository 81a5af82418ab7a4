(() => {
  const holder = document.getElementById("causes-data");
  if (!holder) return;
  const data = JSON.parse(holder.textContent);
  const list = at("cause-list"), count = at("cause-count"), more = at("cause-more"), pick = at("cause-pick"), words = at("cause-words");
  const PAGE = 100;
  let shown = PAGE, found = [];
  const chip = (cause) => make("span", cause, `cause ${cause === "covered" ? "covered" : cause === "unknown" ? "unknown" : ""}`);
  const marked = (text, marks) => {
    // Marks count characters of Python, which may be two here: text is cut into characters first.
    const body = make("pre"), letters = Array.from(text);
    let done = 0;
    for (const [start, end] of marks) {
      if (end <= done) continue;
      const from = Math.max(start, done);
      body.append(letters.slice(done, from).join(""), make("mark", letters.slice(from, end).join("")));
      done = end;
    }
    body.append(letters.slice(done).join(""));
    return body;
  };
  const one = (hit) => {
    const node = make("details", undefined, "hit-text"), head = make("summary"), text = data.texts[hit.t];
    const facts = [`rank ${hit.rank}`, hit.id && `chunk ${hit.id}`, hit.source && `source ${hit.source}`, hit.score !== null && `score ${hit.score}`, hit.tokens !== null && `${hit.tokens} tokens`, hit.covers && `covers ${hit.covers}`, !hit.inside && "not in the context"];
    head.append(make("span", facts.filter(Boolean).join(" · "), hit.covers ? "meta hit" : "meta"), make("span", text.slice(0, 200), "beginning"));
    node.append(head, marked(text, hit.marks));
    if (hit.covers) node.open = true;
    return node;
  };
  const question = (row) => {
    const node = make("details", undefined, "question"), head = make("summary");
    head.append(chip(row.cause), make("b", row.id), document.createTextNode(row.question ? ` ${row.question}` : ""));
    node.append(head);
    node.addEventListener("toggle", () => {
      if (!node.open || node.childElementCount > 1) return;
      const inside = make("div", undefined, "inside");
      row.needed.forEach((need, i) => {
        const part = make("div", undefined, `needed ${need.cause === "covered" ? "covered" : ""}`);
        part.append(chip(need.cause), make("span", `r${i + 1} `, "dim"), document.createTextNode(need.text));
        part.append(make("span", need.why, "sub"));
        inside.append(part);
      });
      if (row.texts === null) inside.append(make("p", "The texts of this question were left out to keep the page small.", "dim"));
      else if (!row.texts.length) inside.append(make("p", "Nothing was retrieved.", "dim"));
      else inside.append(...row.texts.map(one));
      node.append(inside);
    });
    return node;
  };
  const draw = () => {
    list.replaceChildren(...found.slice(0, shown).map(question));
    count.textContent = `${found.length.toLocaleString("en")} of ${data.rows.length.toLocaleString("en")} questions`;
    more.hidden = found.length <= shown;
  };
  const update = () => {
    const cause = pick.value, wanted = words.value.toLocaleLowerCase();
    const has = (row) => `${row.id} ${row.question} ${row.needed.map((need) => need.text).join(" ")}`.toLocaleLowerCase().includes(wanted);
    found = data.rows.filter((row) => (!cause || row.cause === cause) && (!wanted || has(row)));
    shown = PAGE;
    draw();
  };
  pick.addEventListener("change", update);
  words.addEventListener("input", update);
  more.addEventListener("click", () => { shown += 5 * PAGE; draw(); });
  update();
})();
