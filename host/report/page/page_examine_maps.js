// page_examine_maps.js - where models fail: findings in words, maps over the spheres of camera and lamp, mixtures.

let mapModel = 0, mapOf = "all", mapShows = "failing";

// ---- findings ----

const range = v => `${percent(v.low)} to ${percent(v.high)}`;

function finding(f) {
  const m = several ? [name(models[f.model].name), ", "] : [], whose = f.class < 0 ? "all classes" : classOf(f.class);
  const inside = f.failing_inside, outside = f.failing_outside, p = f.adjusted;
  return h("div", { class: "finding" }, h("p", { class: "words" }, f.words),
    h("p", {}, ...m, name(whose), `: ${percent(inside.value)} of ${plural(f.renders_inside, "random render")} inside ${fail} ` +
      `(${range(inside)}), ${percent(outside.value)} outside (${range(outside)})`),
    h("p", { class: "dim" }, `p ${p === null ? "–" : p < 1e-16 ? "below 1e-16" : "= " + p.toPrecision(2)} (Fisher, Holm); ` +
      `mean p of the true class ${p3(f.mean_inside)} against ${p3(f.mean_outside)}; ${percent(f.volume)} of the conditions; ` +
      `it has ${percent(f.covered)} of all ${failing}` +
      (known(f.overlap) ? `; overlap with the planted region ${percent(f.overlap)}` : "")));
}

function findings() {
  if (!failures || !failures.findings.length && !failures.maps.length) return;
  const yes = failures.findings.filter(f => f.confirmed), no = failures.findings.filter(f => !f.confirmed);
  $("finding-part").hidden = false;
  $("findings").append(h("p", { class: "hint" }, yes.length ? "Rules that were found on one half of the random renders and hold " +
    "on the other half." : "No rule in words was confirmed on renders that the search for it had not seen."),
    ...yes.slice(0, 6).map(finding));
  const more = (title, list) => list.length ? h("details", {}, h("summary", {}, title), ...list.map(finding)) : null;
  $("findings").append(...[more(`${count(yes.length - 6)} more findings`, yes.slice(6)),
    more(`${plural(no.length, "rule")} that the test did not confirm`, no)].filter(e => e));
}

// ---- the variance of p ----

// S of each factor of each model, the greatest first.
function shares() {
  if (!failures || !failures.shares.length) return;
  const rows = failures.shares, whose = s => models[s.model].name, factorOf = s => factorName(s.factor);
  $("share-part").hidden = false;
  $("shares").append(h("p", { class: "hint" }, "Share of the variance of p, on valid random renders of all objects, that each factor " +
    "explains alone (first-order Sobol index), with its 95\u00a0% interval over objects. The rest belongs to factors together."),
    sortable([
      ...(several ? [{ name: "model", key: whose, cell: s => h("td", {}, name(whose(s))) }] : []),
      { name: "factor", key: factorOf, cell: s => h("th", { scope: "row" }, factorOf(s)) },
      { name: "share", number: true, key: s => s.share.value, cell: s => h("td", { class: "number whole" }, percent(s.share.value),
        known(s.share.low) ? h("small", {}, ` ${range(s.share)}`) : null) },
    ], rows, "What p depends on", several ? 2 : 1, true));
}

// ---- maps ----

const sine = degrees => Math.sin(degrees * Math.PI / 180);
const heat = t => `color-mix(in oklab, var(--track), var(--low) ${Math.round(100 * Math.min(1, t))}%)`;

function mapNow() {
  const own = failures.maps.filter(m => m.model === mapModel);
  if (mapOf === "all") return own.find(m => m.class < 0 && m.object < 0);
  const [kind, number] = mapOf.split(" ");
  return own.find(m => kind === "class" ? m.class === +number && m.object < 0 : m.object === +number);
}

// A cell's colour shows the share of failing renders, or how far the mean p is below 1.
const shareOf = (v, i) => !v.renders[i] ? 0 : mapShows === "failing" ? v.failing[i] / v.renders[i] : 1 - v.mean[i];

// The searched azimuths, where they lie within a turn that begins at 0.
function across(key) {
  const f = settings.factors.find(f => f.factor === `${key}_azimuth`);
  return f && f.least >= 0 && f.most <= 360 ? [f.least, f.most] : [0, 360];
}

// A sphere as an equal-area chart: azimuth across, the sine of the elevation upwards.
// top: the value of the last colour.
function sphere(map, key, title, top) {
  const v = map[key], W = 520, H = 290, box = { left: 40, right: 10, top: 6, bottom: 34 };
  const x = d3.scale.linear().domain(across(key)).range([box.left, W - box.right]);
  const y = d3.scale.linear().domain([-1, 1]).range([H - box.bottom, box.top]);
  const host = h("div", { class: "map" }, h("h3", {}, title));
  const svg = d3.select(host).append("svg").attr({ viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label":
    `${title}: ${mapShows === "failing" ? strength ? `share of ${failing}` : "share of failing renders" : "mean p"} by azimuth and elevation` });
  const hatch = svg.append("defs").append("pattern").attr({ id: `nothing`, width: 6, height: 6,
    patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
  hatch.append("line").attr({ x1: 0, y1: 0, x2: 0, y2: 6, stroke: "var(--line)", "stroke-width": 2 });
  const [least, most] = x.domain();
  failures.cells.forEach(([south, north, from, to], i) => {
    if (from >= most || to <= least) return;
    const n = v.renders[i];
    const words = n ? `azimuth ${Math.round(from)}° to ${Math.round(to)}°, elevation ${Math.round(south)}° to ` +
      `${Math.round(north)}°: ${v.failing[i]} of ${plural(n, "render")} ${fail}, mean p ${v.mean[i].toFixed(2)}`
      : "no render";
    svg.append("rect").attr({ class: n ? "cellmark" : "cellmark none", x: x(Math.max(from, least)), width: x(Math.min(to, most)) - x(Math.max(from, least)), y: y(sine(north)),
      height: y(sine(south)) - y(sine(north)) }).style(n ? { fill: heat(shareOf(v, i) / top) } : {}).append("title").text(words);
  });
  for (const e of [-90, -60, -30, 0, 30, 60, 90])
    svg.append("text").attr({ x: box.left - 6, y: y(sine(e)) + 4, "text-anchor": "end" }).text(`${e}°`.replace("-", "−"));
  for (const a of [0, 45, 90, 135, 180, 225, 270, 315, 360])
    if (a >= least && a <= most && (a % 90 === 0 || most - least <= 180))
      svg.append("text").attr({ x: x(a), y: H - box.bottom + 15, "text-anchor": a === most ? "end" : "middle" }).text(`${a}°`);
  svg.append("text").attr({ x: (box.left + W) / 2, y: H - 4, "text-anchor": "middle" }).text("azimuth; elevation upwards");
  return host;
}

function drawMaps() {
  const m = mapNow(), parts = [];
  if (!m) return $("maps").replaceChildren(h("p", { class: "hint" }, "There is no map."));
  const keys = [["camera", "Place of the camera"], ["lamp", "Place of the lamp"]].filter(([k]) => m[k] !== undefined);
  let most = 0;
  for (const [key] of keys) most = Math.max(most, ...m[key].renders.map((_, i) => shareOf(m[key], i)));
  const top = Math.min(1, Math.max(0.1, Math.ceil(10 * most) / 10));
  for (const [key, title] of keys) parts.push(sphere(m, key, title, top));
  $("maps").replaceChildren(...parts, h("div", {}, h("p", { class: "hint" }, `${percent(m.failing_share.value)} of ` +
    `${plural(m.renders, "random render")} ${fail} (${range(m.failing_share)}); mean p ${p3(m.mean)}.` +
    (parts.length ? " Cells have equal areas; hatched ones have no render." : " Neither camera nor lamp moves on a sphere here.")),
    parts.length ? h("div", { class: "ramp-line" }, mapShows === "failing" ? `0\u00a0% ${fail}` : "mean p = 1",
      h("i", { style: `background:linear-gradient(90deg in oklab, var(--track), var(--low))` }),
      mapShows === "failing" ? whole(top) : `p = ${+(1 - top).toFixed(1)}`) : ""));
  $("maps").dataset.shown = `${mapModel} ${mapOf} ${mapShows}`;
  drawMixture();
}

function drawMixture() {
  const cls = mapOf === "all" ? -1 : mapOf.startsWith("class") ? +mapOf.split(" ")[1] : null;
  const m = failures.mixtures.find(m => m.model === mapModel && m.class === cls);
  if (!m || !m.components.length) return $("mixture").replaceChildren();
  const cell = (c, f) => h("td", { class: "number" }, +c.centre[f].toPrecision(3) + "", h("small", {}, h("br"),
    `± ${+c.spread[f].toPrecision(2)}`));
  $("mixture").replaceChildren(h("details", {}, h("summary", {}, `The ${count(m.failures)} ${failing} as ` +
    `${plural(m.components.length, "cluster")}`), h("p", { class: "hint" }, "A Gaussian mixture, its size by BIC: centre and " +
    "standard deviation of each factor."), h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Clusters" },
    h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "number" }, "share"),
      ...inSpace().map(f => h("th", { scope: "col", class: "number" }, factorName(f))))),
    h("tbody", {}, ...m.components.map(c => h("tr", {}, h("td", { class: "number" }, percent(c.weight)),
      ...inSpace().map(f => known(c.centre[f]) ? cell(c, f) : h("td", { class: "number" }, "–")))))))));
}

function mapBar() {
  const list = () => {
    const own = failures.maps.filter(m => m.model === mapModel);
    return h("select", { onchange: e => { mapOf = e.target.value; drawMaps(); } }, h("option", { value: "all" }, "all objects"),
      ...own.filter(m => m.class >= 0 && m.object < 0).map(m => h("option", { value: `class ${m.class}` }, classOf(m.class))),
      ...own.filter(m => m.object >= 0).map(m => h("option", { value: `object ${m.object}` },
        `object: ${objectAt(mapModel, m.object).title || objectAt(mapModel, m.object).object}`)));
  };
  const whose = h("label", {}, "of", list());
  if (several) $("map-bar").append(h("label", {}, "model", h("select", { onchange: e => {
    mapModel = +e.target.value, mapOf = "all";
    whose.replaceChildren("of", list());
    drawMaps();
  } }, ...models.map((m, i) => h("option", { value: i }, m.name)))));
  $("map-bar").append(whose, h("label", {}, "shows", h("select", { onchange: e => { mapShows = e.target.value; drawMaps(); } },
    h("option", { value: "failing" }, strength ? `share of ${failing}` : "share of failing renders"), h("option", { value: "mean" }, "mean p"))));
}

function maps() {
  if (!failures || !failures.maps.length) return;
  if (strength) $("map-title").textContent = "Maps of the best conditions";
  $("map-part").hidden = false;
  mapBar();
  drawMaps();
}
