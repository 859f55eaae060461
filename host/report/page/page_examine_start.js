// page_examine_start.js - how to read the page of an examination, and its start.

function help() {
  const p = t => h("p", {}, t);
  $("help").append(
    p("p is the probability that a model gives to the true class of a render. An examiner chooses the conditions of the next " +
      "renders, camera and light, by the p of those before, and looks for the " + extreme + " one. Compare examiners at equal " +
      "renders: who is ahead after 100 may be behind after 1,000."),
    p(`Robust: the mean p of ${settings.of_them_to_test_a_weakness} renders around the ${extreme} one. Where it is much ${strength ? "lower" : "higher"} ` +
      "than the value itself, the examiner has found a pin-prick and no weakness. These renders count as spent."),
    ...(strength || !settings.of_them_to_test_a_weakness ? [] : [p("An object fails where a search found a lasting failure, " +
      "whatever the others did: of all its searches the one with the lowest robust p is judged by as many fresh renders around " +
      `its point. Their mean p is below ${settings.fails}, and half of them or more are valid.`)]),
    p("Valid: a person could still name the object. It is neither too small nor cropped, nor as dark as what lies behind it, and " +
      "the camera is not inside it. The " + extreme + " p counts valid renders alone."),
    p("Maps and findings count random renders, which no search has chosen: a search looks for failures, so its renders cannot say " +
      "how often conditions fail. A rule in words is a finding only if it holds on renders that the search for rules did not see."),
    p(`Made by Spotter ${what.spotter}. The page is whole in itself: it loads nothing and sends nothing. ` +
      "All numbers are in examine.json" + (failures ? " and failures.json." : ".")));
}

async function start() {
  await load();
  facts();
  table();
  curveBar();
  curves();
  findings();
  shares();
  objectBar();
  credits();
  help();
  await Picture.load();
  objects();
  maps();
  document.documentElement.dataset.ready = "1";
}

start().catch(e => {
  $("notes").append(h("p", { class: "notes" }, `The report could not be shown: ${e.message}`));
  throw e;
});
