"use strict";
// A bundle that an operator drops onto the list of runs, or chooses, is sent, checked and unpacked.
(() => {
  const input = document.querySelector("[data-bundle]");
  if (!input) return;
  const state = document.querySelector("[data-bundle-state]");

  async function unpacked(job) {
    for (;;) {
      const answer = await fetch(`${window.assay.prefix}/jobs/${job}`);
      const told = await answer.json();
      if (told.failure) throw new Error(told.failure);
      if (told.state === "done") return;
      state.textContent = told.state === "held" ? "Waits until the drive that is measured is done." : "Checking the bundle.";
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }

  async function take(file) {
    state.classList.remove("bad");
    state.textContent = `Sending ${file.name}.`;
    try {
      await unpacked((await window.assay.send("/bundles", file)).job);
      location.reload();
    } catch (error) {
      state.textContent = error.message;
      state.classList.add("bad");
    }
  }

  input.addEventListener("change", () => input.files[0] && take(input.files[0]));
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    if (file) take(file);
  });
})();
