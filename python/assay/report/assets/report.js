(() => {
  const root = document.documentElement;
  // Contents: closed until they are asked for, the place in view marked, of tests only the sections of the one in view.
  const nav = document.querySelector(".strip-of-run nav");
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
  const named = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  const kept = store(() => localStorage.getItem("assay-theme"));
  if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  const theme = button("", "Dark or light", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    named();
    store(() => localStorage.setItem("assay-theme", root.dataset.theme));
  });

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
    if (rest.every((cell) => !cell.textContent || cell.matches(".under, .absent, .verdict"))) return;
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

  const tools = make("div", { className: "tools" });
  named();
  darkness.addEventListener("change", named);
  tools.append(theme, foldAll);
  const place = () => (small.matches ? contents.querySelector(".panel") : nav).append(tools);
  small.addEventListener("change", place);
  place();
})();
