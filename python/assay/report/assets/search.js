// A field that finds rows, figures, settings and sentences by their words, and goes to them.
(() => {
  const LISTED = 60, SNIPPET = 110;
  const WHERE = "main :is(h1, h2, h3, h4, h5, tbody tr, figure, .text p, .note, .figure figcaption, .banner, .lead, .label, "
    + ".question, .state, .findings li, .caveats li, .deviations li), main :is(:is(.box, .strip) dl, .tiles, .facts, .limits dl) > div, "
    + "main article:is(:first-of-type) .form :is(dl > div, .parties > div)";
  const plain = (text) => text.toLowerCase().replaceAll(/(?<=\d),(?=\d{3})/g, "").replaceAll(/\s+/g, " ").trim();
  function own(place) {
    if (place.tagName === "TR") return [...place.cells].map((cell) => cell.textContent).join(" ");
    if (place.tagName === "FIGURE") return place.querySelector("[aria-label]")?.getAttribute("aria-label") ?? place.textContent;
    return [...place.childNodes].map((child) => child.textContent).join(" ");
  }
  const heading = (place) => place.closest("article, .sheet")?.querySelector(".fold > summary :is(h2, h3, h4), :scope > h2, header :is(h1, h2)")?.textContent ?? "";
  function entry(place) {
    const text = own(place).replaceAll(/\s+/g, " ").trim();
    const table = place.closest("table");
    const caption = table?.getAttribute("aria-label") ?? place.closest("section:not(.sheet)")?.getAttribute("aria-label") ?? "";
    const columns = table ? all("thead th", table).map((head) => head.textContent).join(" ") : "";
    // The test and the part of the disclosure are in the name of the place.
    const id = place.closest("[id]:is(article, .entry, .sheet)")?.id.replaceAll("-", " ") ?? "";
    const around = [caption, heading(place)].filter((one, at, them) => one && one !== text && them.indexOf(one) === at);
    return { place, text, around: around.join(", "), own: plain(text), context: plain(`${text} ${columns} ${around.join(" ")} ${id}`) };
  }
  let index;
  // A word is found where it begins; one has to stand in the place itself, the others may stand in its heading or columns.
  function search(words) {
    index ??= all(WHERE).map(entry);
    const begins = words.map((word) => new RegExp(`(?<![a-z0-9.])${word.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}`));
    const share = (one) => begins.filter((word) => word.test(one.own)).length;
    const found = index.filter((one) => begins.every((word) => word.test(one.context)) && share(one));
    return found.sort((one, other) => share(other) - share(one));
  }

  let hits = [], at = -1;
  const field = make("input", { type: "search", placeholder: matchMedia("(hover: hover)").matches ? "Search ( / )" : "Search", autocomplete: "off", spellcheck: false });
  field.setAttribute("aria-label", "Search this report");
  field.setAttribute("aria-keyshortcuts", "/");
  const count = make("output", {});
  const list = make("ol", { className: "hits", hidden: true });
  list.setAttribute("aria-label", "Places found");
  const isSmall = () => matchMedia("(max-width: 600px)").matches;

  function go(place) {
    hits[at]?.place.classList.remove("here");
    at = place;
    const { place: found } = hits[at];
    reveal(found);
    found.classList.add("here");
    found.scrollIntoView({ block: "center", behavior: "instant" });
    // Sections that were never drawn take their real height on the way.
    requestAnimationFrame(() => found.scrollIntoView({ block: "center", behavior: "instant" }));
    for (const link of all("button", list)) link.removeAttribute("aria-current");
    list.children[at]?.firstChild.setAttribute("aria-current", "true");
    if (isSmall()) list.hidden = true;
    say();
  }
  function say() {
    const many = hits.length === 1 ? "1 hit" : `${hits.length} hits`;
    count.textContent = field.value.trim() ? (at < 0 ? many : `${at + 1} of ${many}`) : "";
  }
  function item(hit, place) {
    const line = make("li", {});
    const link = button("", "", () => go(place));
    link.removeAttribute("title");
    const short = hit.text.length > SNIPPET ? `${hit.text.slice(0, SNIPPET)}...` : hit.text;
    link.append(make("span", { textContent: short }), " ", make("small", { textContent: hit.around }));
    line.append(link);
    return line;
  }
  function find() {
    hits[at]?.place.classList.remove("here");
    at = -1;
    const words = plain(field.value).split(" ").filter(Boolean);
    hits = words.length ? search(words) : [];
    list.replaceChildren(...hits.slice(0, LISTED).map(item));
    if (hits.length > LISTED) list.append(make("li", { className: "label", textContent: `and ${hits.length - LISTED} more: go on with Enter` }));
    list.hidden = !hits.length;
    say();
  }
  field.addEventListener("input", find);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { field.value = ""; find(); field.blur(); }
    if (event.key !== "Enter" || !hits.length) return;
    event.preventDefault();
    const many = hits.length;
    if (at < 0) go(event.shiftKey ? many - 1 : 0);
    else go((at + (event.shiftKey ? many - 1 : 1)) % many);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input, textarea")) return;
    event.preventDefault();
    begin();
  });
  // In a narrow window the field has a row of its own once it is asked for.
  const nav = document.querySelector(".strip-of-run nav");
  function begin() {
    nav.classList.add("searching");
    field.focus();
    field.select();
  }
  const asked = button("Search", "", () => (nav.classList.contains("searching") ? nav.classList.remove("searching") : begin()));
  asked.className = "seek";
  document.querySelector(".tools").append(asked);
  const box = make("div", { className: "search" });
  box.setAttribute("role", "search");
  box.append(field, count, list);
  nav.append(box);
})();
