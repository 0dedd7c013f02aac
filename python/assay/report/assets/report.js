"use strict";
(() => {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const canvas = document.createElement("canvas");
  const webgl = Boolean(canvas.getContext("webgl2") || canvas.getContext("webgl"));
  for (const place of document.querySelectorAll(".figure")) {
    // Without WebGL the vector picture of the columns stays in view.
    if (place.classList.contains("columns") && !webgl) continue;
    // Heat maps are pictures only.
    if (!figures[place.dataset.name]) continue;
    const { data, layout } = figures[place.dataset.name];
    place.classList.add("live");
    Plotly.newPlot(place.querySelector(".plot"), data, layout, { displayModeBar: false, responsive: true })
      .catch(() => place.classList.remove("live"));
  }
  window.addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll("details")) fold.open = true;
  });
})();
