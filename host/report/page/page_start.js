// page_start.js - the page begins: numbers and the first map, then pictures and the rest.

function writeHelp() {
  const box = document.getElementById("help"), p = (...t) => h("p", {}, ...t), key = k => h("kbd", {}, k);
  box.append(
    p("A blindspot is a group of rows that are alike to the model and on which it fails more often than elsewhere. ",
      isRun ? "Hypotheses are what a method takes for blindspots; the true ones were planted."
        : "A slice is such a group as a method found it; it may be chance. Numbers are of all rows, also where pictures are " +
          "missing here."),
    isRun ? null : p(...claimHelp()),
    p((isRun ? "" : "The map is folded where it is of principal components, which seldom show a cause. ") + "On the map rows " +
      "that lie close to each other look alike to the model. Colour is the model’s confidence in the true class; a cross is a wrong row. Drag to move, turn the wheel to zoom, point at a row to see it, click on one to select " +
      "its slice. A map of t-SNE or UMAP keeps neighbours; how far apart two groups lie, and how large they are, means " +
      "little. " + (what.findings.some(f => f.merged) ? "Slices with a proof were found on two parts of the rows, each with a map " +
      "of its own; these do not fit together, so the page shows the principal components of all rows of a class." : "")),
    p("Draw with the lasso (or with the shift key down) around points to make a slice of your own: it gets size, error rate " +
      "and pictures like the others, can be compared with them, and its ids saved as CSV or JSON."),
    p(key("↑"), " ", key("↓"), " go through the slices, ", key("Esc"), " puts the selection back. With the map in ",
      "focus: arrows move it, ", key("+"), " ", key("−"), " zoom, ", key("0"), " shows all, ", key("L"), " lasso, ", key("V"),
      " takes what is in view."),
    p(`Made by Spotter ${what.spotter}. The page is whole in itself: it loads nothing and sends nothing.`));
}

// How slices are tested and ordered.
function claimHelp() {
  if (!Claim.tested)
    return ["These slices were not tested. A method looks at the errors to find them, so that they have more errors than " +
            "elsewhere also where there is nothing to find. Worst first: most wrong rows beyond those that the rate of the " +
            "class gives."];
  return ["Slices were found on one part of the rows and judged on the other. ", h("b", {}, "Confirmed"), ": so many of the " +
          "judged rows are wrong that chance gives it in few such reports, all tests counted. ", h("b", {}, "Suggested"),
          ": not that, but better than the best of searches in errors without structure. ", h("b", {}, "May be chance"),
          ": neither. Only confirmed slices are called blindspots, and come first; of each kind those with most wrong rows " +
          "beyond the rate of their class. Confirmed slices stand together as one cause where the same attributes say them, " +
          "where they share rows, or where most of their wrong rows are taken for one class and they are nearer to each other " +
          "than to what the model gets right. That is for reading and no test; each keeps its own claim."];
}

async function start() {
  const since = performance.now();
  if (!window.DecompressionStream) {
    document.getElementById("notes").append(h("p", { class: "notes" },
      "This browser is too old for the report: it needs one of 2023 or later."));
    return;
  }
  await Data.loadLists();
  Claim.begin();
  Head.draw();
  Run.draw();
  Models.draw();
  document.getElementById("map").open = isRun || what.maps.some(m => m.of !== null && m.columns === 2);
  writeHelp();
  List.filters();
  List.tools();
  List.listen();
  PointMap.listen();
  await Promise.all([Data.loadRows(), Picture.load(), Rule.load()]);
  const linked = !!Claim.at(location.hash.slice(1));
  await List.refresh(!linked);
  if (linked) await List.follow();
  PointMap.times.open = performance.now() - since;
  document.documentElement.dataset.ready = "1";
}

start().catch(e => {
  document.getElementById("notes").append(h("p", { class: "notes" }, `The report could not be shown: ${e.message}`));
  throw e;
});
