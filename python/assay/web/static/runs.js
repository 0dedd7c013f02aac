"use strict";
// The list of runs: which are chosen for a comparison, notes of an operator, and whether there are new runs.
(() => {
  const form = document.getElementById("chosen");
  const RUNS_MAX = 50;

  function count() {
    const chosen = form.querySelectorAll("input[name=run]:checked").length;
    form.querySelector("[data-compare]").disabled = chosen < 2 || chosen > RUNS_MAX;
    const text = chosen > RUNS_MAX ? `${chosen} chosen; at most ${RUNS_MAX}.` : chosen < 2 ? "Choose two or more." : `${chosen} chosen.`;
    form.querySelector("[data-count]").textContent = text;
  }

  function openNote(button, dialog) {
    const { elements } = dialog.querySelector("form");
    dialog.dataset.address = button.dataset.note;
    dialog.querySelector("#note-title").textContent = `Note on ${button.dataset.title}`;
    dialog.querySelector("#note-error").textContent = "";
    elements.hidden.checked = "hidden" in button.dataset;
    elements.bad.checked = "bad" in button.dataset;
    elements.reason.value = button.dataset.reason || "";
    elements.note.value = button.dataset.text || "";
    dialog.showModal();
  }

  async function saveNote(event, dialog) {
    event.preventDefault();
    const { hidden, bad, reason, note } = dialog.querySelector("form").elements;
    const values = { hidden: hidden.checked, bad: bad.checked, reason: reason.value, note: note.value };
    try {
      await window.assay.send(`/runs/${dialog.dataset.address}/note`, values);
      location.reload();
    } catch (error) {
      dialog.querySelector("#note-error").textContent = error.message;
    }
  }

  async function watchUpdate(total) {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 1000));
      const answer = await fetch(`${window.assay.prefix}/jobs/update`).catch(() => null);
      if (!answer || !answer.ok) return;
      const { state } = await answer.json();
      if (state === "failed" || state === "lost") return;
      if (state === "done") break;
    }
    const page = await fetch(location.href).then((answer) => answer.text()).catch(() => "");
    const news = document.querySelector("[data-news]");
    const now = new DOMParser().parseFromString(page, "text/html").querySelector("[data-total]");
    if (!news || !now || now.dataset.total === total) return;
    const link = document.createElement("a");
    link.href = location.href;
    link.textContent = "The list has changed: load it again";
    news.replaceChildren(link);
  }

  if (form) {
    form.addEventListener("change", count);
    count();
  }
  const dialog = document.getElementById("note");
  if (dialog) {
    for (const button of document.querySelectorAll("button[data-note]")) button.addEventListener("click", () => openNote(button, dialog));
    dialog.querySelector("form").addEventListener("submit", (event) => saveNote(event, dialog));
    dialog.querySelector("[data-close]").addEventListener("click", () => dialog.close());
  }
  const update = document.querySelector("[data-update]");
  if (update) watchUpdate(update.dataset.update);
})();
