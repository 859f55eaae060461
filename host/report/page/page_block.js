// page_block.js - what every report page has: its JSON, `what`, whose numbers of blocks become arrays when somebody asks;
// pictures; elements.

const what = JSON.parse(document.getElementById("what").textContent);

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
    json: id => get(id, b => JSON.parse(new TextDecoder().decode(b))),
    words: id => get(id, b => { const w = new TextDecoder().decode(b).split("\n"); w.pop(); return w; }),
  };
})();

// ---- pictures: tiles of sheets ----

const Picture = (() => {
  const pictures = what.pictures || null, sheets = new Map();
  let tile = null, shape = null, twins = null;

  async function load() {
    if (!pictures) return;
    [tile, shape] = await Promise.all([Block.i32(pictures.tile), Block.u8(pictures.shape)]);
    if (pictures.twin !== undefined) twins = await Block.i32(pictures.twin);
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

  // The first row with the same picture.
  const twin = row => twins ? twins[row] : row;

  // An element that shows the picture of a row, `size` CSS pixels at most, or says by its name that there is none. label: for
  // screen readers, in place of the name.
  function show(row, name, size, label = name) {
    if (!has(row)) {
      const box = h("span", { class: "nopic", style: `width:${size}px;height:${size}px`, title: label, role: "img",
                              "aria-label": `${label}, no picture` }, h("bdi", {}, name.replace(/^.*[/\\](?=.)/, "")));
      if (tile && tile[row] === -2) box.prepend(h("b", {}, size < 60 ? "✕" : "unreadable"));
      return box;
    }
    const side = sideOf(row), w = shape[2 * row], hgt = shape[2 * row + 1], scale = size / Math.max(w, hgt);
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const canvas = h("canvas", { class: "pic", role: "img", "aria-label": label, title: label,
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

  return { load, has, show, twin, any: !!pictures && pictures.given > 0, there: !!pictures };
})();

// ---- small things ----

// An element; what comes from the data only ever gets in as text. The page's policy allows no attribute `style`.
function h(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes)) {
    if (v === null || v === undefined || v === false) continue;
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else if (k === "style") e.style.cssText = v;
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
