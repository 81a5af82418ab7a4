// The page of causes: questions are listed, filtered, and filled in when they are opened.
(() => {
  const holder = document.getElementById("causes-data");
  if (!holder) return;

  const data = JSON.parse(holder.textContent);
  const list = at("cause-list");
  const count = at("cause-count");
  const more = at("cause-more");
  const pick = at("cause-pick");
  const words = at("cause-words");
  const PAGE = 100;
  let shown = PAGE;
  let found = [];

  const chip = (cause) => {
    const hasStyle = cause === "covered" || cause === "unknown";
    return make("span", cause, `cause ${hasStyle ? cause : ""}`);
  };

  // Marks count characters of Python, which may be two here: text is cut into characters first.
  const marked = (text, marks) => {
    const body = make("pre");
    const letters = Array.from(text);
    const cut = (start, end) => letters.slice(start, end).join("");
    let done = 0;
    for (const [start, end] of marks) {
      if (end <= done) continue;
      const from = Math.max(start, done);
      body.append(cut(done, from), make("mark", cut(from, end)));
      done = end;
    }
    body.append(cut(done));
    return body;
  };

  const factsOf = (hit) => {
    const facts = [
      `rank ${hit.rank}`,
      hit.id && `chunk ${hit.id}`,
      hit.source && `source ${hit.source}`,
      hit.score !== null && `score ${hit.score}`,
      hit.tokens !== null && `${hit.tokens} tokens`,
      hit.covers && `covers ${hit.covers}`,
      !hit.inside && "not in the context",
    ];
    return facts.filter(Boolean).join(" · ");
  };

  const retrieved = (hit) => {
    const text = data.texts[hit.t];
    const head = make("summary");
    head.append(make("span", factsOf(hit), hit.covers ? "meta hit" : "meta"));
    head.append(make("span", text.slice(0, 200), "beginning"));

    const node = make("details", undefined, "hit-text");
    node.append(head, marked(text, hit.marks));
    if (hit.covers) node.open = true;
    return node;
  };

  const neededPart = (need, i) => {
    const part = make("div", undefined, `needed ${need.cause === "covered" ? "covered" : ""}`);
    part.append(chip(need.cause), make("span", `r${i + 1} `, "dim"), document.createTextNode(need.text));
    const place = [need.rank !== null && `rank ${need.rank}`, need.chunk && `chunk ${need.chunk}`];
    part.append(make("span", [need.why, ...place].filter(Boolean).join(" · "), "sub"));
    return part;
  };

  const retrievedPart = (row) => {
    if (row.texts === null) {
      return [make("p", "The texts of this question were left out to keep the page small.", "dim")];
    }
    if (!row.texts.length) return [make("p", "Nothing was retrieved.", "dim")];
    return row.texts.map(retrieved);
  };

  const question = (row) => {
    const head = make("summary");
    head.append(chip(row.cause), make("b", row.id));
    head.append(document.createTextNode(row.question ? ` ${row.question}` : ""));

    const node = make("details", undefined, "question");
    node.append(head);
    node.addEventListener("toggle", () => {
      const isFilled = node.childElementCount > 1;
      if (!node.open || isFilled) return;
      const inside = make("div", undefined, "inside");
      inside.append(...row.needed.map(neededPart), ...retrievedPart(row));
      node.append(inside);
    });
    return node;
  };

  const draw = () => {
    const listed = found.length.toLocaleString("en");
    const all = data.rows.length.toLocaleString("en");
    list.replaceChildren(...found.slice(0, shown).map(question));
    count.textContent = `${listed} of ${all} questions`;
    more.hidden = found.length <= shown;
  };

  const update = () => {
    const cause = pick.value;
    const wanted = words.value.toLocaleLowerCase();
    const has = (row) => {
      const needed = row.needed.map((need) => need.text).join(" ");
      return `${row.id} ${row.question} ${needed}`.toLocaleLowerCase().includes(wanted);
    };
    found = data.rows.filter((row) => (!cause || row.cause === cause) && (!wanted || has(row)));
    shown = PAGE;
    draw();
  };

  pick.addEventListener("change", update);
  words.addEventListener("input", update);
  more.addEventListener("click", () => {
    shown += 5 * PAGE;
    draw();
  });
  update();
})();
