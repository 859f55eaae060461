// page_compare.js - slices of two findings (methods, seeds, models) side by side, and how far they overlap: the Jaccard index,
// rows in both over rows in either.

const Compare = (() => {
  const box = document.getElementById("compare"), MINE = "own";
  let a = null, b = null, table = null;

  const nameOf = k => k === MINE ? "slices of your own" : Data.findingName(what.findings[k]);
  const slicesOf = async k => k === MINE ? List.own() : (await Data.finding(k)).slices;

  // Findings that can be set beside finding i: of the same class or EC, whoever found them.
  function partners(i) {
    const here = Data.placeName(what.findings[i].place);
    return what.findings.map((f, k) => k).filter(k => k !== i && Data.placeName(what.findings[k].place) === here &&
                                                      what.findings[k].slices.length);
  }

  async function begin(i) {
    const mine = List.own().length > 0;
    if (i === undefined || i < 0 || (!partners(i).length && !mine)) { box.hidden = true; return; }
    const others = partners(i), choices = [i, ...others, ...(mine ? [MINE] : [])];
    a = i;
    const other = k => Data.manyModels ? Data.model(what.findings[k].place) !== Data.model(what.findings[i].place)
      : what.findings[k].method !== what.findings[i].method;
    b = others.find(other) ?? others[0] ?? MINE;
    const pick = (label, now, set) => h("label", {}, h("span", {}, label), h("select", { onchange: e => {
      set(e.target.value === MINE ? MINE : +e.target.value);
      draw();
    } }, ...choices.map(k => h("option", { value: k, selected: k === now }, nameOf(k)))));
    table = h("div", {});
    box.replaceChildren(h("h2", { id: "compare-title" }, "Side by side"),
      h("div", { class: "bar" }, pick("Left", a, v => { a = v; }), pick("Right", b, v => { b = v; })), table);
    box.hidden = false;
    await draw();
  }

  const rowsOf = s => { const row = what.places[s.place].row; return Array.from(s.member, i => row[i]); };

  function overlaps(left, right) {
    const sets = right.map(s => new Set(rowsOf(s)));
    return left.map(s => {
      const rows = rowsOf(s);
      return sets.map(set => {
        const both = rows.reduce((m, r) => m + set.has(r), 0);
        return { both, jaccard: both / (rows.length + set.size - both || 1) };
      });
    });
  }

  const short = s => s.own ? s.name : String(s.number);

  function matrix(left, right, o) {
    const shade = v => `background:color-mix(in srgb, var(--accent) ${Math.round(70 * v)}%, transparent)`;
    return h("div", { class: "scroll" }, h("table", { class: "matrix" },
      h("caption", {}, "Jaccard index of each pair of slices: rows in both over rows in either"),
      h("thead", {}, h("tr", {}, h("td", {}), ...right.map(s =>
        h("th", { scope: "col" }, short(s), h("small", {}, count(s.size)))))),
      h("tbody", {}, ...left.map((s, i) => h("tr", {}, h("th", { scope: "row" }, short(s), h("small", {}, count(s.size))),
        ...right.map((t, j) => {
          const v = o[i][j].jaccard;
          return h("td", { style: shade(v), title: `${count(o[i][j].both)} rows in both` },
                   v ? h("button", { type: "button", class: "cell", onclick: () => both(s, t) }, v.toFixed(2))
                     : h("span", { class: "dim" }, "0"));
        }))))));
  }

  function both(s, t) {
    if (s.place !== t.place) {
      const member = inPlace(t, s.place);
      t = { ...t, place: s.place, member, worst: member };
    }
    List.choose(s, t);
    document.getElementById("stage").scrollIntoView({ block: "center" });
  }

  // The members of another model's slice as indices into this place.
  function inPlace(t, place) {
    const row = what.places[place].row, at = new Map(Array.from(row, (r, i) => [r, i]));
    return Int32Array.from(rowsOf(t).map(r => at.get(r)).filter(i => i !== undefined)).sort();
  }

  function pairs(left, right, o) {
    const body = left.map((s, i) => {
      const j = o[i].reduce((best, v, k) => v.jaccard > (best < 0 ? 0 : o[i][best].jaccard) ? k : best, -1), t = right[j];
      const side = x => h("td", {}, h("div", { class: "line" }, h("b", {}, h("bdi", {}, List.nameOf(x))), Card.numbers(x)), Card.strip(x, 5));
      return h("tr", {}, side(s), h("td", { class: "mid" }, t ? h("b", {}, o[i][j].jaccard.toFixed(2)) : null,
        t ? h("small", {}, `${count(o[i][j].both)} in both`) : null,
        t ? List.button("Show both", () => both(s, t),
                        { "aria-label": `Show ${List.nameOf(s)} and ${List.nameOf(t)} on the map` }) : null),
        t ? side(t) : h("td", { class: "empty" }, "no slice shares a row with it"));
    });
    return h("table", { class: "pairs" },
      h("caption", {}, "Each slice of the left, and the one of the right that it overlaps most"),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, h("bdi", {}, nameOf(a))), h("th", { scope: "col" }, "Jaccard"),
                       h("th", { scope: "col" }, h("bdi", {}, nameOf(b))))),
      h("tbody", {}, ...body));
  }

  async function draw() {
    const [left, right] = await Promise.all([slicesOf(a), slicesOf(b)]), o = overlaps(left, right);
    table.replaceChildren(matrix(left, right, o), pairs(left, right, o));
  }

  return { begin, overlaps };
})();
