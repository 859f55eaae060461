// page_gather.js - the page of a claim: gathered pictures beside controls, wrong ones first. Its page is gather.html.

const $ = id => document.getElementById(id);
const digits = p => p < 1e-4 ? p.toExponential(1) : p.toPrecision(2);
const titles = ["Gathered: as the claim says", "Controls: other pictures"];

function tile([row, wrong, predicted, similarity]) {
  const size = innerWidth < 560 ? 72 : 96, name = what.names[row];
  const state = wrong < 0 ? "not judged" : wrong ? "wrong" : "right";
  const near = similarity === null ? "" : `, similarity ${similarity.toFixed(3)}`;
  const label = `${name}: ${state}${predicted === null ? "" : `, predicted ${predicted}`}${near}`;
  return h("li", { class: wrong < 0 ? "open" : wrong ? "wrong" : "right", title: label },
    Picture.show(row, name, size, label),
    h("div", {}, wrong > 0 ? h("b", {}, "wrong") : state, wrong > 0 && predicted !== null ? h("bdi", {}, `, says ${predicted}`) : null));
}

function group(g, i) {
  const { value: rate, low, high } = g.rate, fill = v => `${100 * v}%`;
  const sorted = [...g.pictures].sort((a, b) => b[1] - a[1]);
  const bar = g.n ? h("span", { class: "bar-rate", role: "img", "aria-label": `${percent(rate)} wrong` },
    h("span", { class: "fill", style: `width:${fill(rate)}` }),
    h("span", { class: "interval", style: `left:${fill(low)};width:${fill(high - low)}` })) : null;
  return h("section", { "aria-label": titles[i] }, h("h2", {}, titles[i]),
    h("p", { class: "of" }, g.n ? h("b", {}, `${g.wrong} of ${g.n} wrong`) : "no picture is judged",
      g.n ? ` · ${percent(rate)} (95 %: ${percent(low)} to ${percent(high)})` : null),
    bar, h("ul", { class: "new-pictures" }, ...sorted.map(tile)));
}

function source() {
  const part = [];
  if (what.slice) part.push(`slice ${what.slice} of ${what.found}`);
  if (what.slice && what.rate !== null)
    part.push(`${percent(what.rate)} wrong there` + (what.class_rate === null ? "" : `, ${percent(what.class_rate)} of its class`));
  part.push(what.model === null ? "judged by hand" : `measured: ${what.model}`);
  return part.join(" · ");
}

async function start() {
  await Picture.load();
  $("claim").append("The classifier fails more often on ", h("b", {}, h("bdi", {}, `“${what.claim}”`)),
    what.class === null ? "" : h("span", {}, " of class ", h("bdi", {}, what.class)));
  $("source").textContent = source();
  $("verdict").textContent = what.verdict;
  $("verdict").classList.add(["few", "not", "confirmed"][what.outcome]);
  const [g, k] = what.groups;
  const test = what.test_groups ? `signs of the sums of ${plural(what.test_groups, "group")}` : "Fisher's exact test";
  $("why").textContent = `${g.wrong} of ${g.n} gathered pictures are wrong, ${k.wrong} of ${k.n} controls; ` +
    `p = ${digits(what.p)} (${test}, one-sided; level ${what.level})`;
  const p = what.pictures;
  if (p.given < p.there)
    $("notes").append(h("p", { class: "notes" }, `${count(p.given)} of ${count(p.there)} pictures are here` +
      (p.unreadable ? `; ${count(p.unreadable)} could not be read` : "; more do not fit into the page") + "."));
  $("groups").append(...what.groups.map(group));
  document.documentElement.dataset.ready = "1";
}

start();
