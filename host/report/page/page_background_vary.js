// page_background_vary.js - the settings of a run and of its variants, with means over all models.

function variants() {
  const rows = what.variants;
  $("vary-section").hidden = rows.length < 2;
  if (rows.length < 2) return;
  const number = (title, about, key, text) => ({ name: title, about, number: true, key: r => r[key],
    cell: r => h("td", { class: "number" }, text(r[key])) });
  const share = (title, about, key) => number(title, about, key, p1);
  const changes = key => rows.some(r => r[key] !== rows[0][key]);
  const columns = [
    { name: "setting", about: "in the order of the config", key: r => rows.indexOf(r),
      cell: r => h("th", { scope: "row" }, name(r.name)) },
    { name: "choice", key: r => r.choice, cell: r => h("td", {}, r.choice) },
    ...[["n", "N", "backgrounds of a target"], ["seed", "seed", "of the choice"], ["part", "part", "per cent of the targets"],
      ["levels", "levels", "of the ontology"], ["kernel", "kernel", "diameter of the window, in cells"],
      ["sigma", "sigma", "of the window, in cells"]].filter(c => changes(c[0]))
      .map(([key, title, about]) => ({ name: title, about, number: true, key: r => +r[key],
        cell: r => h("td", { class: "number" }, String(r[key])) })),
    share("suite", "mean accuracy with the backgrounds of the suite, %", "suite"),
    share("worst case", "mean share of objects right in the original and with every background, %", "steady"),
    share("turned", "mean share of known objects that some background turns, %", "turned"),
    share("coverage", "mean share of neurons that some blend activates above 0.25, %", "coverage"),
    ...(rows.some(r => known(r.forest)) ? [share("forest", "accuracy of a random forest on models it has not seen, %", "forest"),
      share("by worst case", "accuracy of two cuts of worst-case accuracy on the same models, %", "worst")] : []),
  ];
  const box = sortable(columns, rows, "Settings", 0, false);
  $("vary").append(h("p", { class: "hint" }, `Means over ${plural(models.length, "model", "models")}, per cent. The page shows ` +
    "the config’s own setting; each variant is a run of its own in the folder variants."), box);
}
