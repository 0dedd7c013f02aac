"use strict";
// The page of a run while it goes on: lines of the last hour and since the start, rounds, steps and events.
(() => {
  const { watch, drive, facts, fill, element, figure, span, time, bounds, percent } = window.assay;
  const HOUR_MS = 3600000;
  const GAP_MS = 10000;
  const ROWS_MAX = 20;
  const SECONDS_MAX = 3600;
  const page = document.querySelector("[data-live]");
  const charts = [
    { key: "iops", unit: "IOPS", value: (sums) => sums.n / sums.c * 1e9 },
    { key: "mb", unit: "MB/s", value: (sums) => sums.b / sums.c * 1e3 },
    { key: "mean", unit: "ms", value: (sums) => (sums.n ? sums.s / sums.n / 1e6 : null) },
    { key: "max", unit: "ms", value: (sums) => (sums.n ? sums.m / 1e6 : null) },
  ];
  let minutes = null;
  let seconds = null;
  let whole = false;

  const sums = (lines, side, at) => ({
    c: lines.c[at], n: lines[`${side}n`][at], b: lines[`${side}b`][at], s: lines[`${side}s`][at], m: lines[`${side}m`][at],
  });

  // Columns of uPlot: times, reads, writes. A gap in time is a gap in the line.
  function series(lines, value, from_ms) {
    const result = [[], [], []];
    let before = null;
    for (let at = 0; at < lines.t.length; at += 1) {
      const now = lines.t[at];
      if (now < from_ms) continue;
      if (before !== null && now - before > Math.max(GAP_MS, 2 * lines.c[at] / 1e6, 130000 * (lines === minutes))) {
        result[0].push((before + 1) / 1000);
        result[1].push(null);
        result[2].push(null);
      }
      before = now;
      result[0].push(now / 1000);
      result[1].push(lines.rn[at] ? value(sums(lines, "r", at)) : null);
      result[2].push(lines.wn[at] ? value(sums(lines, "w", at)) : null);
    }
    return result;
  }

  function data(chart) {
    if (!seconds) return [[], [], []];
    const last = seconds.t.at(-1) || 0;
    const recent = series(seconds, chart.value, last - HOUR_MS);
    if (!whole) return recent;
    const older = series(minutes, chart.value, 0);
    return older.map((column, at) => column.concat(recent[at]));
  }

  function colours() {
    // light-dark() is resolved where a property uses it.
    const probe = document.getElementById("live-probe");
    const pick = (name) => {
      probe.style.color = `var(${name})`;
      return getComputedStyle(probe).color;
    };
    return { ink: pick("--soft"), grid: pick("--grid"), read: pick("--live-read"), write: pick("--live-write") };
  }

  // Times in the viewer's zone, as long as their distance needs; incr: s between two ticks.
  function instants(_plot, ticks, _axis, _space, incr) {
    const parts = incr >= 86400 ? { month: "short", day: "numeric" } : { hour: "2-digit", minute: "2-digit", hour12: false };
    if (incr < 60) parts.second = "2-digit";
    return ticks.map((at) => new Date(at * 1000).toLocaleString(undefined, parts));
  }

  function draw(chart) {
    const box = document.getElementById(`live-${chart.key}`);
    if (chart.plot) chart.plot.destroy();
    const colour = colours();
    const axis = { stroke: colour.ink, grid: { stroke: colour.grid, width: 1 }, ticks: { stroke: colour.grid } };
    chart.plot = new uPlot({
      width: box.clientWidth,
      height: 220,
      legend: { show: false },
      cursor: { drag: { x: false, y: false } },
      scales: { y: { range: (_, low, high) => [0, high > 0 ? high * 1.08 : 1] } },
      axes: [{ ...axis, space: 80, size: 34, values: instants }, { ...axis, size: 64, values: (_, ticks) => ticks.map(figure) }],
      series: [
        {},
        { label: "Read", stroke: colour.read, width: 1.5, points: { show: false } },
        { label: "Write", stroke: colour.write, width: 1.5, dash: [6, 3], points: { show: false } },
      ],
    }, data(chart), box);
    const canvas = box.querySelector("canvas");
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", box.dataset.title);
    canvas.setAttribute("aria-describedby", `live-${chart.key}-table`);
  }

  function table(chart) {
    const [times, reads, writes] = data(chart);
    const body = document.querySelector(`#live-${chart.key}-table tbody`);
    const rows = [];
    for (let at = times.length - 1; at >= 0 && rows.length < ROWS_MAX; at -= 1) {
      if (reads[at] === null && writes[at] === null) continue;
      const row = element("tr");
      row.append(element("td", time(times[at] * 1000)), ...[reads, writes].map((side) => element("td", figure(side[at]), { class: "number" })));
      rows.push(row);
    }
    body.replaceChildren(...rows);
  }

  function refresh() {
    for (const chart of charts) {
      if (!chart.plot) draw(chart);
      else chart.plot.setData(data(chart));
      table(chart);
    }
  }

  function rounds(run) {
    const labels = run.rounds.length ? run.rounds.at(-1).values.map((value) => `${value.label}, ${value.unit}`) : [];
    const voids = run.rounds.some((round) => round.void) ? ["Void"] : [];
    rows("live-rounds", ["Round", ...labels, ...voids], run.rounds.slice().reverse().map((round) => [
      String(round.index),
      ...labels.map((_, at) => figure(round.values[at] ? round.values[at].value : null)),
      ...voids.map(() => round.void || ""),
    ]));
    rows("live-bounds", ["Tracked", "Average", "Bounds", "Verdict"], run.bounds.map((bound) => [
      bound.label, figure(bound.average), bounds(bound), bound.steady ? "steady" : "not steady",
    ]));
    document.getElementById("live-samples").textContent = run.sample_count ? `${run.sample_count.toLocaleString("en-US")} samples` : "";
  }

  function rows(id, head, lines) {
    const made = document.getElementById(id);
    const text = JSON.stringify([head, lines]);
    if (made.dataset.shown === text) return;
    made.dataset.shown = text;
    made.closest("section").hidden = document.querySelectorAll(`#${made.closest("section").id} table`).length === 1 && !lines.length;
    made.closest(".scroll").hidden = !lines.length;
    const numeric = head.map((_, at) => at > 0 && lines.every((line) => /^[\d.,-]+$/.test(line[at])));
    const cells = (name, values) => {
      const row = element("tr");
      row.append(...values.map((value, at) => element(name, value, {
        ...(numeric[at] ? { class: "number" } : {}), ...(name === "th" ? { scope: "col" } : {}),
      })));
      return row;
    };
    const top = element("thead");
    top.append(cells("th", head));
    const body = element("tbody");
    body.append(...lines.map((line) => cells("td", line)));
    made.replaceChildren(top, body);
  }

  function show(run) {
    document.getElementById("live-title").textContent = drive(run);
    fill(document.getElementById("live-facts"), facts(run));
    rounds(run);
    document.getElementById("live-rounds-section").hidden = !run.rounds.length;
    rows("live-steps", ["Step", "IOPS", "MB/s", "Mean, ms", "p50, ms", "p99, ms", "p99.9, ms", "Maximum, ms"], run.steps.map((step) => [
      step.label, ...[step.iops, step.mb_s, step.latency_ms_mean, step.latency_ms_p50, step.latency_ms_p99, step.latency_ms_p999, step.latency_ms_max].map(figure),
    ]));
    rows("live-events", ["Time", "Test", "Event", "Duration", "Detail"], run.events.slice().reverse().map((event) => [
      time(event.wall_ns / 1e6), event.test, event.kind === "test" ? "test ended" : event.name, event.span_ns ? span(event.span_ns) : "", event.detail,
    ]));
    const covered = run.virtual && run.line.c.length ? run.line.c[0] : 0;
    document.getElementById("live-covered").textContent = covered ? `Simulated: the last line covers ${span(covered)} of device time.` : "";
    document.title = `${run.test} ${percent(run.share)} - ${drive(run)} - Assay`;
  }

  function begin({ run, minutes: older, seconds: newer }) {
    [minutes, seconds] = [older, newer];
    show(run);
    refresh();
  }

  function lines({ run, seconds: news }) {
    show(run);
    if (!news.t.length || !seconds) return;
    for (const key of Object.keys(seconds)) {
      seconds[key].push(...news[key]);
      if (seconds[key].length > 2 * SECONDS_MAX) seconds[key].splice(0, SECONDS_MAX);
    }
    refresh();
  }

  function ended() {
    document.title = "Ended - Assay";
    location.reload();
  }

  for (const choice of page.querySelectorAll("input[name=range]")) {
    choice.addEventListener("change", () => {
      whole = choice.value === "start";
      refresh();
    });
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => charts.forEach(draw));
  new ResizeObserver(() => charts.forEach((chart) => {
    const box = document.getElementById(`live-${chart.key}`);
    if (chart.plot && Math.abs(chart.plot.width - box.clientWidth) > 1) chart.plot.setSize({ width: box.clientWidth, height: 220 });
  })).observe(page);
  watch(`/live/${page.dataset.live}`, { begin, lines, ended });
})();
