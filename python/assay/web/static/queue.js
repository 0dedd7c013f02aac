"use strict";
// What an operator changes in the queue.
(() => {
  const part = document.querySelector("[data-part]");
  const failure = document.getElementById("queue-error");
  const dialog = document.getElementById("stop");
  const sure = dialog.querySelector("[name=sure]");
  const submit = dialog.querySelector("[type=submit]");

  async function change(values) {
    failure.textContent = "";
    try {
      window.assay.show(await window.assay.send("/queue/change", values));
    } catch (error) {
      failure.textContent = error.message;
    }
  }

  function confirmStop(button) {
    dialog.dataset.job = button.dataset.job;
    document.getElementById("stop-text").textContent = button.dataset.title;
    sure.checked = false;
    submit.disabled = true;
    dialog.showModal();
  }

  part.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-action]");
    if (!button) return;
    const { action, job, position } = button.dataset;
    if (action === "stop") confirmStop(button);
    else if (action === "cancel") change({ action: "stop", job });
    else change(position === undefined ? { action, job } : { action, job, position: Number(position) });
  });
  sure.addEventListener("change", () => { submit.disabled = !sure.checked; });
  dialog.querySelector("[data-close]").addEventListener("click", () => dialog.close());
  dialog.querySelector("form").addEventListener("submit", () => {
    if (sure.checked) change({ action: "stop", job: dialog.dataset.job });
  });
})();
