// page_table.js - a table that its headings sort. columns: { name, about, key: row => number, text or null, cell: row => td or
// th, number: whether it is aligned right }.

function sortable(columns, rows, label, first, down = true) {
  const box = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label });
  let order = first;

  const empty = v => v === null || v === undefined || Number.isNaN(v);

  function sorted() {
    const key = columns[order].key;
    return [...rows].sort((a, b) => {
      const x = key(a), y = key(b);
      if (empty(x) || empty(y)) return empty(x) - empty(y);
      return (typeof x === "string" ? x.localeCompare(y) : x - y) * (down ? -1 : 1);
    });
  }

  function sort(i) {
    down = order === i ? !down : !!columns[i].number;
    order = i;
    draw();
    box.querySelectorAll(".sort")[i].focus();
  }

  function draw() {
    const head = columns.map((c, i) => h("th", { scope: "col", class: c.number ? "number" : null,
      "aria-sort": order === i ? (down ? "descending" : "ascending") : null },
      h("button", { type: "button", class: "sort", title: c.about || null, onclick: () => sort(i) }, c.name)));
    box.replaceChildren(h("table", {}, h("thead", {}, h("tr", {}, ...head)),
      h("tbody", {}, ...sorted().map(r => h("tr", {}, ...columns.map(c => c.cell(r)))))));
  }

  draw();
  return box;
}
