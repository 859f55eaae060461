// page_claim.js - what is claimed of each slice; its name; its address, by which a link finds it again. Its kind and its number,
// which counts through all classes, are those of the console and of slices.json (spot_slice_list).
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
  const rate = s => s.proof && s.proof.judged ? s.proof.wrong / s.proof.judged : s.error_rate;

  // By number; in a run, where each finding has numbers of its own, by the wrong rows beyond those that the rate gives.
  const weight = s => s.wrong - s.size * classRate(s);
  const order = isRun ? (a, b) => weight(b) - weight(a) || b.size - a.size || a.finding - b.finding || a.rank - b.rank
    : (a, b) => a.number - b.number || a.finding - b.finding || a.rank - b.rank;

  const methods = s => s.own ? ["lasso"] : !s.proof ? [what.findings[s.finding].method] : [...new Set(s.proof.pieces.map(e => e.method))];

  // The series of a slice: its model, and without a proof its method and seed.
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
      s.kind = isRun ? "open" : KINDS[s.kind];
      if (isRun) s.number = s.rank;
      s.address = [...series(s), `slice-${s.number}`].join(".");
      at.set(s.address, s);
      all.push(s);
    }));
  }

  // Slices that are one entry, by model and number; and the entry's figures.
  const entryOf = s => s.own || isRun ? null : what.models[place(s).model].entries[s.entry - 1];
  const causeOf = s => entryOf(s)?.slices.length > 1 ? `${place(s).model}.${s.entry}` : null;
  const causes = list => new Set(list.map(causeOf).filter(Boolean)).size;

  function together(list) {
    const e = entryOf(list[0]);
    return { size: e.size, judged: e.judged, rate: e.rate, classRate: e.class_rate, taken: e.predicted, share: e.predicted_share,
             classes: e.classes };
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
