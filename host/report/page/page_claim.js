// page_claim.js - what is claimed of each slice; its number, which counts through all classes; its name; its address, by which
// a link finds it again.
//
// kind    confirmed, suggested, chance: by the test
//         open: not tested, with more errors than the rest of its class
//         fine: no more errors than the rest of its class, tested or not

const Claim = (() => {
  const KINDS = ["confirmed", "suggested", "open", "chance", "fine"];
  const words = { confirmed: "confirmed blindspot", suggested: "suggested", open: "not tested", chance: "may be chance",
                  fine: "no more errors than elsewhere" };
  const all = [], at = new Map();
  const tested = what.findings.some(f => f.slices.some(s => s.proof));

  const place = s => what.places[s.place];
  const classRate = s => s.proof && s.proof.class_rate !== null ? s.proof.class_rate
    : place(s).n ? place(s).wrong / place(s).n : 0;
  const rate = s => s.proof && s.proof.judged ? s.proof.wrong / s.proof.judged : s.rate;

  // More of it is wrong than of the rest of its class: the others are no blindspots, whatever their method says.
  const standsOut = s => place(s).n > s.size && s.rate > (place(s).wrong - s.wrong) / (place(s).n - s.size);

  function kind(s) {
    if (isRun) return "open";
    if (!s.proof) return standsOut(s) ? "open" : "fine";
    if (s.proof.claim) return s.proof.claim > 1 ? "confirmed" : "suggested";
    return s.proof.excess[0] !== null && s.proof.excess[0] <= 0 ? "fine" : "chance";
  }

  // With a proof, the excess to expect on new rows; without, wrong rows beyond those that the class's rate gives.
  function weight(s) {
    if (s.proof) return s.proof.shrunk ?? s.proof.excess[0] ?? -1;
    return s.wrong - s.size * classRate(s);
  }

  const order = (a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || b.weight - a.weight || b.size - a.size ||
                          a.finding - b.finding || a.rank - b.rank;

  const methods = s => s.own ? ["lasso"] : !s.proof ? [what.findings[s.finding].method]
    : [...new Set(s.proof.pieces.map(e => (Data.model(s.place).methods || [])[e.method]).filter(Boolean))];

  // The slices that are numbered together: those of a model, and without a proof of one method with one seed.
  function series(s) {
    const f = what.findings[s.finding], part = [];
    if (isRun) part.push(Data.placeName(s.place));
    if (Data.manyModels) part.push(`model-${place(s).model + 1}`);
    if (!f.merged && new Set(what.findings.map(g => g.method)).size > 1) part.push(f.method);
    if (!f.merged && Data.manySeeds) part.push(`seed-${f.seed}`);
    return part.map(t => t.replace(/[^A-Za-z0-9_-]+/g, "-"));
  }

  function begin() {
    what.findings.forEach((f, i) => f.slices.forEach((s, k) => {
      Object.assign(s, { finding: i, place: f.place, rank: k + 1 });
      s.kind = kind(s);
      s.weight = weight(s);
      all.push(s);
    }));
    const numbers = new Map();
    for (const s of [...all].sort(order)) {
      const part = series(s), key = part.join(".");
      const number = (numbers.get(key) || 0) + 1;
      numbers.set(key, number);
      s.number = isRun ? s.rank : number;
      s.address = [...part, `slice-${s.number}`].join(".");
      at.set(s.address, s);
    }
  }

  // Slices of several classes with one cause, by model and number; and a cause's figures.
  const causeOf = s => s.proof && s.proof.cause ? `${place(s).model}.${s.proof.cause}` : null;
  const causes = list => new Set(list.map(causeOf).filter(Boolean)).size;

  function together(list) {
    const sum = of => list.reduce((n, s) => n + of(s), 0), judged = sum(s => s.proof.judged);
    return { size: sum(s => s.size), judged, rate: sum(s => s.proof.wrong) / judged,
             classRate: sum(s => s.proof.class_rate * s.proof.judged) / judged, taken: what.classes[list[0].taken],
             share: sum(s => s.taken_share * s.wrong) / sum(s => s.wrong), classes: new Set(list.map(s => s.place)).size };
  }

  const className = s => place(s).class < 0 && !isRun ? "all classes" : Data.placeName(s.place);

  function name(s) {
    if (s.own) return s.name;
    if (isRun) return `Hypothesis ${s.number}`;
    return `${place(s).class < 0 ? "slice" : Data.placeName(s.place)} #${s.number}`;
  }

  const taken = s => s.taken === undefined ? null : what.classes[s.taken];
  const count_of = list => Object.fromEntries(KINDS.map(k => [k, list.filter(s => s.kind === k).length]));

  return { begin, order, kinds: count_of, word: s => words[s.kind], methods, name, className, classRate, rate, taken, tested, causeOf, causes,
           together,
           all: () => all, at: address => at.get(address), place };
})();
