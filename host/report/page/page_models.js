// page_models.js - several models on the same slices: which of one model's blindspots another has too. Rates, not tests.

const Models = (() => {
  const box = document.getElementById("models"), MOST = 12;
  const rateOf = (s, k) => s.size ? s.others[k] / s.size : null;

  function slices(k) {
    const all = Claim.all().filter(s => Claim.place(s).model === k).sort(Claim.order);
    const sure = all.filter(s => s.kind === "confirmed");
    return { list: sure.length || all.some(s => s.proof) ? sure : all.filter(s => s.kind === "open"), sure: sure.length > 0 };
  }

  function cell(s, k) {
    const mine = k === Claim.place(s).model, d = rateOf(s, k) - rateOf(s, Claim.place(s).model);
    const by = Math.round(100 * d);
    const change = mine ? null : h("small", {}, by ? ` ${by < 0 ? "−" : "+"}${Math.abs(by)} points` : " no change");
    return h("td", { class: "number" }, mine ? percent(rateOf(s, k)) : h("b", {}, percent(rateOf(s, k))), change);
  }

  function table(k) {
    const { list, sure } = slices(k), name = h("bdi", {}, what.models[k].name);
    if (!list.length) return h("p", { class: "hint" }, "No slice of ", name, " is a confirmed blindspot.");
    const link = s => h("a", { href: `#${s.address}`, onclick: e => { e.preventDefault(); open(s); } }, h("bdi", {}, Claim.name(s)));
    const rows = list.slice(0, MOST).map(s => h("tr", {}, h("th", { scope: "row" }, link(s)),
      h("td", { class: "number" }, count(s.size)), ...what.models.map((m, j) => cell(s, j))));
    return h("div", { class: "scroll" }, h("table", {},
      h("caption", {}, sure ? "Confirmed blindspots of " : "Slices, not tested, of ", h("bdi", {}, what.models[k].name),
        list.length > MOST ? `: the first ${MOST} of ${count(list.length)}` : ""),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "slice"), h("th", { scope: "col", class: "number" }, "rows"),
        ...what.models.map(m => h("th", { scope: "col", class: "number" }, h("bdi", {}, m.name), ", wrong")))),
      h("tbody", {}, ...rows)));
  }

  function open(s) {
    location.hash = s.address;
    document.getElementById("filters").scrollIntoView({ block: "start" });
  }

  function draw() {
    if (!Data.manyModels || isRun || !Claim.all().length) return;
    box.hidden = false;
    box.append(h("h2", { id: "models-title" }, "The models on the same slices"),
      h("p", { class: "key-line" }, "Rates on the same rows; not a test. A slice was chosen by the errors of its own model, whose " +
        "rate on it is for that too high: some of any fall is chance."),
      h("div", { class: "tables" }, ...what.models.map((m, k) => table(k))));
  }

  // Below a slice's numbers: what the other models make of its rows.
  function detail(to, s) {
    if (s.own || !s.others || !Data.manyModels) return;
    to.append(h("h3", {}, "The models on these rows"), h("ul", { class: "plain-list" }, ...what.models.map((m, k) =>
      h("li", {}, h("bdi", {}, m.name), `: ${percent(rateOf(s, k))} wrong`))),
      h("p", { class: "key-line" }, "Rates on the same rows; not a test."));
  }

  return { draw, detail };
})();
