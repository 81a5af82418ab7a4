"use strict";
// What every script of a page uses: an element by its id, and a new one.
const at = (id) => document.getElementById(id);
const make = (tag, text, name) => {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  if (name) node.className = name;
  return node;
};
(() => {
  // Tables that are in the page: sort by a column, filter by what a row is.
  for (const table of document.querySelectorAll("table[data-sortable]")) {
    table.querySelectorAll("thead th button").forEach((button) => {
      button.addEventListener("click", () => {
        const head = button.closest("th"), column = head.cellIndex, body = table.tBodies[0];
        const down = head.getAttribute("aria-sort") !== "descending";
        for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const key = (row) => {
          const cell = row.cells[column], raw = cell.dataset.value;
          return raw === undefined ? cell.textContent.trim() : raw === "" ? -Infinity : Number(raw);
        };
        const compare = (x, y) => (typeof x === "number" && typeof y === "number" ? x - y || 0 : String(x).localeCompare(String(y)));
        const rows = [...body.rows].sort((a, b) => compare(key(a), key(b)) * (down ? -1 : 1));
        body.append(...rows);
      });
    });
  }
  for (const select of document.querySelectorAll("select[data-filters]")) {
    const rows = document.getElementById(select.dataset.filters).tBodies[0].rows;
    const both = document.querySelectorAll(`select[data-filters="${select.dataset.filters}"]`);
    const apply = () => {
      for (const row of rows) row.hidden = ![...both].every((s) => !s.value || row.dataset[s.dataset.field] === s.value);
    };
    select.addEventListener("change", apply);
    apply();
  }

  // The explorer of queries.
  const holder = document.getElementById("data");
  if (!holder) return;
  const data = JSON.parse(holder.textContent);
  const body = at("query-rows"), count = at("query-count"), more = at("query-more");
  const PAGE = 50, SCALE = data.scale;
  let shown = PAGE, sortBy = "size", sortDown = true, rows = [];
  const fill = (select, names, chosen) => {
    names.forEach((name, i) => {
      const option = make("option", name);
      option.value = i;
      option.selected = i === chosen;
      select.append(option);
    });
  };
  fill(at("pick-a"), data.runs, data.a);
  fill(at("pick-b"), data.runs, data.b);
  fill(at("pick-measure"), data.measures, 0);
  // Values are 16- or 24-bit numbers in base64, where 0 is "undefined" and n is low + n - 1; or plain numbers.
  const unpack = ({ bits, rows, low, size, scale }) => rows ? rows.map((row) => row.map((v) => v === null ? v : v / scale)) : bits.map((text) => {
    const raw = atob(text), row = new Array(raw.length / size);
    for (let i = 0; i < row.length; i++) {
      let code = 0;
      for (let byte = size - 1; byte >= 0; byte--) code = 256 * code + raw.charCodeAt(size * i + byte);
      row[i] = code ? (low + code - 1) / scale : null;
    }
    return row;
  });
  const unpacked = new Map(), valuesOf = (m) => unpacked.get(m) || unpacked.set(m, unpack(data.values[m])).get(m);
  const format = (v) => (v === null ? "-" : v.toFixed(4));
  const sign = (v) => (v >= 0 ? "+" : "-") + Math.abs(v).toFixed(4);
  const labelled = (node, label) => {
    node.dataset.label = label;
    return node;
  };
  const titled = (node, more) => {
    if (more) node.append(make("span", more, "sub"));
    return node;
  };
  const why = (old, now, oldHoles, nowHoles) => {
    if (!old && !now) return "absent";
    if (!now) return "lost";
    if (!old) return "found";
    if (now > old && 2 * (nowHoles - oldHoles) > now - old) return "intruder";
    if (now > old) return old <= data.k && now > data.k ? "pushed out" : "moved down";
    if (now < old) return old > data.k && now <= data.k ? "pulled in" : "moved up";
    return "unchanged";
  };
  const FALLS = ["lost", "pushed out", "intruder", "moved down"], RISES = ["found", "pulled in", "moved up"];
  const documents = (docs, a, b) => {
    const table = make("table", undefined, "stack"), head = table.createTHead().insertRow(), tbody = table.createTBody();
    const names = ["judged document", "grade", `A: ${data.runs[a]}`, `B: ${data.runs[b]}`, "what happened"];
    if (data.effect) names.push(`effect on ${data.effect}`);
    names.forEach((name, i) => head.append(make("th", name, i ? "" : "name")));
    const effect = ([, , , , worth]) => (worth.length ? worth[b] - worth[a] : 0);
    for (const doc of [...docs].sort((x, y) => Math.abs(effect(y)) - Math.abs(effect(x)))) {
      const [id, grade, ranks, holes, , text] = doc, line = tbody.insertRow(), cause = why(ranks[a], ranks[b], holes[a], holes[b]);
      const tone = grade < 1 ? "dim" : FALLS.includes(cause) ? "fall" : RISES.includes(cause) ? "rise" : "dim";
      const cells = [grade, ranks[a] || "-", ranks[b] || "-", cause];
      if (data.effect) cells.push(sign(effect(doc) / SCALE));
      line.append(titled(make("td", id, "name"), text));
      cells.forEach((value, i) => line.append(labelled(make("td", value, i === 3 ? `text ${tone}` : ""), names[i + 1])));
    }
    return table;
  };
  const detail = (row) => {
    const a = Number(at("pick-a").value), b = Number(at("pick-b").value);
    const tr = make("tr", undefined, "detail"), cell = make("td");
    cell.colSpan = 5;
    const docs = data.docs[row.i];
    if (!docs) cell.textContent = data.docs_note;
    else if (!docs.length) cell.textContent = "No relevant document is judged for this query.";
    else cell.append(documents(docs, a, b));
    tr.append(cell);
    return tr;
  };
  const bar = (delta, most, tone) => {
    const outer = document.createElement("meter-bar"), inner = make("i", undefined, tone === "rise" ? "up" : "down");
    const width = most ? (50 * Math.abs(delta)) / most : 0;
    inner.style.left = `${delta > 0 ? 50 : 50 - width}%`;
    inner.style.width = `${width}%`;
    outer.append(inner);
    outer.setAttribute("aria-hidden", "true");
    return outer;
  };
  const draw = () => {
    const most = rows.most;
    body.replaceChildren(...rows.slice(0, shown).map((row) => {
      const tr = document.createElement("tr"), name = make("td", undefined, "name"), button = make("button", data.queries[row.i], "open");
      button.type = "button";
      button.setAttribute("aria-expanded", "false");
      button.addEventListener("click", () => {
        const open = button.getAttribute("aria-expanded") === "true";
        button.setAttribute("aria-expanded", String(!open));
        if (open) tr.nextSibling.remove(); else tr.after(detail(row));
      });
      name.append(button);
      titled(name, data.texts[row.i]);
      const tone = row.delta * rows.way > 0 ? "rise" : row.delta ? "fall" : "dim", drawn = labelled(make("td"), "size");
      drawn.append(bar(row.delta, most, tone));
      tr.append(name, labelled(make("td", format(row.a)), rows.names[0]), labelled(make("td", format(row.b)), rows.names[1]));
      tr.append(labelled(make("td", row.known ? sign(row.delta) : "-", tone), "B \u2212 A"), drawn);
      return tr;
    }));
    count.textContent = `${rows.length.toLocaleString("en")} of ${data.queries.length.toLocaleString("en")} queries listed`;
    more.hidden = rows.length <= shown;
  };
  const update = () => {
    const a = Number(at("pick-a").value), b = Number(at("pick-b").value), m = Number(at("pick-measure").value);
    const wanted = at("pick-text").value.toLocaleLowerCase(), way = at("pick-way").value;
    const va = valuesOf(m)[a], vb = valuesOf(m)[b], better = data.higher[m] ? 1 : -1;
    at("head-a").textContent = `A: ${data.runs[a]}`;
    at("head-b").textContent = `B: ${data.runs[b]}`;
    rows = data.queries.map((name, i) => {
      const known = va[i] !== null && vb[i] !== null;
      return { i, name, a: va[i], b: vb[i], known, delta: known && Math.abs(vb[i] - va[i]) > 1e-9 ? vb[i] - va[i] : 0 };
    });
    const most = rows.reduce((largest, row) => Math.max(largest, Math.abs(row.delta)), 0);
    const has = (text) => text !== undefined && text.toLocaleLowerCase().includes(wanted);
    rows = rows.filter((row) => (!wanted || has(row.name) || has(data.texts[row.i])) &&
      (way === "all" || (way === "up" && row.delta * better > 0) || (way === "down" && row.delta * better < 0) || (way === "even" && row.delta === 0)));
    const keys = { size: (row) => Math.abs(row.delta), delta: (row) => row.delta, a: (row) => row.a, b: (row) => row.b };
    if (sortBy === "name") rows.sort((x, y) => (x.name < y.name ? -1 : x.name > y.name ? 1 : 0) * (sortDown ? -1 : 1));
    else rows.sort((x, y) => (keys[sortBy](x) - keys[sortBy](y)) * (sortDown ? -1 : 1) || x.i - y.i);
    rows.most = most;
    rows.way = better;
    rows.names = [`A: ${data.runs[a]}`, `B: ${data.runs[b]}`];
    shown = PAGE;
    draw();
  };
  for (const button of document.querySelectorAll("#queries thead button")) {
    button.addEventListener("click", () => {
      const key = button.dataset.key;
      sortDown = sortBy === key ? !sortDown : key !== "name";
      sortBy = key;
      for (const head of document.querySelectorAll("#queries thead th")) head.removeAttribute("aria-sort");
      button.closest("th").setAttribute("aria-sort", sortDown ? "descending" : "ascending");
      update();
    });
  }
  for (const id of ["pick-a", "pick-b", "pick-measure", "pick-way"]) at(id).addEventListener("change", update);
  at("pick-text").addEventListener("input", update);
  at("queries").hidden = false;
  more.addEventListener("click", () => { shown += 5 * PAGE; draw(); });
  update();
})();
