// page_classes.js - the table of classes: rows, wrong ones, what they are taken for; below a class, folded, what its cell of the
// confusion matrix says already.

const Classes = (() => {
  const MOST = 12;
  let all = false;                      // whether every class is shown

  // The largest share of a class that its folded entries explain comes first: their order is that of the list.
  function cells(k, lists, item) {
    const one = list => {
      const e = Claim.entryOf(list[0]);
      const toggled = v => { e.unfolded = v.target.open; List.roving(); }, of = e.class === null ? "all rows" : "the class";
      return h("details", { open: e.unfolded, ontoggle: toggled }, h("summary", {}, h("bdi", {}, e.title),
        `: ${percent(e.wrong / k.rows)} of ${of}; the confusion matrix says it (#${e.number})`),
        h("ol", { class: "cards" }, item(list)));
    };
    return h("tr", { class: "cells" }, h("td", { colspan: 6 }, ...lists.map(one)));
  }

  function row(k, links) {
    const share = k.wrong && k.taken_for !== null && k.taken_for !== undefined ? ` (${percent(k.taken_rows / k.wrong)})` : "";
    const link = s => h("a", { href: `#${s.address}`, title: Card.title(s) }, `#${s.number}`);
    return h("tr", {}, h("th", { scope: "row" }, h("bdi", {}, k.name)),
      ...[count(k.rows), count(k.wrong), percent(k.rate)].map(t => h("td", { class: "number" }, t)),
      h("td", {}, share ? h("bdi", {}, k.taken_for) : "–", h("span", { class: "once" }, share)),
      h("td", {}, ...links.flatMap((s, i) => [i ? ", " : null, link(s)])));
  }

  // Confirmed entries of a class, or slices that were not tested; the first of each.
  const linked = (list, m) => list.filter(s => Claim.place(s).model === m && Claim.isHead(s) && !Claim.entryOf(s).folded &&
    ["confirmed", "open"].includes(s.kind));

  function table(m, classes, lists, item) {
    const heads = linked(Claim.all(), m).sort(Claim.order);
    const of = (list, k) => list.filter(s => Claim.entryOf(s).class_number === k);
    const rows = classes.flatMap(k => {
      const own = lists.filter(list => Claim.entryOf(list[0]).class_number === k.class_number);
      return [row(k, of(heads, k.class_number).slice(0, 6)), own.length ? cells(k, own, item) : null];
    });
    const many = lists.filter(list => Claim.entryOf(list[0]).class_number === null);
    const every = { rows: what.models[m].judged };
    const heading = ["class", "rows", "wrong", "rate", "most often taken for", Claim.tested ? "causes" : "slices"];
    return h("div", { class: "scroll" }, h("table", { class: "classes" },
      h("thead", {}, h("tr", {}, ...heading.map((t, i) => h("th", { scope: "col", class: i > 0 && i < 4 ? "number" : null }, t)))),
      h("tbody", {}, ...rows.filter(Boolean), many.length ? cells(every, many, item) : null)));
  }

  // place: "" or the number of a class, -1 for slices across classes, which have the classes of their cells beside them. lists: the
  // folded entries, each as its slices; item makes a card of one.
  function draw(m, place, lists, item) {
    const with_cells = new Set(lists.map(list => Claim.entryOf(list[0]).class_number));
    const classes = what.models[m].classes.map(k => ({ ...k, name: what.classes[k.class_number] }))
      .filter(k => place === "" || String(k.class_number) === place || with_cells.has(k.class_number));
    const few = all ? classes : classes.filter((k, i) => i < MOST || with_cells.has(k.class_number));
    if (!classes.length && !lists.length) return [];
    const more = classes.length - few.length;
    return [h("section", { id: "classes", "aria-labelledby": "classes-title" },
      h("h2", { id: "classes-title" }, "Classes"),
      h("p", { class: "key-line" }, "Worst first. ", lists.length ? "Under a class: slices that are true but say no more than the " +
        "confusion matrix and the confidence do." : ""), table(m, few, lists, item),
      more > 0 ? h("p", { class: "row" }, List.button(`Show all ${count(classes.length)} classes`, () => {
        all = true;
        List.draw();
      })) : null)];
  }

  return { draw };
})();
