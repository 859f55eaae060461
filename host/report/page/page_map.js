// page_map.js - the map: points on one canvas, written pixel by pixel (100,000 of them in some milliseconds), and on another
// above it what moves: numbers of slices, a lasso, the point under the pointer.
//
// Colour is confidence: vermilion 0, grey 0.5, blue 1, which the colour-blind tell apart; what the model gets wrong is also a
// cross, and lies on top.

const PointMap = (() => {
  const stage = document.getElementById("stage"), points = document.getElementById("points"),
        over = document.getElementById("over"), tip = document.getElementById("tip");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const day = { ground: [255, 255, 255], ink: [20, 22, 26], low: [213, 94, 0], middle: [189, 189, 189], high: [0, 114, 178] };
  const night = { ground: [16, 18, 22], ink: [240, 241, 243], low: [255, 138, 61], middle: [112, 117, 126],
                  high: [86, 180, 233] };
  let printing = false, width = 0, height = 0, ratio = 1, image = null, pixels = null;
  let place = null, placeIndex = -1, map = null, n = 0, order = null, tree = null, treeOf = null;
  let lit = [], badges = [], truth = null, hover = -1, lasso = null, lassoMode = false;
  let onPick = () => {}, onLasso = () => {}, onHover = () => {};
  const view = { k: 1, x: 0, y: 0 };
  const times = { full: [], fast: [], open: 0 };

  const palette = () => dark.matches && !printing ? night : day;
  const mix = (a, b, t) => a.map((v, i) => Math.round(v + (b[i] - v) * t));
  const pack = c => (255 << 24 | c[2] << 16 | c[1] << 8 | c[0]) >>> 0;

  function colours(p) {
    const out = [];
    for (let i = 0; i < 256; i++)
      out.push(i < 128 ? mix(p.low, p.middle, i / 127.5) : mix(p.middle, p.high, i / 127.5 - 1));
    return out;
  }

  // ---- where a point is ----

  // CSS pixels of a map's unit, at zoom 1: all of it is to be seen.
  const unit = () => Math.min((width - 36) / Math.max(map.wide, 1), (height - 36) / Math.max(map.high, 1));
  const toX = i => view.x + view.k * (width / 2 + unit() * map.v[i]);
  const toY = i => view.y + view.k * (height / 2 - unit() * map.v[n + i]);
  const fromX = x => ((x - view.x) / view.k - width / 2) / unit();
  const fromY = y => (height / 2 - (y - view.y) / view.k) / unit();

  // ---- marks ----

  const flat = mark => {
    const out = new Int32Array(mark.length * 2);
    mark.forEach(([x, y, a], i) => { out[2 * i] = y * points.width + x; out[2 * i + 1] = a; });
    out.reach = Math.max(...mark.map(([x, y]) => Math.max(Math.abs(x), Math.abs(y))));
    return out;
  };

  // Blends a mark into the pixels at (x, y), whole or, at the edge, not at all.
  function stamp(mark, x, y, c, strength) {
    const w = points.width, r = mark.reach;
    if (x < r || y < r || x >= w - r || y >= points.height - r) return;
    const at = y * w + x, red = c[0], green = c[1], blue = c[2];
    for (let i = 0; i < mark.length; i += 2) {
      const a = mark[i + 1] * strength >> 8, p = at + mark[i];
      if (a >= 256) { pixels[p] = 0xff000000 | blue << 16 | green << 8 | red; continue; }
      const q = pixels[p], b = 256 - a;
      pixels[p] = 0xff000000 | ((q >> 16 & 255) * b + blue * a >> 8) << 16 | ((q >> 8 & 255) * b + green * a >> 8) << 8 |
                  (q & 255) * b + red * a >> 8;
    }
  }

  function radius() {
    const room = Math.sqrt(width * height / Math.max(n, 1));
    return ratio * Math.min(7, Math.max(1, Math.min(3.2, 0.2 * room)) * Math.pow(view.k, 0.4));
  }

  // ---- drawing ----

  // Points in their order (right ones, then wrong ones), those outside of the lit slices faint, the lit on top. Fast: plain
  // squares, for while the map moves.
  function draw(fast) {
    if (!map || !width) return;
    const since = performance.now(), p = palette(), colour = colours(p), r = radius(), small = Math.max(1, Math.round(r * 0.8));
    const many = fast && n > 20000;
    const good = flat(Mark.disc(many ? Math.min(1, small) : r));
    const bad = flat(Mark.cross(Math.max(r + 0.6, 2), many ? 1 : Math.max(1, r * 0.55)));
    const w = points.width, H = points.height, ux = unit() * view.k * ratio;
    const ox = ratio * (view.x + view.k * width / 2), oy = ratio * (view.y + view.k * height / 2), v = map.v;
    const faint = lit.length ? 46 : 220;
    pixels.fill(pack(p.ground));
    const one = (i, strength) => {
      const x = ox + ux * v[i] | 0, y = oy - ux * v[n + i] | 0;
      if (x < 0 || y < 0 || x >= w || y >= H) return;
      const c = colour[place.at[i]];
      if (place.isBad[i]) stamp(bad, x, y, c, lit.length ? strength : 256);
      else stamp(good, x, y, c, strength);
    };
    for (let j = 0; j < n; j++) one(order[j], faint);
    const R = r + 0.8 * ratio, ring = flat(Mark.disc(R + 1.5 * ratio)), square = flat(Mark.box(Math.round(R + 2 * ratio))),
          big = flat(Mark.disc(R)), bigBad = flat(Mark.cross(R * 0.75, Math.max(1.3, r * 0.5)));
    const each = (s, f) => {
      for (let j = s.worst.length - 1; j >= 0; j--) {            // the worst on top
        const i = s.worst[j], x = ox + ux * v[i] | 0, y = oy - ux * v[n + i] | 0;
        if (x >= 0 && y >= 0 && x < w && y < H) f(i, x, y);
      }
    };
    lit.forEach((s, k) => {
      each(s, (i, x, y) => stamp(k ? square : ring, x, y, p.ink, 256));
      each(s, (i, x, y) => stamp(big, x, y, place.isBad[i] ? p.ground : colour[place.at[i]], 256));
      each(s, (i, x, y) => { if (place.isBad[i]) stamp(bigBad, x, y, colour[place.at[i]], 256); });
    });
    points.getContext("2d").putImageData(image, 0, 0);
    if (truth) drawTruth(r);
    drawOver();
    times[fast ? "fast" : "full"].push(performance.now() - since);
  }

  // The members of true blindspots (ECs only): a ring, triangle, square, ... a blindspot, as in the pictures of a run.
  function drawTruth(r) {
    const cx = points.getContext("2d"), corners = [0, 3, 4, 4, 3, 6, 5, 8], turn = [0, -0.25, 0.125, 0, 0.25, 0, -0.25, 0];
    cx.strokeStyle = `rgb(${palette().ink})`;
    cx.lineWidth = 1.1 * ratio;
    truth.forEach((t, m) => {
      cx.beginPath();
      for (const i of t.member) {
        const x = ratio * toX(i), y = ratio * toY(i), R = (r + 2.6 * ratio) * (corners[m % 8] ? 1.25 : 1);
        if (!corners[m % 8]) { cx.moveTo(x + R, y); cx.arc(x, y, R, 0, 2 * Math.PI); continue; }
        for (let k = 0; k <= corners[m % 8]; k++) {
          const a = 2 * Math.PI * (k / corners[m % 8] + turn[m % 8]);
          if (k) cx.lineTo(x + R * Math.cos(a), y + R * Math.sin(a));
          else cx.moveTo(x + R * Math.cos(a), y + R * Math.sin(a));
        }
      }
      cx.stroke();
    });
  }

  // On paper both are one canvas, since the upper one would hide the other.
  function drawOver() {
    const cx = (printing ? points : over).getContext("2d"), p = palette(), ink = `rgb(${p.ink})`, ground = `rgb(${p.ground})`;
    cx.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (!printing) cx.clearRect(0, 0, width, height);
    cx.font = "600 12px system-ui, sans-serif";
    cx.textAlign = "center";
    cx.textBaseline = "middle";
    for (const b of badges) {
      const x = toX(b.middle), y = toY(b.middle), on = lit.includes(b.slice), w = cx.measureText(b.text).width + 10;
      if (lit.length && !on) continue;
      cx.beginPath();
      cx.roundRect(x - w / 2, y - 9, w, 18, 9);
      cx.fillStyle = on ? ink : ground;
      cx.globalAlpha = 0.92;
      cx.fill();
      cx.globalAlpha = 1;
      cx.strokeStyle = ink;
      cx.lineWidth = 1;
      cx.stroke();
      cx.fillStyle = on ? ground : ink;
      cx.fillText(b.text, x, y + 0.5);
    }
    if (hover >= 0) {
      cx.beginPath();
      cx.arc(toX(hover), toY(hover), radius() / ratio + 5, 0, 2 * Math.PI);
      cx.strokeStyle = ink;
      cx.lineWidth = 2;
      cx.stroke();
    }
    if (lasso) {
      cx.beginPath();
      lasso.forEach(([x, y], i) => i ? cx.lineTo(x, y) : cx.moveTo(x, y));
      cx.closePath();
      cx.fillStyle = dark.matches ? "rgba(125,183,255,.16)" : "rgba(11,92,173,.12)";
      cx.fill();
      cx.setLineDash([5, 4]);
      cx.strokeStyle = ink;
      cx.lineWidth = 1.5;
      cx.stroke();
      cx.setLineDash([]);
    }
    cx.setTransform(1, 0, 0, 1, 0, 0);
  }

  let frame = 0, settle = 0;
  function redraw(fast) {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => draw(fast));
    clearTimeout(settle);
    if (fast) settle = setTimeout(() => redraw(false), 140);
  }

  function resize() {
    const r = stage.getBoundingClientRect();
    if (!r.width || !r.height) return;
    width = r.width;
    height = r.height;
    ratio = Math.min(2, window.devicePixelRatio || 1);
    for (const c of [points, over]) {
      c.width = Math.round(width * ratio);
      c.height = Math.round(height * ratio);
    }
    image = points.getContext("2d").createImageData(points.width, points.height);
    pixels = new Int32Array(image.data.buffer);
    zoom.size([width, height]);
    draw(false);
  }

  // ---- what is under the pointer ----

  function plant() {
    if (treeOf === map || !map) return;
    const v = map.v, count = n;
    tree = d3.geom.quadtree().x(i => v[i - 1]).y(i => v[count + i - 1])          // D3 3 does not find what is falsy, as 0
      .extent([[-32768, -32768], [32768, 32768]])(d3.range(1, count + 1));
    treeOf = map;
  }

  function nearest(x, y) {
    if (treeOf !== map) return -1;
    const i = (tree.find([fromX(x), fromY(y)]) || 0) - 1;
    return i >= 0 && Math.hypot(toX(i) - x, toY(i) - y) < 14 ? i : -1;
  }

  function showTip(i, x, y) {
    hover = i;
    drawOver();
    tip.hidden = i < 0;
    over.style.cursor = lassoMode ? "crosshair" : i >= 0 ? "pointer" : "grab";
    if (i < 0) return;
    tip.replaceChildren(onHover(placeIndex, i));
    const w = tip.offsetWidth, hgt = tip.offsetHeight;
    tip.style.left = `${Math.max(4, Math.min(width - w - 4, x + (x > width / 2 ? -w - 14 : 14)))}px`;
    tip.style.top = `${Math.max(4, Math.min(height - hgt - 4, y + 14))}px`;
  }

  // ---- zoom and pan ----

  const zoom = d3.behavior.zoom().scaleExtent([0.5, 300]).on("zoom", () => {
    [view.x, view.y] = zoom.translate();
    view.k = zoom.scale();
    showTip(-1);
    redraw(true);
  });

  function set(k, x, y) {
    zoom.scale(k).translate([x, y]);
    [view.k, view.x, view.y] = [zoom.scale(), x, y];
    showTip(-1);
    redraw(true);
  }

  function zoomBy(f) {
    const k = Math.min(300, Math.max(0.5, view.k * f)), g = k / view.k;
    set(k, width / 2 - g * (width / 2 - view.x), height / 2 - g * (height / 2 - view.y));
  }

  const reset = () => set(1, 0, 0);

  // ---- lasso ----

  function inside(polygon, x, y) {
    let odd = false;
    for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
      const [xi, yi] = polygon[i], [xj, yj] = polygon[j];
      if (yi > y !== yj > y && x < (xj - xi) * (y - yi) / (yj - yi) + xi) odd = !odd;
    }
    return odd;
  }

  function within(polygon) {
    const xs = polygon.map(p => p[0]), ys = polygon.map(p => p[1]), out = [];
    const x0 = Math.min(...xs), x1 = Math.max(...xs), y0 = Math.min(...ys), y1 = Math.max(...ys);
    for (let i = 0; i < n; i++) {
      const x = toX(i), y = toY(i);
      if (x >= x0 && x <= x1 && y >= y0 && y <= y1 && inside(polygon, x, y)) out.push(i);
    }
    return Int32Array.from(out);
  }

  const inView = () => within([[0, 0], [width, 0], [width, height], [0, height]]);

  function setLassoMode(on) {
    lassoMode = on;
    over.style.cursor = on ? "crosshair" : "grab";
    document.getElementById("lasso")?.setAttribute("aria-pressed", String(on));
  }

  function at(e) {
    const r = over.getBoundingClientRect();
    return [e.clientX - r.left, e.clientY - r.top];
  }

  // The lasso takes the pointer before zooming gets it: in lasso mode, or with the shift key down.
  function listen() {
    const wants = e => lassoMode || e.shiftKey;
    over.addEventListener("pointerdown", e => {
      if (!wants(e) || e.button) return;
      lasso = [at(e)];
      over.setPointerCapture(e.pointerId);
      showTip(-1);
    }, true);
    for (const kind of ["mousedown", "touchstart"])
      over.addEventListener(kind, e => { if (wants(e)) { e.stopImmediatePropagation(); e.preventDefault(); } }, true);
    over.addEventListener("pointermove", e => {
      const [x, y] = at(e);
      if (lasso) {
        const last = lasso[lasso.length - 1];
        if (Math.hypot(x - last[0], y - last[1]) > 2) lasso.push([x, y]);
        drawOver();
      } else if (!e.buttons) showTip(nearest(x, y), x, y);
    });
    over.addEventListener("pointerup", () => {
      if (!lasso) return;
      const polygon = lasso;
      lasso = null;
      drawOver();
      if (polygon.length > 2 && Math.abs(d3.geom.polygon(polygon).area()) > 30) {
        setLassoMode(false);
        onLasso(within(polygon));
      }
    });
    over.addEventListener("pointercancel", () => { lasso = null; drawOver(); });
    over.addEventListener("pointerleave", () => showTip(-1));
    d3.select(over).call(zoom).on("dblclick.zoom", null).on("click", () => {
      if (d3.event.defaultPrevented || lassoMode || d3.event.shiftKey) return;
      const [x, y] = at(d3.event), badge = badges.find(b => Math.hypot(toX(b.middle) - x, toY(b.middle) - y) < 11 &&
                                                            (!lit.length || lit.includes(b.slice)));
      onPick(badge ? badge.slice : null, badge ? -1 : nearest(x, y));
    });
    over.addEventListener("keydown", key);
    new ResizeObserver(resize).observe(stage);
    dark.addEventListener("change", () => draw(false));
    window.addEventListener("beforeprint", () => { printing = true; draw(false); });
    window.addEventListener("afterprint", () => { printing = false; draw(false); });
  }

  function key(e) {
    const step = 60, move = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] }[e.key];
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (move) set(view.k, view.x + move[0], view.y + move[1]);
    else if (e.key === "+" || e.key === "=") zoomBy(1.4);
    else if (e.key === "-") zoomBy(1 / 1.4);
    else if (e.key === "0") reset();
    else if (e.key === "l" || e.key === "L") setLassoMode(!lassoMode);
    else if (e.key === "v" || e.key === "V") onLasso(inView());
    else return;
    e.preventDefault();
  }

  // ---- what is shown ----

  // The member that lies nearest to the middle (the median of each axis) of a slice's members.
  function middle(member) {
    const axis = k => Array.from(member, i => map.v[k * n + i]).sort((a, b) => a - b)[member.length >> 1];
    const x = axis(0), y = axis(1);
    let best = member[0], least = Infinity;
    for (const i of member) {
      const d = Math.hypot(map.v[i] - x, map.v[n + i] - y);
      if (d < least) [least, best] = [d, i];
    }
    return best;
  }

  async function show(k, m, slices) {
    const other = placeIndex !== k || map !== what.maps[m];
    place = await Data.place(k);
    placeIndex = k;
    map = m < 0 ? { v: new Int16Array(2 * place.n), wide: 1, high: 1 } : await Data.map(m);
    n = place.n;
    const good = [], bad = [];
    for (let i = 0; i < n; i++) (place.isBad[i] ? bad : good).push(i);
    order = Int32Array.from(good.concat(bad));
    badges = m < 0 ? [] : slices.filter(s => s.size).map(s => ({ slice: s, text: String(s.number ?? s.rank), middle: middle(s.member) }));
    if (other) { lit = []; hover = -1; set(1, 0, 0); }
    setTimeout(plant, 30);
    draw(false);
  }

  // Shows the map where it is folded; done once it has its size.
  async function unfold() {
    const fold = document.getElementById("map");
    if (fold.open && width) return;
    fold.open = true;
    await new Promise(done => requestAnimationFrame(done));
    resize();
  }

  function light(slices) {
    lit = slices;
    redraw(false);
  }

  // So near that the slice fills the map.
  function zoomTo(slice) {
    let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
    for (const i of slice.member) {
      x0 = Math.min(x0, map.v[i]); x1 = Math.max(x1, map.v[i]);
      y0 = Math.min(y0, map.v[n + i]); y1 = Math.max(y1, map.v[n + i]);
    }
    const u = unit(), k = Math.min(60, 0.8 * Math.min(width / Math.max(u * (x1 - x0), 1), height / Math.max(u * (y1 - y0), 1)));
    set(k, width / 2 - k * (width / 2 + u * (x0 + x1) / 2), height / 2 - k * (height / 2 - u * (y0 + y1) / 2));
  }

  return {
    listen, show, unfold, light, zoomBy, zoomTo, reset, setLassoMode, inView, times, view, plant,
    mark: t => { truth = t; redraw(false); },
    place: () => placeIndex,
    lassoMode: () => lassoMode,
    where: i => [toX(i), toY(i)],
    onPick: f => { onPick = f; }, onLasso: f => { onLasso = f; }, onHover: f => { onHover = f; },
    redrawNow: fast => { const t = performance.now(); draw(fast); return performance.now() - t; },
  };
})();
