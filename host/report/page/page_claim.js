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
  const all = [], at = new Map(), byNumber = what.models.map(() => new Map());
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
      if (!isRun) byNumber[place(s).model].set(s.number, s);
      all.push(s);
    }));
  }

  // An entry of the list is one slice or several with one cause, of which the first is its head (spot_slice_list).
  const entryOf = s => s.own || isRun ? null : what.models[place(s).model].entries[s.entry - 1];
  const isHead = s => !!entryOf(s) && entryOf(s).number === s.number;
  const members = s => entryOf(s)?.slices.map(n => byNumber[place(s).model].get(n)) ?? [s];       // a run has no entries

  // A slice's figures in words of an entry; those of the entry where several slices are one and this is the head.
  function figures(s) {
    const e = isHead(s) && entryOf(s), v = s.proof;
    if (e && e.slices.length > 1) return { ...e, groups: e.judged_groups };
    return { size: s.size, wrong: s.wrong, judged: v ? v.judged : s.size, judged_wrong: v ? v.wrong : s.wrong,
             groups: v?.judged_groups, rate: rate(s), class_rate: classRate(s), excess: v ? v.excess : null,
             to_expect: v ? v.to_expect : null, share_of_errors: e ? e.share_of_errors : null, classes: place(s).class >= 0 ? 1 : e ? e.classes : 2,
             predicted: taken(s), predicted_share: s.taken_share };
  }

  // Wrong rows of a slice whose label may be wrong, worst first; with its members' where several slices are one.
  const suspects = s => !what.models[place(s).model].seems || !s.worst ? []
    : s.worst.filter(i => Data.row(s.place, i).seems !== null);
  function suspected(s) {
    const rows = new Set((figures(s).slices ? members(s) : [s]).flatMap(t => suspects(t).map(i => place(t).row[i])));
    return rows.size;
  }

  const className = s => place(s).class < 0 && !isRun ? "all classes" : Data.placeName(s.place);

  function name(s) {
    if (s.own) return s.name;
    if (isRun) return `Hypothesis ${s.number}`;
    return `${place(s).class < 0 ? "slice" : Data.placeName(s.place)} #${s.number}`;
  }

  const taken = s => s.taken === undefined ? null : what.classes[s.taken];
  const count_of = list => Object.fromEntries(KINDS.map(k => [k, list.filter(s => s.kind === k).length]));

  // The slice of a model with this number; the head of an entry has the entry's.
  const numbered = (m, n) => byNumber[m].get(n);

  // The slice of an address; without a series the first model's.
  function find(address) {
    const plain = isRun ? null : address.match(/^slice-(\d+)$/);
    return at.get(address) ?? (plain ? numbered(0, +plain[1]) : undefined);
  }

  return { begin, order, kinds: count_of, word: s => words[s.kind], methods, name, className, classRate, rate, taken, tested,
           entryOf, isHead, members, figures, suspects, suspected, all: () => all, at: find, numbered, place };
})();
