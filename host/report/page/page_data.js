// page_data.js - what the report holds.
//
// rows      0 .. n-1 with ids and pictures
// places    rows that were examined together: one class of one model, or one EC
// maps      a place's points; findings: a method's slices of a place, members as indices into the place

const isRun = what.kind === "run";

const Data = (() => {
  let ids = null;

  // Fills in a place's arrays; the maps, findings and truths that belong to it get theirs when they are looked at.
  async function place(k) {
    const p = what.places[k];
    if (!p.row) {
      const [row, at, bad] = await Promise.all([Block.ascending(p.rows), Block.u8(p.confidence), Block.u8(p.bad)]);
      p.at = at;
      p.isBad = bad;
      p.row = row;
    }
    return p;
  }

  async function map(k) {
    const m = what.maps[k];
    if (m.v) return m;
    const v = await Block.i16(m.xy), n = v.length / 2, range = (from, to) => {
      let low = 0, high = 0;
      for (let i = from; i < to; i++) { low = Math.min(low, v[i]); high = Math.max(high, v[i]); }
      return 2 * Math.max(-low, high);
    };
    m.wide = range(0, n);
    m.high = range(n, 2 * n);
    m.v = v;
    return m;
  }

  // Members of all slices of a finding, each ascending; and in the order of the strips: the least confident first.
  async function finding(i) {
    const f = what.findings[i];
    if (f.ready) return f;
    const p = await place(f.place), all = await Block.ascending(f.members);
    let from = 0;
    for (const s of f.slices) {
      s.member = all.subarray(from, from += s.size);
      s.worst = worst(s.member, p);
    }
    f.ready = true;
    return f;
  }

  function worst(member, p) {
    const out = Array.from(member);
    return out.sort((a, b) => p.at[a] - p.at[b] || a - b);
  }

  // A slice of somebody's own has the same members as one that was found.
  async function slice(name, k, member) {
    const p = await place(k), wrong = member.reduce((n, i) => n + p.isBad[i], 0);
    const mean = member.reduce((n, i) => n + p.at[i], 0) / 255 / (member.length || 1);
    return { name, own: true, place: k, member, worst: worst(member, p), size: member.length, wrong, near: [],
             error_rate: member.length ? wrong / member.length : null, mean_confidence: mean,
             share_of_errors: p.wrong ? wrong / p.wrong : null };
  }

  async function loadIds() { if (what.ids !== undefined) ids = await Block.words(what.ids); }

  const model = k => what.models[what.places[k].model];
  const several = list => new Set(list).size > 1;

  function placeName(k) {
    const p = what.places[k];
    if (isRun) return `EC ${p.ec}`;
    return p.class < 0 ? "all classes" : what.classes[p.class];
  }

  // By which the filter tells places apart: an EC's name, or the number of a class, -1 for all rows.
  const placeKey = k => isRun ? placeName(k) : String(what.places[k].class);

  const manyModels = what.models.length > 1;
  const manySeeds = several(what.findings.filter(f => !f.merged).map(f => f.seed));
  const manyPlaces = several(what.places.map((p, k) => placeName(k)));

  function findingName(f) {
    const part = [f.method];
    if (manySeeds && !f.merged) part.push(`seed ${f.seed}`);
    if (manyPlaces) part.unshift(placeName(f.place));
    if (manyModels) part.unshift(model(f.place).name);
    return part.join(" · ");
  }

  // Tells a row of a place, for eyes.
  function row(k, i) {
    const p = what.places[k], m = model(k), r = p.row[i];
    const word = v => v === undefined ? null : what.classes[v];
    return { id: ids ? ids[r] : String(r), row: r, seems: word(m.seems?.get(r)), confidence: p.at[i] / 255, wrong: !!p.isBad[i],
             target: p.class >= 0 && !isRun ? what.classes[p.class] : m.targets ? word(m.targets[r]) : null,
             predicted: m.predictions ? word(m.predictions[r]) : null };
  }

  // Each model's summary, classes and entries.
  async function loadLists() {
    for (const m of what.models) if (m.list !== undefined) Object.assign(m, await Block.json(m.list));
  }

  async function loadRows() {
    await loadIds();
    for (const m of what.models) {
      if (m.target !== undefined) m.targets = await Block.u16(m.target);
      if (m.predicted !== undefined) m.predictions = await Block.u16(m.predicted);
      if (m.suspects === undefined) continue;
      const [rows, to] = await Promise.all([Block.i32(m.suspects), Block.i32(m.suspect_classes)]);
      m.seems = new Map(Array.from(rows, (r, i) => [r, to[i]]));
    }
  }

  return { place, map, finding, slice, loadLists, loadRows, row, model, placeName, placeKey, findingName, manyModels, manySeeds, manyPlaces };
})();
