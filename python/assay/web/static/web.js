"use strict";
// The frame of the site: signing in, waiting for a page, and changes that an operator makes.
(() => {
  const frame = document.querySelector("header.site");
  const prefix = frame ? frame.dataset.prefix : "";

  async function send(path, body, method = "POST") {
    const isFile = body instanceof Blob;
    const headers = { "content-type": isFile ? "application/octet-stream" : "application/json" };
    if (frame && frame.dataset.change) headers["x-assay-token"] = frame.dataset.change;
    const answer = await fetch(prefix + path, { method, headers, body: isFile ? body : JSON.stringify(body) });
    const isPart = answer.ok && (answer.headers.get("content-type") || "").startsWith("text/html");
    const told = isPart ? await answer.text() : await answer.json().catch(() => ({ error: `The server answered ${answer.status}.` }));
    if (!answer.ok) throw new Error(told.error);
    return told;
  }

  async function enter() {
    const token = location.hash.slice(1);
    const state = document.getElementById("sign-in-state");
    if (!token) return;
    // The token is in no history and no address that is copied later.
    history.replaceState(null, "", location.pathname + location.search);
    try {
      await send("/session", { token });
      location.reload();
    } catch (error) {
      state.textContent = error.message;
      state.classList.add("bad");
    }
  }

  async function wait(key) {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 700));
      const answer = await fetch(`${prefix}/jobs/${key}`).catch(() => null);
      if (!answer) continue;
      const { state } = await answer.json();
      if (state === "done" || state === "failed") return location.reload();
    }
  }

  window.assay = { prefix, send };
  if (document.querySelector("[data-sign-in]")) enter();
  const job = document.querySelector("[data-job]");
  if (job && !job.querySelector(".bad")) wait(job.dataset.job);
})();
