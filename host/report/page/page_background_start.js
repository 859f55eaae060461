// page_background_start.js - how to read the page of backgrounds, and its start.

function help() {
  const p = t => h("p", {}, t);
  $("help").append(
    p("An object is cut out by its mask and put before other backgrounds. Turned: the model is right on the original picture " +
      "and wrong with one background or more. Worst case: right on the original and with every background. BG-gap: accuracy " +
      "with backgrounds of the object’s own class less accuracy with those of any class; what is above 0 is what the model " +
      "takes from the background."),
    p("A variance matrix has the semantic distances of two blends of one object to its original on its axes; a cell’s colour " +
      "is the mean difference of the model’s response between such blends. A model that does not look at the background has " +
      "a dark matrix. Yellow away from the diagonal: near and far backgrounds make different answers. Striped cells have no " +
      "points: they show the mean of the nearest ones."),
    p("Blends have edges and lights that photographs do not have: some of what a model loses is lost to the cut, and " +
      "accuracy with a grey background, or on the object alone, says how much."),
    p(`Made by Spotter ${what.spotter}. The page is whole in itself: it loads nothing and sends nothing. ` +
      "All numbers are in background.json."));
}

async function redraw() {
  drawSets();
  drawPairs();
  drawClasses();
  await drawMatrices();
}

async function start() {
  await load();
  facts();
  table();
  choose(redraw);
  matrixBar();
  aboutVerdicts();
  suiteWords();
  variants();
  help();
  await Picture.load();
  example();
  await redraw();
  document.documentElement.dataset.ready = "1";
}

start().catch(e => {
  $("notes").append(h("p", { class: "notes" }, `The report could not be shown: ${e.message}`));
  throw e;
});
