"use strict";
// The page of what goes on now.
(() => {
  const { watch, drive, facts, fill, element, prefix, percent } = window.assay;
  const list = document.getElementById("now-runs");
  const none = document.getElementById("now-none");
  const waiting = document.getElementById("now-waiting");
  const wall = document.body.classList.contains("wall");
  const cards = new Map();

  function card(run) {
    const made = element("article", "", { class: "sheet live-card" });
    const title = element("h2");
    title.append(wall ? element("span") : element("a", "", { href: `${prefix}/runs/${run.address}` }));
    made.append(title, element("progress", "", { max: "1", "aria-label": "Share of the phase" }), element("dl", "", { class: "live-facts" }));
    list.append(made);
    return made;
  }

  function show(run) {
    if (!cards.has(run.address)) cards.set(run.address, card(run));
    const made = cards.get(run.address);
    made.querySelector("h2").firstChild.textContent = drive(run);
    const bar = made.querySelector("progress");
    bar.hidden = run.share === null;
    if (run.share !== null) bar.value = run.share;
    fill(made.querySelector("dl"), facts(run));
  }

  function runs(found) {
    waiting.hidden = true;
    none.hidden = found.length > 0;
    const known = new Set(found.map((run) => run.address));
    for (const [address, made] of cards) {
      if (known.has(address)) continue;
      made.remove();
      cards.delete(address);
    }
    found.forEach(show);
    const [first] = found;
    const state = found.length > 1 ? `${found.length} running` : first ? `${first.test} ${percent(first.share)}`.trim() : "idle";
    document.title = `${state} - Now - Assay`;
  }

  watch("/live", { runs });
})();
