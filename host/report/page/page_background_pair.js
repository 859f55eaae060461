// page_background_pair.js - pictures: objects whose answer a background turns, and the backgrounds and keywords that turn most.

const className = k => k < 0 ? "none of the classes" : classes[k].replaceAll("_", " ");

function picture(row, title, size) {
  return h("figure", { class: "blend", style: `width:${size}px` }, Picture.show(row, what.names[row], size),
    h("figcaption", {}, ...title));
}

function pairRow(v) {
  const sure = v => known(v) ? `confidence ${v.toFixed(2)}` : "";
  const note = [known(v.distance) ? `distance ${v.distance.toFixed(2)}` : null, v.word ? `for “${v.word}”` : null,
    v.unreal ? "below realness" : null].filter(Boolean).join(", ");
  return h("li", {}, h("div", { class: "turn" },
    picture(v.rows[0], [h("b", { class: "right" }, className(v.truth)), h("br"), sure(v.before)], 112),
    picture(v.rows[1], ["background", h("br"), note], 112),
    picture(v.rows[2], [h("b", { class: "wrong" }, className(v.answer)), h("br"), study.settings.confidence === "true" ? `of the true class ${
      v.after.toFixed(2)}` : sure(v.after)], 112)));
}

function tallyRow(v) {
  return picture(v.row, [`turns ${count(v.turned)}`, h("br"), `of ${count(v.used)}`], 84);
}

function column(k) {
  const m = models[shown[k]].page, turned = models[shown[k]][TURNED].value, box = h("div", {}, headOf(k));
  if (!m.pairs) {
    box.append(h("p", { class: "empty" }, "Pictures are in this page for the models with the largest turned share only; " +
      "background.json names the pairs of every model."));
    return box;
  }
  if (!m.pairs.length) {
    box.append(h("p", { class: "empty" }, known(turned) ? "No background of the suite turns an object that the model " +
      "recognises."
      : "The model recognises no object in the original pictures."));
    return box;
  }
  box.append(h("ol", { class: "turns" }, ...m.pairs.map(pairRow)));
  if (m.backs.length) box.append(h("h3", {}, "Backgrounds that turn most objects"), h("div", { class: "thumbs" },
    ...m.backs.map(tallyRow)));
  if (m.words && m.words.length) box.append(h("h3", {}, "Keywords whose backgrounds turn most"), h("p", { class: "hint" },
    m.words.map(v => `${v.name} (${percent(v.turned / v.used, 0)} of ${count(v.used)} blends)`).join(", ")));
  return box;
}

function drawPairs() {
  const p = what.pictures, left = p ? p.there - p.given : 0;
  $("pair-hint").textContent = "Each line: the object as it is, the background, and the blend as the model saw it, with the " +
    "answers. One blend of each object, the " + (study.settings.confidence === "true" ? "least confident in the true class"
      : "most confident wrong answer") +
    " first. Blends are made again from the files as they are now." + (left
      ? ` ${count(left)} of ${count(p.there)} pictures are ` +
    `missing here: ${p.unreadable ? `${count(p.unreadable)} could not be made` : "they do not fit into the page"}.` : "");
  $("pairs").replaceChildren(...shown.map((m, k) => column(k)));
}
