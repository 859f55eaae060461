// page_run.js - what a sweep's report has beside: the table of methods, figures, each EC's truth.

const Run = (() => {
  const box = document.getElementById("run");
  let marked = false;

  function facts(fact) {
    for (const [name, value, note] of what.facts) fact(name, value, note);
  }

  const number = (v, digits = 2) => v === null ? "–" : v.toFixed(digits);

  // The columns that some method has a number for.
  function table(label, described, rows) {
    const columns = Quantity.columns(described, rows);
    return h("div", { class: "scroll plain-box", tabindex: 0, "aria-label": label }, h("table", { class: "plain" },
      h("thead", {}, h("tr", {}, ...columns.map(c =>
        h("th", { scope: "col", class: c.number ? "number" : null, title: c.about }, c.name)))),
      h("tbody", {}, ...rows.map(r => h("tr", {}, ...columns.map(c => c.cell(r)))))));
  }

  const methods = () => table("Methods", what.columns.filter(q => !what.beside?.some(b => b.name === q.name && b.unit !== "text")),
                              what.methods);

  function beside() {
    return h("details", { id: "beside" }, h("summary", {}, what.beside_title),
      table("Beside DR and FDR", what.beside, what.methods.map(m => ({ ...m, ...m.beside }))),
      what.beside_note ? h("p", { class: "key-line" }, what.beside_note) : null);
  }

  function draw() {
    if (!isRun) return;
    document.getElementById("filters").before(h("section", { "aria-label": "Methods" }, methods(),
      h("p", { class: "key-line" }, what.caption), what.beside ? beside() : null,
      h("p", { class: "jump" }, ...[["#filters", "Maps of the ECs"], ["#compare", "Side by side"], ["#run", "Figures"],
                                    ["#help-title", "Help"]].map(([href, text]) => h("a", { href }, text)))));
    for (const e of document.querySelectorAll("#filters, .columns")) e.hidden = !what.findings.length;
    box.hidden = !what.figures.length;
    box.append(h("h2", {}, "Figures"), h("p", { class: "hint" }, what.legend),
      h("div", { class: "figures" }, ...what.figures.map(f =>
        h("img", { class: "figure", src: `data:image/svg+xml;base64,${document.getElementById("f" + f.number).textContent}`,
                   alt: f.title, loading: "lazy" }))));
  }

  async function truthOf(k) {
    const p = what.places[k];
    if (!p.truth || p.truthReady) return p.truth;
    const mask = await Block.i32(p.mask);
    p.truth.forEach((t, m) => {
      t.member = Int32Array.from(mask.keys()).filter(i => mask[i] >> m & 1);
    });
    p.maskOf = mask;
    p.truthReady = true;
    return p.truth;
  }

  async function mark(k) {
    if (isRun) PointMap.mark(marked ? await truthOf(k) : null);
  }

  function legend(box, k) {
    const p = what.places[k];
    if (!p.truth) return;
    box.append(h("label", { class: "key" }, h("input", { type: "checkbox", checked: marked, onchange: e => {
      marked = e.target.checked;
      mark(k);
    } }), " mark the true blindspots"));
  }

  const marks = ["○", "△", "□", "◇", "▽", "⬡", "⬠", "⯃"];

  // The truth of the EC that is shown, above the hypotheses.
  async function show(i) {
    const old = document.getElementById("truth");
    if (old) old.remove();
    if (i === undefined) return;
    const f = what.findings[i], p = what.places[f.place], truth = await truthOf(f.place);
    const words = (t, m) => [plural(t.member.length, "image"), f.covered ? f.covered[m] ? "covered" : "missed" : "not judged",
                             f.recall ? `recall ${number(f.recall[m])}` : null,
                             t.inside === null ? null : `model right on ${percent(t.inside, 1)}`].filter(Boolean).join(", ");
    const li = truth.map((t, m) =>
      h("li", {}, h("b", {}, `${marks[m % 8]} B${m + 1}`), " ", t.text, h("small", {}, " " + words(t, m))));
    const score = f.dr === undefined || f.dr === null ? "no score"
      : `DR ${number(f.dr)}, FDR ${f.fdr === null ? "none (nothing discovered)" : number(f.fdr)}`;
    document.getElementById("list").before(h("section", { id: "truth", class: "truth", "aria-label": "True blindspots" },
      h("p", {}, h("b", {}, `${Data.placeName(f.place)}, ${f.method}: `),
        `${score}; the model is right on ${percent(p.outside, 1)} outside of its blindspots`,
        p.learned ? "" : ". NOT LEARNED: left out of averages"),
      h("ul", {}, ...li)));
  }

  function describe(place, i) {
    const mask = what.places[place].maskOf, names = [];
    if (!mask) return null;
    for (let m = 0; m < 8; m++) if (mask[i] >> m & 1) names.push(`B${m + 1}`);
    return names.length ? h("span", {}, `in true blindspot ${names.join(", ")}`) : null;
  }

  return { facts, draw, mark, legend, show, describe };
})();
