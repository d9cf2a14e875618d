/** Puts the page together; the first curve is drawn at once, the others when there is time. */

function start() {
  startTheme();
  fillMasthead();
  const parts = [
    qualitySection,
    panelSection,
    segmentSection,
    dropSection,
    signalsSection,
    survivalSection,
    contextSection,
    costSection,
    completionSection,
    trendSection,
    missingSection,
    problemsSection,
    inputsSection,
    methodSection,
  ];
  const main = byId("main");
  const first = parts[0]();
  main.append(first);
  drawNext();
  requestAnimationFrame(() =>
    setTimeout(() => {
      performance.mark("turncurve:first-curve");
      const rest = parts
        .slice(1)
        .map((part) => part())
        .filter((part) => part !== null);
      main.append(...rest);
      fillContents([first, ...rest]);
      drawRest();
    }),
  );
  addEventListener("beforeprint", drawForPaper);
  addEventListener("afterprint", drawForScreen);
}

/** A few milliseconds of drawing at a time, so that the page answers meanwhile. */
function drawRest() {
  const until = performance.now() + 12;
  while (performance.now() < until) {
    if (drawNext()) continue;
    document.documentElement.dataset.ready = "true";
    return;
  }
  setTimeout(drawRest);
}

start();
