(() => {
  const root = document.documentElement;
  // Contents: closed until they are asked for, the place in view marked, of tests only the sections of the one in view.
  const nav = document.querySelector("nav");
  const contents = document.querySelector(".contents");
  const lists = all(".below", contents);
  for (const list of lists) list.open = false;
  document.addEventListener("click", (event) => {
    if (!event.target.closest(".contents") || event.target.closest("a")) contents.open = false;
  });
  contents.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    contents.open = false;
    contents.querySelector("summary").focus();
  });
  function mark(link) {
    for (const other of all("[aria-current]", link.closest(".contents, .chapters"))) other.removeAttribute("aria-current");
    link.setAttribute("aria-current", "location");
    const own = link.closest("li:has(> .below)")?.querySelector(".below");
    if (link.closest(".contents")) for (const list of lists) list.open = list === own;
    // Scrolled by itself: to scroll it into view would end a scroll of the page that is under way.
    else link.closest("ul").scrollLeft = link.offsetLeft - link.closest("ul").offsetLeft - 40;
  }
  for (const within of all(".contents, .chapters")) {
    const links = new Map(all("a", within).map((link) => [decodeURIComponent(link.hash.slice(1)), link]));
    const marker = new IntersectionObserver((entries) => {
      for (const entry of entries) if (entry.isIntersecting) mark(links.get(entry.target.id));
    }, { rootMargin: "-20% 0px -79% 0px" });
    for (const id of links.keys()) if (document.getElementById(id)) marker.observe(document.getElementById(id));
  }
  // The numbers stay in view once their tiles have left it.
  const first = document.querySelector(".summary > .tiles");
  if (first) {
    const passing = new IntersectionObserver(([entry]) => {
      root.classList.toggle("passed", !entry.isIntersecting && entry.boundingClientRect.top < 0);
    });
    passing.observe(first);
  }

  // Links that copy their address, folds, and what paper shows.
  document.addEventListener("click", (event) => {
    const link = event.target.closest(".link");
    if (!link) return;
    navigator.clipboard?.writeText(link.href).then(() => {
      link.textContent = "copied";
      setTimeout(() => { link.textContent = "#"; }, 1200);
    }, () => {});
  });
  const small = matchMedia("(max-width: 600px)");
  const folds = all("main details:is(.fold:not(.folded), .annex)");
  const annexed = folds.some((fold) => fold.matches(".annex"));
  let folded = annexed;
  const foldAll = button(annexed ? "Unfold all" : "Fold all", "Close or open all sections", () => {
    for (const fold of folds) fold.open = folded;
    folded = !folded;
    foldAll.textContent = folded ? "Unfold all" : "Fold all";
  });
  // On a small window the standard headers would hide what they head, and one line stands for each section but the first.
  if (small.matches) {
    for (const form of all(".form")) form.open = false;
    for (const fold of folds.slice(annexed ? 0 : 1)) fold.open = false;
    folded = true;
    foldAll.textContent = "Unfold all";
  }
  function unfold() {
    const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!place) return;
    reveal(place);
    place.scrollIntoView({ behavior: "instant" });
  }
  window.addEventListener("hashchange", unfold);
  // A link to where the address already points changes nothing, but the section may be closed since.
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link && link.hash === location.hash) unfold();
  });
  if (location.hash) unfold();
  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = all("details:not([open])");
    for (const fold of closed) fold.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const fold of closed) fold.open = false;
  });

  // Dark and light.
  const darkness = matchMedia("(prefers-color-scheme: dark)");
  const store = (act) => { try { return act(); } catch { return null; } };
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : darkness.matches);
  const kept = store(() => localStorage.getItem("assay-theme"));
  if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  const theme = button("", "Dark or light", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    store(() => localStorage.setItem("assay-theme", root.dataset.theme));
    repaint();
  });
  darkness.addEventListener("change", () => repaint());

  // Tables sorted by a column: up, down, and as they came.
  const number = (text) => (/^[-+]?\d/.test(text) ? parseFloat(text.replaceAll(",", "")) : NaN);
  function order(one, other) {
    const [a, b] = [number(one), number(other)];
    if (Number.isNaN(a) && Number.isNaN(b)) return one.localeCompare(other, "en", { numeric: true });
    if (Number.isNaN(a) || Number.isNaN(b)) return NaN;
    return a - b;
  }
  function sort(table, head, place) {
    const turn = { none: "ascending", ascending: "descending", descending: "none" }[head.getAttribute("aria-sort") ?? "none"];
    for (const other of all("th[aria-sort]", table)) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", turn);
    table.classList.toggle("sorted", turn !== "none");
    const text = (row) => row.cells[place]?.textContent ?? "";
    const way = turn === "descending" ? -1 : 1;
    const sorted = table.rowsAsTheyCame.toSorted((one, other) => {
      const found = order(text(one), text(other));
      // What is no number stands below the numbers, whichever way.
      if (Number.isNaN(found)) return Number.isNaN(number(text(one))) ? 1 : -1;
      return way * found;
    });
    table.tBodies[0].append(...(turn === "none" ? table.rowsAsTheyCame : sorted));
  }
  for (const table of all("main table:not(.pairs)")) {
    table.rowsAsTheyCame = [...table.tBodies[0].rows];
    if (table.rowsAsTheyCame.length < 3) continue;
    const shift = table.tHead.rows.length > 1 ? 1 : 0;
    const heads = all("th", table.tHead.rows[shift]).map((head) => [head, head.cellIndex + shift]);
    if (shift) heads.push([table.tHead.rows[0].cells[0], 0]);
    for (const [head, place] of heads) {
      head.setAttribute("aria-sort", "none");
      const sorter = button("", "Sort by this column", () => sort(table, head, place));
      sorter.append(...head.childNodes);
      head.append(sorter);
    }
  }
  // On a small window a row of many columns is a card, in which each cell has its column's name.
  const ROLES = { TBODY: "rowgroup", TR: "row", TD: "cell", TH: "rowheader" };
  function label(table) {
    const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells].map((head) => head.textContent);
    const shift = table.tHead.rows.length > 1 ? 1 : 0;
    table.setAttribute("role", "table");
    // A table that is no block has lost what it is to a screen reader.
    for (const part of all("tbody, tbody tr, tbody th, tbody td", table)) part.setAttribute("role", ROLES[part.tagName]);
    for (const cell of all("tbody td", table)) cell.dataset.label = heads[cell.cellIndex - shift];
    for (const cell of all("tbody th", table)) cell.dataset.label = table.tHead.rows[0].cells[0].textContent;
    table.classList.add("labelled");
    const { rows } = table.tBodies[0];
    if (!table.classList.contains("matrix") && rows.length > 1) for (const row of rows) foldCard(row, heads);
  }
  // A closed card is one line: its name, its first number, and what stands before it.
  function foldCard(row, heads) {
    const cells = all("td", row);
    const first = Math.max(cells.findIndex((cell) => cell.classList.contains("number")), 0);
    // A number without its spread, or beside a claim without its share of it, is half an answer; one of several that
    // may be told of a figure is none without the name of its column.
    const names = /^(Least - greatest|Claimed|Of the claim|Claim met|STEADY|Level|99\.9+ %|Maximum|First sample|Mean|Mean burst IOPS|Over baseline|Score|Failed I\/Os|Of the first variant)$/;
    const under = (cell) => names.test(heads[cell.cellIndex]) || (heads[cell.cellIndex] === "Measured" && heads.includes("First sample"));
    // How many I/Os there were is no answer either.
    const last = under(cells[first]) || heads[cells[first].cellIndex] === "I/Os" ? first - 1 : first + (heads[first + 2] === "Unit" ? 1 : 0);
    // Where the first number comes late, the row's name says most.
    const lead = cells.slice(0, last < 3 ? last + 1 : 1);
    const rest = cells.slice(lead.length);
    if (!rest.length) return;
    for (const cell of rest) if (/^(n\/a|not stated|-)$/.test(cell.textContent)) cell.classList.add("absent");
    for (const cell of lead) cell.classList.add("lead");
    // A number without a unit beside it is none without the name of its column, nor is a row that is named by one.
    const named = (cell) => cell.classList.toggle("named", /^\d/.test(cell.textContent) && !heads.includes("Unit"));
    for (const cell of [row.cells[0], ...lead]) named(cell);
    for (const cell of rest) if (under(cell) || / \*$/.test(cell.textContent)) cell.classList.add("under");
    // Of a finding the words are what matters, and of a number what it comes from.
    for (const cell of rest) if (/^(What was found|From)$/.test(heads[cell.cellIndex])) cell.classList.add("under", "said");
    row.classList.add("folding");
    row.classList.toggle("long-name", row.cells[0].textContent.length > 10);
    // Where the line shows all there is nothing to open.
    if (rest.every((cell) => !cell.textContent || cell.matches(".under, .absent"))) return;
    const head = row.cells[0];
    const open = button(head.textContent, "", () => {});
    open.removeAttribute("title");
    if (!head.textContent) open.setAttribute("aria-label", lead[0].textContent || "Whole row");
    open.setAttribute("aria-expanded", false);
    head.replaceChildren(open);
    row.addEventListener("click", () => {
      if (small.matches && !getSelection().toString()) openCard(row, !row.classList.contains("opened"));
    });
  }
  function labelCards() {
    if (small.matches) for (const table of all("table.cards:not(.labelled)")) label(table);
  }
  small.addEventListener("change", labelCards);
  labelCards();
  // A table that is wider than its box can be moved with the keys.
  const boxes = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const facts = { tabindex: 0, role: "region", "aria-label": target.firstElementChild.getAttribute("aria-label") };
      for (const [name, fact] of Object.entries(facts)) {
        if (target.scrollWidth > target.clientWidth) target.setAttribute(name, fact);
        else target.removeAttribute(name);
      }
    }
  });
  for (const box of all(".scroll")) boxes.observe(box);

  // Figures: the program that draws them is unpacked when the first comes near, and each is drawn when it does.
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const drawn = new Set();
  let program;
  const plotter = () => (program ??= unpack());
  async function unpack() {
    const packed = atob(document.getElementById("plotter").textContent);
    const bytes = Uint8Array.from(packed, (one) => one.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    document.head.append(make("script", { textContent: await new Response(stream).text() }));
    return window.Plotly;
  }
  let webglFound;
  function webgl() {
    const canvas = document.createElement("canvas");
    return (webglFound ??= Boolean(canvas.getContext("webgl2") || canvas.getContext("webgl")));
  }

  const probe = make("span", { hidden: true });
  document.body.append(probe);
  function shown(name) {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  }
  const ON_DARK = { "#0072b2": "#2f86d1", "#56b4e9": "#9adcff", "#5e3c99": "#a98ee6", "#8c510a": "#cf9450", "#222222": "#e4e8ec", "#d55e00": "#f07f2e" };
  const FONT = { family: "IBM Plex Sans, system-ui, -apple-system, Segoe UI, Roboto, Arial, DejaVu Sans, sans-serif" };
  function painted(trace) {
    const paint = (colour) => (isDark() ? ON_DARK[colour] ?? colour : colour);
    const copy = { ...trace };
    for (const part of ["color", "fillcolor"]) if (copy[part]) copy[part] = paint(copy[part]);
    for (const part of ["line", "marker"]) if (copy[part]?.color) copy[part] = { ...copy[part], color: paint(copy[part].color) };
    return copy;
  }
  const isNarrow = (width) => width < 620;
  // In a narrow window a scene is as high as wide, seen from farther away, with few labels on its height.
  function higher(scene) {
    const { eye } = scene.camera;
    return {
      camera: { eye: { x: eye.x * 1.4, y: eye.y * 1.4, z: eye.z * 1.5 }, center: { x: -0.12, y: 0, z: -0.1 } },
      aspectratio: { x: 1.75, y: 1.5, z: 1.5 },
      zaxis: { ...scene.zaxis, nticks: 7, tickfont: { size: 10 } },
    };
  }
  function laidOut(layout, width) {
    const [ink, rule, grid, paper] = ["--ink", "--rule", "--grid", "--paper"].map(shown);
    const narrow = isNarrow(width);
    // A narrow window has no room for a long title in one line.
    const broken = (text) => (text.includes(", ") ? text.replace(", ", ",<br>") : text.replace(" (", "<br>("));
    const fitted = (text) => text.split("<br>").map((one) => (one.length > 24 ? broken(one) : one)).join("<br>");
    const wrapped = (title) => (narrow && title?.text ? { ...title, text: fitted(title.text) } : title);
    const axis = (one) => ({ ...one, title: wrapped(one.title), gridcolor: grid, linecolor: ink, zerolinecolor: rule, tickcolor: ink });
    const copy = {
      ...layout, paper_bgcolor: paper, plot_bgcolor: paper,
      font: { ...FONT, size: narrow ? 11 : 13, color: ink },
      hoverlabel: { bgcolor: shown("--shade"), bordercolor: rule, font: { ...FONT, size: 13, color: ink } },
    };
    for (const key of Object.keys(layout)) if (/^[xy]axis/.test(key)) copy[key] = axis(layout[key]);
    if (layout.scene) {
      const floor = { showbackground: false, showspikes: false };
      copy.scene = { ...layout.scene };
      for (const key of ["xaxis", "yaxis", "zaxis"]) copy.scene[key] = { ...axis(layout.scene[key]), ...floor };
      if (narrow) Object.assign(copy.scene, higher(copy.scene));
    }
    if (narrow) {
      copy.legend = { ...layout.legend, orientation: "h", x: 0, y: layout.scene ? 0 : -0.3, yanchor: "top" };
      if (!layout.scene) copy.margin = { l: 10, r: 10, t: 10, b: 10, ...layout.narrow };
    }
    return copy;
  }
  async function draw(place) {
    if (drawn.has(place) || !place.near) return;
    const figure = figures[place.dataset.name];
    // Without WebGL the vector picture of the columns stays in view.
    if (figure.layout.scene && !webgl()) return;
    const plotly = await plotter();
    drawn.add(place);
    place.classList.add("live");
    const plot = place.querySelector(".plot");
    const narrow = isNarrow(place.clientWidth);
    try {
      const { data, layout } = figure.heat ? heatDrawn(figure, { dark: isDark(), narrow }) : figure;
      const sized = laidOut(layout, place.clientWidth);
      // Each of many named rows needs a line of its own.
      const named = layout.yaxis?.ticktext?.length ?? 0;
      if (narrow && named > 14) plot.style.height = `${named * 20 + 220}px`;
      await plotly.react(plot, data.map(painted), sized, { displayModeBar: false, responsive: true });
    } catch {
      erase(place);
    }
  }
  function erase(place) {
    drawn.delete(place);
    place.classList.remove("live");
    window.Plotly?.purge(place.querySelector(".plot"));
  }
  function repaint() {
    theme.textContent = isDark() ? "Light" : "Dark";
    const places = [...drawn];
    drawn.clear();
    for (const place of places) { place.near = true; queueUp(place); }
  }
  // One after the other, so that the page can be moved and read between two.
  let queue = Promise.resolve();
  function queueUp(place) {
    queue = queue.then(() => draw(place)).then(() => new Promise((go) => setTimeout(go)), () => {});
    return queue;
  }
  const near = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      target.near = isIntersecting;
      if (isIntersecting) queueUp(target);
      // A browser has few WebGL contexts, so a figure that needs one gives it back.
      else if (drawn.has(target) && figures[target.dataset.name].layout.scene) erase(target);
    }
  }, { rootMargin: "300px 0px" });

  // What a reader can take away of a figure.
  function save(name, content) {
    const link = make("a", { href: URL.createObjectURL(content), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }
  const inert = (cell) => (typeof cell === "string" && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell);
  const quoted = (cell) => (/[",\r\n]/.test(cell) ? `"${String(cell).replaceAll('"', '""')}"` : cell);
  const line = (cells) => `${cells.map((cell) => quoted(inert(cell ?? ""))).join(",")}\r\n`;
  const title = (axis, other) => axis?.title?.text?.replaceAll(/<br>.*/g, "") || other;
  function rows({ name, x, y, meta }) {
    const [across, up] = [meta?.x ?? x ?? [], meta?.y ?? y ?? []];
    return across.map((value, at) => [name, value, up[at]]);
  }
  // A field without an I/O has no line.
  function fields({ z, columns, rows: names }) {
    const found = z.flatMap((row, line) => row.map((value, place) => [columns[place], names[line], value]));
    return found.filter(([, , value]) => value !== null);
  }
  function csv({ data, layout, heat }) {
    const [x, y] = layout.scene ? [layout.scene.xaxis, layout.scene.zaxis] : [layout.xaxis, layout.yaxis];
    const [across, up] = [title(x, "x"), title(y, "y")];
    const lines = heat ? [[across, up, heat.title], ...fields(heat)] : [["series", across, up], ...data.flatMap(rows)];
    return lines.map(line).join("");
  }
  function saveStill(place) {
    const text = decodeURIComponent(place.querySelector("img").src.replace(/^[^,]*,/, ""));
    save(`${place.dataset.name}.svg`, new Blob([text], { type: "image/svg+xml" }));
  }
  async function picture(place, format) {
    place.near = true;
    await queueUp(place);
    const plot = place.querySelector(".plot");
    const size = { width: 1200, height: layoutHeight(place), scale: format === "png" ? 2 : 1 };
    if (!drawn.has(place)) return saveStill(place);
    await window.Plotly.downloadImage(plot, { format, filename: place.dataset.name, ...size });
  }
  const layoutHeight = (place) => (figures[place.dataset.name].layout.scene ? 760 : 600);
  function barOf(place) {
    const { name } = place.dataset;
    const bar = make("div", { className: "bar" });
    bar.append(
      button("Reset", "Show the whole figure again", () => { erase(place); place.near = true; queueUp(place); }),
      button("PNG", "Save as a picture", () => picture(place, "png")),
      button("SVG", "Save as a vector picture", () => picture(place, "svg")),
    );
    near.observe(place);
    bar.append(button("CSV", "Save the figure's data", () => {
      save(`${name}.csv`, new Blob([csv(figures[name])], { type: "text/csv" }));
    }));
    place.prepend(bar);
  }
  for (const place of all(".figure")) if (figures[place.dataset.name]) barOf(place);

  const tools = make("div", { className: "tools" });
  tools.append(theme, foldAll);
  const place = () => (small.matches ? contents.querySelector(".panel") : nav).append(tools);
  small.addEventListener("change", place);
  place();
  repaint();
})();
