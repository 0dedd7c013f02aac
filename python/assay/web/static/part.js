"use strict";
// A part of a page that the server makes, kept new while the page is visible.
(() => {
  const part = document.querySelector("[data-part]");
  const every = Number(part.dataset.every) * 1000;
  let shown = "";
  let asking = false;

  function focused() {
    const now = document.activeElement;
    return part.contains(now) && now.dataset.job ? `[data-job="${now.dataset.job}"][data-action="${now.dataset.action}"]` : "";
  }

  // Everything in it was escaped by the server, and the policy runs no script that stands in a page.
  function show(html) {
    part.removeAttribute("aria-busy");
    if (html === shown) return;
    shown = html;
    const kept = focused();
    const opened = [...part.querySelectorAll("details")].map((details) => details.open);
    part.replaceChildren(...new DOMParser().parseFromString(html, "text/html").body.childNodes);
    part.querySelectorAll("details").forEach((details, at) => { details.open = opened[at] || details.open; });
    window.assay.times(part);
    const again = kept && part.querySelector(kept);
    if (again) again.focus();
  }

  async function load() {
    if (asking || document.visibilityState === "hidden") return;
    asking = true;
    try {
      const answer = await fetch(window.assay.prefix + part.dataset.part);
      if (answer.status === 401) return location.reload();
      if (answer.ok) show(await answer.text());
      else throw new Error(answer.status);
    } catch {
      if (!shown) part.textContent = "The server does not answer. Trying again.";
    } finally {
      asking = false;
    }
  }

  window.assay.show = show;
  document.addEventListener("visibilitychange", load);
  setInterval(load, every);
  load();
})();
