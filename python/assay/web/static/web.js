"use strict";
// The frame of the site: signing in, waiting for a page, changes that an operator makes, and times.
(() => {
  const frame = document.querySelector("header.site");
  const prefix = frame ? frame.dataset.prefix : "";
  // What a cookie does not give: no other port of this host reads the storage of this one.
  const KEY = `assay-key${prefix}`;

  async function send(path, body, method = "POST") {
    const isFile = body instanceof Blob;
    const headers = { "content-type": isFile ? "application/octet-stream" : "application/json" };
    const key = localStorage.getItem(KEY);
    if (key) headers["x-assay-key"] = key;
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
      localStorage.setItem(KEY, (await send("/session", { token })).key);
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
      if (!["waiting", "held", "running"].includes(state)) return location.reload();
    }
  }

  // Times in the viewer's zone, with its offset; without a script they are in UTC.
  const two = (number) => String(number).padStart(2, "0");

  function offset(time) {
    const minutes = -time.getTimezoneOffset();
    return `${minutes < 0 ? "-" : "+"}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
  }

  function instant(time, seconds = "") {
    const date = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
    return `${date} ${two(time.getHours())}:${two(time.getMinutes())}${seconds} ${offset(time)}`;
  }

  const instantSeconds = (time) => instant(time, `:${two(time.getSeconds())}`);

  function localise(element) {
    const time = new Date(element.dateTime);
    if (Number.isNaN(time.getTime())) return;
    element.textContent = instant(time);
    element.title = `${element.dateTime.replace("T", " ").replace("Z", "")} UTC`;
  }

  const times = (root) => root.querySelectorAll("time[datetime]").forEach(localise);

  // Where the pages do not fit beside each other, this one is in sight.
  const here = frame && frame.querySelector("[aria-current]");
  if (here) here.scrollIntoView({ block: "nearest", inline: "center" });
  times(document);
  for (const element of document.querySelectorAll("[data-zone]")) element.textContent = `Times: UTC${offset(new Date())}`;
  window.assay = { prefix, send, times, instantSeconds };
  if (document.querySelector("[data-sign-in]")) enter();
  const job = document.querySelector("[data-job]");
  if (job && !job.querySelector(".bad")) wait(job.dataset.job);
})();
