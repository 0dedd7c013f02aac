"use strict";
// What an operator changes in the queue.
(() => {
  const part = document.querySelector("[data-part]");
  const failure = document.getElementById("queue-error");
  const at = (id) => document.getElementById(id);
  const { send, show } = window.assay;

  async function change(values) {
    failure.textContent = "";
    try {
      show(await send("/queue/change", values));
    } catch (error) {
      failure.textContent = error.message;
    }
  }

  function open(dialog, button) {
    dialog.dataset.job = button.dataset.job;
    at(`${dialog.id}-text`).textContent = button.dataset.title;
    dialog.querySelector("form").reset();
    dialog.showModal();
  }

  function confirmStop(button) {
    open(at("stop"), button);
    at("stop").querySelector("[type=submit]").disabled = true;
  }

  function confirmRelease(button) {
    open(at("release"), button);
    at("release-known").textContent = button.dataset.identity;
    at("release-job").textContent = button.dataset.job;
    at("release-error").textContent = "";
    at("release-code").hidden = true;
  }

  // Asked without a code first: the server then has one made, for this job and this session.
  async function release(form) {
    const { identity, code } = form.elements;
    at("release-error").textContent = "";
    if (identity.value !== at("release-known").textContent) {
      at("release-error").textContent = "The identity does not match.";
      return;
    }
    try {
      const answer = await send("/queue/change", { action: "release", job: at("release").dataset.job, identity: identity.value, code: code.value });
      if (!answer.code) {
        at("release").close();
        return show(answer);
      }
      at("release-command").textContent = answer.code;
      at("release-code").hidden = false;
      code.focus();
    } catch (error) {
      at("release-error").textContent = error.message;
      code.value = "";
    }
  }

  part.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-action]");
    if (!button) return;
    const { action, job, position, identity } = button.dataset;
    if (action === "stop") confirmStop(button);
    else if (identity !== undefined) confirmRelease(button);
    else if (action === "cancel") change({ action: "stop", job });
    else change(position === undefined ? { action, job } : { action, job, position: Number(position) });
  });
  for (const dialog of [at("stop"), at("release")]) {
    dialog.querySelector("[data-close]").addEventListener("click", () => dialog.close());
  }
  const { sure } = at("stop").querySelector("form").elements;
  sure.addEventListener("change", () => { at("stop").querySelector("[type=submit]").disabled = !sure.checked; });
  at("stop").querySelector("form").addEventListener("submit", () => {
    if (sure.checked) change({ action: "stop", job: at("stop").dataset.job });
  });
  at("release").querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    release(event.target);
  });
})();
