"use strict";
// Streams of runs that go on, shared with other tabs, and how their numbers and texts are shown.
(() => {
  const RETRY_MS = 10000;
  const ALIVE_MS = 20000;
  const { prefix } = window.assay;

  // Without a shared worker a tab has a stream to itself.
  function ownStream(take) {
    let source = null;
    return (address) => {
      if (source && source.address === address) return;
      if (source) source.close();
      source = null;
      if (!address) return;
      source = new EventSource(address);
      source.address = address;
      const own = source;
      for (const name of ["runs", "begin", "lines", "ended"]) {
        own.addEventListener(name, (event) => {
          if (name === "ended") own.close();
          take({ name, text: event.data });
        });
      }
      own.onopen = () => take({ name: "open" });
      own.onerror = () => take({ name: own.readyState === EventSource.CLOSED ? "refused" : "lost" });
    };
  }

  function sharedStream(take) {
    const worker = new SharedWorker(`${prefix}/assets/live_worker.js`, "assay-live");
    worker.port.onmessage = ({ data }) => take(data);
    return (address) => worker.port.postMessage({ address });
  }

  function watch(path, handlers) {
    const address = prefix + path;
    const state = document.getElementById("live-state");
    let over = false;
    const say = (text) => { if (state && state.textContent !== text) state.textContent = text; };
    const want = (window.SharedWorker ? sharedStream : ownStream)(({ name, text }) => {
      if (name === "open") say("");
      else if (name === "lost") say("The connection is lost; trying again.");
      else if (name === "refused") {
        say("The server refuses the stream. Load the page again, or close other browsers.");
        want(null);
        setTimeout(update, RETRY_MS);
      } else {
        over = over || name === "ended";
        say("");
        handlers[name](JSON.parse(text));
      }
    });
    function update() {
      want(over || document.visibilityState === "hidden" ? null : address);
    }
    document.addEventListener("visibilitychange", update);
    window.addEventListener("pagehide", () => want(null));
    window.addEventListener("pageshow", update);
    setInterval(update, ALIVE_MS);
    update();
  }

  const number = (value, digits) => value.toLocaleString("en-US", { maximumFractionDigits: digits, minimumFractionDigits: digits });

  // Three significant digits, whole from 100 on. Worked: 16703.2 -> "16,703", 0.4783 -> "0.478".
  function figure(value) {
    if (value === null || value === undefined || !Number.isFinite(value)) return "-";
    const size = Math.abs(value);
    return number(value, size >= 100 || size === 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : Math.min(2 - Math.floor(Math.log10(size)), 9));
  }

  // Worked: 4000 s -> "1 h 6 min", 35 ms -> "35.0 ms".
  function span(ns) {
    if (ns < 1e9) return `${figure(ns / 1e6)} ms`;
    const seconds = Math.round(ns / 1e9);
    const parts = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
    const first = parts.findIndex(([, size]) => seconds >= size);
    const [unit, size] = parts[first];
    const part = parts[first + 1];
    const rest = part ? Math.floor((seconds % size) / part[1]) : 0;
    return `${Math.floor(seconds / size)} ${unit}${rest ? ` ${rest} ${part[0]}` : ""}`;
  }

  function left(range) {
    if (!range) return "";
    if (range.latest_ns === null) return `${span(range.earliest_ns)} or more`;
    return joined(span(range.earliest_ns), span(range.latest_ns));
  }

  const joined = (first, last) => (first === last ? first : `${first} to ${last}`);

  const time = (ms) => window.assay.instantSeconds(new Date(ms));
  const percent = (share) => (share === null ? "" : `${Math.floor(share * 100)} %`);

  function drive(run) {
    if (!run.drive) return run.folder;
    const name = run.drive.model_number || run.drive.path;
    return [name, run.drive.serial, run.drive.kind === "simulated" ? "simulated" : ""].filter(Boolean).join(", ");
  }

  // The last line of a run: rates over the device time that it covers.
  function rates(line) {
    if (!line.t.length) return null;
    const total = (value) => line[`r${value}`][0] + line[`w${value}`][0] + line[`o${value}`][0];
    const seconds = line.c[0] / 1e9;
    return {
      iops: total("n") / seconds,
      mb: total("b") / seconds / 1e6,
      mean: total("n") ? total("s") / total("n") / 1e6 : null,
      max: total("n") ? Math.max(line.rm[0], line.wm[0], line.om[0]) / 1e6 : null,
    };
  }

  function bounds(bound) {
    const excursion = bound.excursion_measured <= bound.excursion_allowed;
    const slope = bound.slope_measured <= bound.slope_allowed;
    return `excursion ${figure(bound.excursion_measured)} ${excursion ? "within" : "above"} ${figure(bound.excursion_allowed)}, `
      + `slope ${figure(bound.slope_measured)} ${slope ? "within" : "above"} ${figure(bound.slope_allowed)}`;
  }

  function tracked(run) {
    const last = run.rounds.at(-1);
    if (!last) return [];
    return last.values.map((value) => {
      const bound = run.bounds.find((other) => other.label === value.label);
      const text = `${value.label}: ${figure(value.value)} ${value.unit}`;
      return bound ? `${text}; ${bounds(bound)}` : `${text}; no verdict before 5 rounds`;
    });
  }

  function host(run) {
    const seen = run.watched;
    if (!seen) return [];
    const facts = [];
    if (seen.host_stalls) facts.push(`${seen.host_stalls} host stalls, ${span(seen.host_stalled_ns)} together`);
    else if (seen.host_stalls === 0) facts.push("no host stall");
    if (seen.drive_events) facts.push(`${seen.drive_events} kernel messages on the drive`);
    return facts;
  }

  // Rows (label, text) of what is known of a run; rows without a text are left out.
  function facts(run) {
    const rate = rates(run.line);
    const cell = run.step && run.step_count > 1 ? `cell ${run.step_number} of ${run.step_count}` : "";
    const at = (left_ns) => time((run.wall_ns + left_ns) / 1e6);
    const end = run.run_left && run.run_left.latest_ns !== null && !run.virtual
      ? joined(at(run.run_left.earliest_ns), at(run.run_left.latest_ns)) : "";
    return [
      ["Test", run.test ? `${run.test} (${run.test_number} of ${run.test_count})` : "before its first test"],
      ["Phase", [run.name, run.step, cell, percent(run.share)].filter(Boolean).join(", ")],
      ["Time left", [left(run.run_left), run.left ? `phase: ${left(run.left)}` : ""].filter(Boolean).join("; ")],
      ["End", end],
      ["Now", rate ? `${figure(rate.iops)} IOPS, ${figure(rate.mb)} MB/s, mean ${figure(rate.mean)} ms, maximum ${figure(rate.max)} ms` : ""],
      ["Tracked", tracked(run)],
      ["Temperature", run.watched && run.watched.temperature_c !== null ? `${figure(run.watched.temperature_c)} °C` : ""],
      ["Host", host(run)],
      ["State", run.state === "suspended" ? `suspended; kill -CONT ${run.pid} resumes it` : ""],
    ].filter(([, text]) => text.length);
  }

  // Fill a description list, changing only what differs: the focus and a selection stay.
  function fill(list, rows) {
    const text = JSON.stringify(rows);
    if (list.dataset.shown === text) return;
    list.dataset.shown = text;
    list.replaceChildren(...rows.flatMap(([label, value]) => {
      const term = element("dt", label);
      return [term, ...[value].flat().map((line) => element("dd", line))];
    }));
  }

  function element(name, text = "", attributes = {}) {
    const made = document.createElement(name);
    made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }

  Object.assign(window.assay, { watch, figure, span, left, time, percent, drive, rates, facts, fill, element, bounds });
})();
