// A heat map: a painted picture below its axes, and a point in each field, which has its text and what a reader is told.
const rgb = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
function heatScale({ colours, ends: [low, high] }, dark) {
  // On a dark ground the darkest colours would not be seen.
  const used = dark ? colours.slice(2) : colours;
  const stops = used.map((colour, at) => [at / (used.length - 1), colour]);
  const parts = used.map(rgb);
  const colour = (value) => {
    const share = (Math.log10(value) - low) / (high - low);
    const place = Math.min(Math.max(share, 0), 1) * (used.length - 1);
    const first = Math.min(Math.floor(place), used.length - 2);
    const [from, to] = [parts[first], parts[first + 1]];
    return from.map((part, at) => Math.round(part + (to[at] - part) * (place - first)));
  };
  return { stops, colour };
}
function heatPicture({ x, y, z }, { colour }) {
  const canvas = make("canvas", { width: 1600, height: 800 });
  const pen = canvas.getContext("2d");
  const spot = (edges, length) => edges.map((edge) => Math.round((edge - edges[0]) / (edges.at(-1) - edges[0]) * length));
  const [across, up] = [spot(x, canvas.width), spot(y, canvas.height).map((at) => canvas.height - at)];
  z.forEach((row, line) => row.forEach((value, place) => {
    if (value === null) return;
    pen.fillStyle = `rgb(${colour(value)})`;
    pen.fillRect(across[place], up[line + 1], across[place + 1] - across[place], up[line] - up[line + 1]);
  }));
  return canvas.toDataURL();
}
function heatColourBar({ ends, ticks, title }, { stops }, narrow) {
  // A narrow window has room for half of the labels.
  const kept = narrow && ticks.length > 5 ? ticks.filter((_, at) => at % 2 === 0) : ticks;
  const bar = narrow
    ? { orientation: "h", tickangle: 0, yref: "container", y: 0, yanchor: "bottom" }
    : { title: { text: title, side: "right" } };
  const labels = { tickvals: kept.map(([at]) => at), ticktext: kept.map(([, text]) => text) };
  const marker = { color: [ends[0]], cmin: ends[0], cmax: ends[1], colorscale: stops, showscale: true };
  marker.colorbar = { thickness: 14, outlinewidth: 0, ...labels, ...bar };
  return { type: "scatter", mode: "markers", x: [null], y: [null], hoverinfo: "skip", showlegend: false, marker };
}
function heatPoints({ heat, layout }, scale, narrow) {
  const middles = (axis, places) => places.slice(1).map((end, at) => {
    const middle = (end + places[at]) / 2;
    return axis.type === "log" ? 10 ** middle : middle;
  });
  const [x, y] = [middles(layout.xaxis, heat.x), middles(layout.yaxis, heat.y)];
  const each = heat.z.flatMap((row, line) => row.map((value, place) => ({ value, line, place })));
  const shown = (value) => (value === null ? "none" : value.toLocaleString("en", { maximumFractionDigits: value < 1 ? 6 : 4 }));
  const said = ({ value, line, place }) => [
    `${layout.xaxis.title.text.split(",")[0]}: ${heat.columns[place]}`,
    `${layout.yaxis.title.text ? `${layout.yaxis.title.text}: ` : ""}${heat.rows[line]}`,
    `${heat.title}: <b>${shown(value)}</b>`,
  ].join("<br>");
  const bright = (value) => {
    const [red, green, blue] = scale.colour(value);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 127;
  };
  const trace = {
    type: "scatter", mode: "none", showlegend: false, hovertemplate: "%{hovertext}<extra></extra>",
    x: each.map(({ place }) => x[place]), y: each.map(({ line }) => y[line]), hovertext: each.map(said),
  };
  if (!heat.texts.length) return trace;
  const color = each.map(({ value }) => (value === null ? "#888888" : bright(value) ? "#000000" : "#ffffff"));
  return { ...trace, mode: "text", text: heat.texts.flat(), textfont: { size: narrow ? 9 : 13, color } };
}
// The traces of a heat map and its layout.
function heatDrawn(figure, { dark, narrow }) {
  const { heat, layout } = figure;
  const scale = heatScale(heat, dark);
  const { x, y } = heat;
  const image = {
    source: heatPicture(heat, scale), xref: "x", yref: "y", layer: "below", sizing: "stretch",
    x: x[0], y: y.at(-1), sizex: x.at(-1) - x[0], sizey: y.at(-1) - y[0],
  };
  const data = [heatPoints(figure, scale, narrow)];
  if (heat.texts.length) {
    const room = { margin: { ...layout.margin, t: 26 }, narrow: { t: 26 } };
    const title = { text: heat.title, xref: "paper", yref: "paper", x: 0.5, y: 1, yanchor: "bottom", showarrow: false };
    return { data, layout: { ...layout, ...room, images: [image], annotations: [title], hoverdistance: -1 } };
  }
  // Above a bar that lies, its title would cover that of the axis.
  const below = { ...layout.xaxis, title: { text: `${layout.xaxis.title.text}<br> <br>${heat.title}` } };
  const axes = narrow ? { xaxis: below, narrow: { b: 105 } } : {};
  const shown = { ...layout, ...axes, images: [image], hoverdistance: -1 };
  return { data: [...data, heatColourBar(heat, scale, narrow)], layout: shown };
}
