// page_data.js - what the report holds. `what` is its JSON; its numbers of blocks become arrays when somebody asks.
//
// rows      0 .. n-1 with ids and pictures
// places    rows that were examined together: one class of one model, or one EC
// maps      a place's points; findings: a method's slices of a place, members as indices into the place

const what = JSON.parse(document.getElementById("what").textContent);
const isRun = what.kind === "run";

const Block = (() => {
  const kept = new Map();

  function unbase64(text) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const s = atob(text), out = new Uint8Array(s.length);
    for (let i = 0; i < s.length; i++) out[i] = s.charCodeAt(i);
    return out;
  }

  async function inflate(id) {
    const element = document.getElementById("b" + id);
    const stream = new Blob([unbase64(element.textContent)]).stream().pipeThrough(new DecompressionStream("deflate"));
    element.textContent = "";
    return new Response(stream).arrayBuffer();
  }

  // A block as what `make` makes of its bytes, once.
  function get(id, make) {
    if (!kept.has(id)) kept.set(id, inflate(id).then(make));
    return kept.get(id);
  }

  const sum = b => {
    const v = new Int32Array(b);
    for (let i = 1; i < v.length; i++) v[i] += v[i - 1];
    return v;
  };

  return {
    u8: id => get(id, b => new Uint8Array(b)),
    u16: id => get(id, b => new Uint16Array(b)),
    i16: id => get(id, b => new Int16Array(b)),
    i32: id => get(id, b => new Int32Array(b)),
    ascending: id => get(id, sum),
    words: id => get(id, b => { const w = new TextDecoder().decode(b).split("\n"); w.pop(); return w; }),
  };
})();

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
    f.slices.forEach((s, k) => {
      s.finding = i;
      s.rank = k + 1;
      s.member = all.subarray(from, from += s.size);
      s.worst = worst(s.member, p);
      s.place = f.place;
    });
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
             rate: member.length ? wrong / member.length : null, confidence: mean, share: p.wrong ? wrong / p.wrong : null };
  }

  async function loadIds() { if (what.ids !== undefined) ids = await Block.words(what.ids); }

  const model = k => what.models[what.places[k].model];
  const several = list => new Set(list).size > 1;

  function placeName(k) {
    const p = what.places[k];
    if (isRun) return `EC ${p.ec}`;
    return p.class < 0 ? "all classes" : what.classes[p.class];
  }

  const manyModels = what.models.length > 1;
  const manySeeds = several(what.findings.map(f => f.seed));
  const manyPlaces = several(what.places.map((p, k) => placeName(k)));

  function findingName(f) {
    const part = [f.method];
    if (manySeeds) part.push(`seed ${f.seed}`);
    if (manyPlaces) part.unshift(placeName(f.place));
    if (manyModels) part.unshift(model(f.place).name);
    return part.join(" · ");
  }

  // What is known of a row of a place, for eyes.
  function row(k, i) {
    const p = what.places[k], m = model(k), r = p.row[i];
    const word = v => v === undefined ? null : what.classes[v];
    return { id: ids ? ids[r] : String(r), row: r, confidence: p.at[i] / 255, wrong: !!p.isBad[i],
             target: p.class >= 0 && !isRun ? what.classes[p.class] : m.targets ? word(m.targets[r]) : null,
             predicted: m.predictions ? word(m.predictions[r]) : null };
  }

  async function loadRows() {
    await loadIds();
    for (const m of what.models) {
      if (m.target !== undefined) m.targets = await Block.u16(m.target);
      if (m.predicted !== undefined) m.predictions = await Block.u16(m.predicted);
    }
  }

  return { place, map, finding, slice, loadRows, row, model, placeName, findingName, manyModels, manySeeds, manyPlaces };
})();

// ---- pictures: tiles of sheets ----

const Picture = (() => {
  const pictures = what.pictures || null, sheets = new Map();
  let tile = null, shape = null;

  async function load() {
    if (pictures) [tile, shape] = await Promise.all([Block.i32(pictures.tile), Block.u8(pictures.shape)]);
  }

  function sheet(k) {
    if (!sheets.has(k)) {
      const image = new Image(), element = document.getElementById("s" + k);
      image.src = "data:image/jpeg;base64," + element.textContent;
      sheets.set(k, image.decode().then(() => image));
    }
    return sheets.get(k);
  }

  const has = row => !!tile && tile[row] >= 0;
  const sideOf = row => pictures.sheets[tile[row] >> 6];

  // An element that shows the picture of a row, `size` CSS pixels at most, or says by its name that there is none.
  function show(row, name, size) {
    if (!has(row)) {
      const box = h("span", { class: "nopic", style: `width:${size}px;height:${size}px`, title: name },
                    h("bdi", {}, name.replace(/^.*[/\\](?=.)/, "")));
      if (tile && tile[row] === -2) box.prepend(h("b", {}, "unreadable"));
      return box;
    }
    const side = sideOf(row), w = shape[2 * row], hgt = shape[2 * row + 1], scale = size / Math.max(w, hgt);
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const canvas = h("canvas", { class: "pic", role: "img", "aria-label": name, title: name,
                                 style: `width:${Math.round(w * scale)}px;height:${Math.round(hgt * scale)}px` });
    canvas.width = Math.round(w * scale * ratio);
    canvas.height = Math.round(hgt * scale * ratio);
    sheet(tile[row] >> 6).then(image => {
      const at = tile[row] & 63, cx = canvas.getContext("2d");
      cx.imageSmoothingQuality = "high";
      cx.drawImage(image, at % 8 * side, (at >> 3) * side, w, hgt, 0, 0, canvas.width, canvas.height);
    });
    return canvas;
  }

  return { load, has, show, any: !!pictures && pictures.given > 0, there: !!pictures };
})();

// ---- small things ----

// An element; what comes from the data only ever gets in as text.
function h(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes)) {
    if (v === null || v === undefined || v === false) continue;
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else e.setAttribute(k, v === true ? "" : v);
  }
  e.append(...children.filter(c => c !== null && c !== undefined && c !== false));
  return e;
}

const count = n => n.toLocaleString("en");
const plural = (n, one, many = one + "s") => `${count(n)} ${n === 1 ? one : many}`;

function percent(v, digits) {
  if (v === null || v === undefined || Number.isNaN(v)) return "–";
  const p = 100 * v;
  return `${p.toFixed(digits ?? (p > 0 && p < 9.95 && Math.abs(p - Math.round(p)) > 0.049 ? 1 : 0))} %`;
}

const say = text => { document.getElementById("say").textContent = text; };
