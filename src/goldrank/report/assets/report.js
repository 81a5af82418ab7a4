"use strict";
// What every script of a page uses: an element by its id, and a new one.
const at = (id) => document.getElementById(id);
const make = (tag, text, name) => {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  if (name) node.className = name;
  return node;
};

// Tables that are in the page: sort by a column, filter by what a row is.
(() => {
  // A cell's number if it has one (an empty one is below all), else its words.
  const keyOf = (row, column) => {
    const cell = row.cells[column];
    const raw = cell.dataset.value;
    if (raw === undefined) return cell.textContent.trim();
    return raw === "" ? -Infinity : Number(raw);
  };

  const compare = (x, y) => {
    const areNumbers = typeof x === "number" && typeof y === "number";
    // Infinity minus itself is not a number; such cells are equal.
    return areNumbers ? x - y || 0 : String(x).localeCompare(String(y));
  };

  const sortBy = (table, head) => {
    const body = table.tBodies[0];
    const column = head.cellIndex;
    const isDown = head.getAttribute("aria-sort") !== "descending";
    const direction = isDown ? -1 : 1;
    for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
    body.append(...[...body.rows].sort((a, b) => compare(keyOf(a, column), keyOf(b, column)) * direction));
  };

  for (const table of document.querySelectorAll("table[data-sortable]")) {
    for (const button of table.querySelectorAll("thead th button")) {
      button.addEventListener("click", () => sortBy(table, button.closest("th")));
    }
  }

  for (const select of document.querySelectorAll("select[data-filters]")) {
    const table = select.dataset.filters;
    const rows = at(table).tBodies[0].rows;
    const filters = [...document.querySelectorAll(`select[data-filters="${table}"]`)];
    const passes = (row) => filters.every((one) => !one.value || row.dataset[one.dataset.field] === one.value);
    const apply = () => {
      for (const row of rows) row.hidden = !passes(row);
    };
    select.addEventListener("change", apply);
    apply();
  }
})();

// The explorer of queries.
(() => {
  const holder = at("data");
  if (!holder) return;

  const data = JSON.parse(holder.textContent);
  const body = at("query-rows");
  const count = at("query-count");
  const more = at("query-more");
  const PAGE = 50;
  const FALLS = ["lost", "pushed out", "intruder", "moved down"];
  const RISES = ["found", "pulled in", "moved up"];
  let shown = PAGE;
  let sortKey = "size";
  let isDown = true;
  let listed = { rows: [], most: 0, better: 1, names: ["A", "B"] };

  const chosen = (name) => Number(at(`pick-${name}`).value);
  const format = (value) => (value === null ? "-" : value.toFixed(4));
  const signed = (value) => (value >= 0 ? "+" : "-") + Math.abs(value).toFixed(4);
  const labelled = (node, label) => {
    node.dataset.label = label;
    return node;
  };
  const withText = (node, text) => {
    if (text) node.append(make("span", text, "sub"));
    return node;
  };

  const fill = (select, names, selected) => {
    names.forEach((name, i) => {
      const option = make("option", name);
      option.value = i;
      option.selected = i === selected;
      select.append(option);
    });
  };

  // A system's values: 16- or 24-bit numbers in base64, lowest byte first, where 0 is "undefined" and n is low + n - 1.
  const unpackBits = (text, { low, size, scale }) => {
    const raw = atob(text);
    return Array.from({ length: raw.length / size }, (_, i) => {
      let code = 0;
      for (let byte = size - 1; byte >= 0; byte--) code = 256 * code + raw.charCodeAt(size * i + byte);
      return code ? (low + code - 1) / scale : null;
    });
  };

  // The values of a measure, for each system: packed, or plain numbers where 24 bits are not enough.
  const unpack = (packed) => {
    if (packed.bits) return packed.bits.map((text) => unpackBits(text, packed));
    const scaled = (value) => (value === null ? null : value / packed.scale);
    return packed.rows.map((row) => row.map(scaled));
  };

  const unpacked = new Map();
  const valuesOf = (measure) => {
    if (!unpacked.has(measure)) unpacked.set(measure, unpack(data.values[measure]));
    return unpacked.get(measure);
  };

  // What happened to a document, from its ranks (0: absent) and the unjudged documents above it.
  const causeOf = (oldRank, newRank, oldHoles, newHoles) => {
    if (!oldRank && !newRank) return "absent";
    const isSeen = (rank) => rank > 0 && (!data.reach || rank <= data.reach);
    if (oldRank !== newRank && !isSeen(oldRank) && !isSeen(newRank)) return "out of reach";
    if (!newRank) return "lost";
    if (!oldRank) return "found";
    const wasInside = oldRank <= data.k;
    const isInside = newRank <= data.k;
    if (newRank > oldRank) {
      if (2 * (newHoles - oldHoles) > newRank - oldRank) return "intruder";
      return wasInside && !isInside ? "pushed out" : "moved down";
    }
    if (newRank < oldRank) return !wasInside && isInside ? "pulled in" : "moved up";
    return "unchanged";
  };

  const toneOf = (grade, cause) => {
    if (grade < 1) return "dim";
    if (FALLS.includes(cause)) return "fall";
    return RISES.includes(cause) ? "rise" : "dim";
  };

  const documentRow = (doc, a, b, names, effect) => {
    const [id, grade, ranks, holes, , text] = doc;
    const cause = causeOf(ranks[a], ranks[b], holes[a], holes[b]);
    const cells = [make("td", grade), make("td", ranks[a] || "-"), make("td", ranks[b] || "-")];
    cells.push(make("td", cause, `text ${toneOf(grade, cause)}`));
    if (data.effect) cells.push(make("td", signed(effect(doc) / data.scale)));

    const line = make("tr");
    line.append(withText(make("td", id, "name"), text));
    cells.forEach((cell, i) => line.append(labelled(cell, names[i + 1])));
    return line;
  };

  const documentTable = (docs, a, b) => {
    const names = ["judged document", "grade", `A: ${data.runs[a]}`, `B: ${data.runs[b]}`, "what happened"];
    if (data.effect) names.push(`effect on ${data.effect}`);
    const effect = ([, , , , worth]) => (worth.length ? worth[b] - worth[a] : 0);
    const byEffect = [...docs].sort((x, y) => Math.abs(effect(y)) - Math.abs(effect(x)));

    const table = make("table", undefined, "stack");
    const head = table.createTHead().insertRow();
    names.forEach((name, i) => head.append(make("th", name, i ? "" : "name")));
    table.createTBody().append(...byEffect.map((doc) => documentRow(doc, a, b, names, effect)));
    return table;
  };

  const detail = (row) => {
    const docs = data.docs[row.i];
    const cell = make("td");
    cell.colSpan = 5;
    if (!docs) cell.textContent = data.docs_note;
    else if (!docs.length) cell.textContent = "No relevant document is judged for this query.";
    else cell.append(documentTable(docs, chosen("a"), chosen("b")));

    const line = make("tr", undefined, "detail");
    line.append(cell);
    return line;
  };

  // A bar from the middle, to the right if B is higher; the largest difference takes half of the width.
  const bar = (delta, tone) => {
    const outer = make("meter-bar");
    const inner = make("i", undefined, tone === "rise" ? "up" : "down");
    const width = listed.most ? (50 * Math.abs(delta)) / listed.most : 0;
    inner.style.left = `${delta > 0 ? 50 : 50 - width}%`;
    inner.style.width = `${width}%`;
    outer.append(inner);
    outer.setAttribute("aria-hidden", "true");
    return outer;
  };

  const nameCell = (row, line) => {
    const button = make("button", data.queries[row.i], "open");
    button.type = "button";
    button.setAttribute("aria-expanded", "false");
    button.addEventListener("click", () => {
      const isOpen = button.getAttribute("aria-expanded") === "true";
      button.setAttribute("aria-expanded", String(!isOpen));
      if (isOpen) line.nextSibling.remove();
      else line.after(detail(row));
    });
    const cell = make("td", undefined, "name");
    cell.append(button);
    return withText(cell, data.texts[row.i]);
  };

  const queryRow = (row) => {
    let tone = row.delta ? "fall" : "dim";
    if (row.delta * listed.better > 0) tone = "rise";
    const drawn = make("td");
    drawn.append(bar(row.delta, tone));

    const line = make("tr");
    line.append(
      nameCell(row, line),
      labelled(make("td", format(row.a)), listed.names[0]),
      labelled(make("td", format(row.b)), listed.names[1]),
      labelled(make("td", row.isKnown ? signed(row.delta) : "-", tone), "B \u2212 A"),
      labelled(drawn, "size"),
    );
    return line;
  };

  const draw = () => {
    const { rows } = listed;
    const all = data.queries.length.toLocaleString("en");
    body.replaceChildren(...rows.slice(0, shown).map(queryRow));
    count.textContent = `${rows.length.toLocaleString("en")} of ${all} queries listed`;
    more.hidden = rows.length <= shown;
  };

  // Each query with its values; a difference that is only rounding is none.
  const rowsOf = (valuesA, valuesB) =>
    data.queries.map((name, i) => {
      const a = valuesA[i];
      const b = valuesB[i];
      const isKnown = a !== null && b !== null;
      const isDifferent = isKnown && Math.abs(b - a) > 1e-9;
      return { i, name, a, b, isKnown, delta: isDifferent ? b - a : 0 };
    });

  const goes = (row, way, better) => {
    if (way === "up") return row.delta * better > 0;
    if (way === "down") return row.delta * better < 0;
    return way === "all" || row.delta === 0;
  };

  const byName = (x, y) => {
    if (x.name === y.name) return 0;
    return x.name < y.name ? -1 : 1;
  };

  const sorted = (rows) => {
    const direction = isDown ? -1 : 1;
    if (sortKey === "name") return rows.sort((x, y) => byName(x, y) * direction);
    const key = sortKey === "size" ? (row) => Math.abs(row.delta) : (row) => row[sortKey];
    return rows.sort((x, y) => (key(x) - key(y)) * direction || x.i - y.i);
  };

  const update = () => {
    const a = chosen("a");
    const b = chosen("b");
    const measure = chosen("measure");
    const way = at("pick-way").value;
    const wanted = at("pick-text").value.toLocaleLowerCase();
    const has = (text) => text !== undefined && text.toLocaleLowerCase().includes(wanted);
    const names = [`A: ${data.runs[a]}`, `B: ${data.runs[b]}`];
    const better = data.higher[measure] ? 1 : -1;

    const all = rowsOf(valuesOf(measure)[a], valuesOf(measure)[b]);
    const most = all.reduce((largest, row) => Math.max(largest, Math.abs(row.delta)), 0);
    const rows = all.filter((row) => (!wanted || has(row.name) || has(data.texts[row.i])) && goes(row, way, better));
    listed = { rows: sorted(rows), most, better, names };
    [at("head-a").textContent, at("head-b").textContent] = names;
    shown = PAGE;
    draw();
  };

  const sortQueries = (button) => {
    const { key } = button.dataset;
    isDown = sortKey === key ? !isDown : key !== "name";
    sortKey = key;
    for (const head of document.querySelectorAll("#queries thead th")) head.removeAttribute("aria-sort");
    button.closest("th").setAttribute("aria-sort", isDown ? "descending" : "ascending");
    update();
  };

  fill(at("pick-a"), data.runs, data.a);
  fill(at("pick-b"), data.runs, data.b);
  fill(at("pick-measure"), data.measures, 0);
  for (const button of document.querySelectorAll("#queries thead button")) {
    button.addEventListener("click", () => sortQueries(button));
  }
  for (const id of ["pick-a", "pick-b", "pick-measure", "pick-way"]) at(id).addEventListener("change", update);
  at("pick-text").addEventListener("input", update);
  more.addEventListener("click", () => {
    shown += 5 * PAGE;
    draw();
  });
  at("queries").hidden = false;
  update();
})();
