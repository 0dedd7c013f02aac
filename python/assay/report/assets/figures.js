// Figures: the value under the pointer or the arrow keys, and what a reader can take away.
const FIGURES = JSON.parse(document.getElementById("figures").textContent);
const SVG = "http://www.w3.org/2000/svg";
const digits = (value) => (value === null ? "none" : value.toLocaleString("en", { maximumSignificantDigits: 6 }));
// An axis as the picture tells it: from a value to where it stands.
function axisOf(svg, name, [start, end]) {
  const [kind, low, high] = svg.dataset[name].split(" ");
  const place = kind === "log" ? Math.log10 : (value) => value;
  const [from, to] = [place(Number(low)), place(Number(high))];
  return (value) => start + ((place(value) - from) / (to - from || 1)) * (end - start);
}
function pointsOf(svg, { labels, series, x, y }) {
  const [left, top, right, bottom] = svg.dataset.box.split(" ").map(Number);
  const [across, up] = [axisOf(svg, "x", [left, right]), axisOf(svg, "y", [bottom, top])];
  return series.flatMap(([name, xs, ys], line) => xs.map((value, at) => ({
    line, at, x: across(value), y: up(ys[at]),
    lines: [name, `${x}: ${labels[value] ?? digits(value)}`, `${y}: ${digits(ys[at])}`],
  }))).filter((one) => Number.isFinite(one.x) && Number.isFinite(one.y));
}
function fieldsOf(svg, { edges, columns, rows, fields, x, y, value }) {
  const [left, top, right, bottom] = svg.dataset.box.split(" ").map(Number);
  const [across, up] = [axisOf(svg, "x", [left, right]), axisOf(svg, "y", [bottom, top])];
  const middle = (axis, places, at) => (axis(places[at]) + axis(places[at + 1])) / 2;
  return fields.flatMap((row, line) => row.map((found, at) => ({
    line, at, x: middle(across, edges[0], at), y: middle(up, edges[1], line),
    lines: [rows[line], `${x}: ${columns[at]}`, `${value}: ${digits(found)}`],
  })));
}
const hint = make("div", { className: "hint", hidden: true });
const spoken = make("div", { className: "spoken" });
spoken.setAttribute("aria-live", "polite");
document.body.append(hint, spoken);
const ring = document.createElementNS(SVG, "circle");
ring.setAttribute("class", "ring");
ring.setAttribute("r", 6);
function point(svg, found) {
  if (!found) {
    hint.hidden = true;
    ring.remove();
    return;
  }
  hint.replaceChildren(...found.lines.filter(Boolean).map((text, at) => make(at ? "span" : "b", { textContent: text })));
  ring.setAttribute("cx", found.x);
  ring.setAttribute("cy", found.y);
  svg.append(ring);
  hint.hidden = false;
  const [frame, scale] = [svg.getBoundingClientRect(), svg.getBoundingClientRect().width / svg.viewBox.baseVal.width];
  const [x, y] = [frame.left + found.x * scale, frame.top + found.y * scale];
  const right = x + hint.offsetWidth + 24 > innerWidth;
  hint.style.left = `${Math.max(right ? x - hint.offsetWidth - 12 : x + 12, 4) + scrollX}px`;
  hint.style.top = `${Math.max(y - hint.offsetHeight - 8, 4) + scrollY}px`;
}
function nearest(points, x, y, reach) {
  let [best, least] = [null, reach ** 2];
  for (const one of points) {
    const apart = (one.x - x) ** 2 + (one.y - y) ** 2;
    if (apart < least) [best, least] = [one, apart];
  }
  return best;
}
// The next point of the same curve, or the nearest one of the next curve.
function stepped(points, from, key) {
  if (!from) return points[0];
  const [right, up] = [{ ArrowRight: 1, ArrowLeft: -1 }[key], { ArrowUp: 1, ArrowDown: -1 }[key]];
  if (right) return points.find((one) => one.line === from.line && one.at === from.at + right) ?? from;
  const others = points.filter((one) => one.line === from.line + up);
  return others.reduce((best, one) => (best && Math.abs(best.x - from.x) <= Math.abs(one.x - from.x) ? best : one), null) ?? from;
}
function liven(svg, data) {
  let points = null;
  let here = null;
  const all = () => (points ??= data.fields ? fieldsOf(svg, data) : pointsOf(svg, data));
  const show = (found) => {
    here = found;
    point(svg, found);
  };
  svg.setAttribute("tabindex", 0);
  svg.addEventListener("pointermove", (event) => {
    const frame = svg.getBoundingClientRect();
    const scale = svg.viewBox.baseVal.width / frame.width;
    show(nearest(all(), (event.clientX - frame.left) * scale, (event.clientY - frame.top) * scale, 48));
  });
  svg.addEventListener("pointerleave", () => show(null));
  svg.addEventListener("blur", () => show(null));
  svg.addEventListener("keydown", (event) => {
    if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    show(stepped(all(), here, event.key));
    spoken.textContent = here ? here.lines.join(", ") : "";
  });
}
// What a reader takes away: the numbers, and the picture with the light colours of the page.
function save(name, content) {
  const link = make("a", { href: URL.createObjectURL(content), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
const inert = (cell) => (typeof cell === "string" && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell);
const quoted = (cell) => (/[",\r\n]/.test(cell) ? `"${String(cell).replaceAll('"', '""')}"` : cell);
const row = (cells) => `${cells.map((cell) => quoted(inert(cell ?? ""))).join(",")}\r\n`;
function csvOf({ x, y, z, labels, series, value, columns, rows, fields }) {
  const lines = fields
    ? fields.flatMap((line, at) => line.map((found, place) => [columns[place], rows[at], found])).filter(([, , found]) => found !== null)
    : series.flatMap(([name, xs, ys]) => xs.map((at, place) => [name, labels[at] ?? at, ys[place]]));
  return [fields ? [x, y, value] : [z || "series", x, y], ...lines].map(row).join("");
}
function lightRules() {
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).map((rule) => rule.cssText);
  return rules.filter((text) => text.startsWith(".fig .")).join("").replaceAll(".fig .", ".")
    .replace(/light-dark\(((?:[^(),]|\([^)]*\))+),(?:[^()]|\([^)]*\))*\)/g, "$1");
}
function svgOf(figure) {
  const copy = figure.querySelector(".desk svg").cloneNode(true);
  const { width, height } = copy.viewBox.baseVal;
  copy.querySelector(".ring")?.remove();
  for (const [name, fact] of Object.entries({ xmlns: SVG, width, height, "font-family": "IBM Plex Sans, sans-serif" })) copy.setAttribute(name, fact);
  const style = document.createElementNS(SVG, "style");
  style.textContent = lightRules();
  copy.prepend(style);
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}
async function savePng(name, { text, width, height }) {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = make("canvas", { width: 2 * width, height: 2 * height });
  const pen = canvas.getContext("2d");
  pen.fillStyle = "#fff";
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  canvas.toBlob((content) => save(`${name}.png`, content));
}
for (const figure of all(".figure")) {
  const { name } = figure.dataset;
  const data = FIGURES[name];
  if (!data) continue;
  for (const svg of all("svg[data-box]", figure)) liven(svg, data);
  const bar = make("div", { className: "bar" });
  bar.append(
    button("CSV", "Save the figure's numbers", () => save(`${name}.csv`, new Blob([csvOf(data)], { type: "text/csv" }))),
    button("SVG", "Save as a vector picture", () => save(`${name}.svg`, new Blob([svgOf(figure).text], { type: "image/svg+xml" }))),
    button("PNG", "Save as a picture", () => savePng(name, svgOf(figure))),
  );
  figure.prepend(bar);
}
