// What is wrong with how a page looks, as a list of sentences: texts that cover each other or are cut, in figures,
// tiles and tables, and numbers that an axis writes in two ways. What is folded is not looked at.
(() => {
  const TOUCH_PX = 1.5;
  const faults = [];
  const seen = (node) => node.getClientRects().length > 0 && getComputedStyle(node).visibility !== "hidden";
  const clear = (text) => text.replace(/\s+/g, " ").trim().slice(0, 40);
  const overlap = (one, other) => {
    const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
    const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
    return across > TOUCH_PX && down > TOUCH_PX;
  };
  // The letters alone: the box of a line of text has room above and below them.
  const letters = (node) => {
    const box = node.getBoundingClientRect();
    const edge = Math.min(box.width, box.height) * 0.16;
    const flat = box.width >= box.height;
    return flat
      ? { left: box.left, right: box.right, top: box.top + edge, bottom: box.bottom - edge }
      : { left: box.left + edge, right: box.right - edge, top: box.top, bottom: box.bottom };
  };
  const decimals = (text) => (text.split(".")[1] ?? "").length;
  // Labels of one axis stand on one line, across or up.
  function axes(texts) {
    const lines = new Map();
    for (const { words, box } of texts) {
      if (!/^-?[\d,]*\.?\d+$/.test(words)) continue;
      for (const place of [`across ${Math.round(box.top)}`, `up ${Math.round(box.right)}`]) {
        lines.set(place, [...(lines.get(place) ?? []), words]);
      }
    }
    return [...lines.values()].filter((labels) => labels.length > 2);
  }
  const stepped = (labels) => {
    const values = labels.map((text) => Number(text.replaceAll(",", ""))).sort((a, b) => a - b);
    const steps = values.slice(1).map((value, at) => value - values[at]);
    return Math.max(...steps) < 1.001 * Math.min(...steps);
  };
  function inFigure(svg, name) {
    const frame = svg.getBoundingClientRect();
    const nodes = [...svg.querySelectorAll("text")].filter((node) => seen(node) && clear(node.textContent));
    const texts = nodes.map((node) => ({ words: clear(node.textContent), box: letters(node) }));
    texts.forEach(({ words, box }, at) => {
      for (const other of texts.slice(at + 1)) {
        if (overlap(box, other.box)) faults.push(`${name}: "${words}" covers "${other.words}"`);
      }
      const out = Math.max(frame.left - box.left, box.right - frame.right, frame.top - box.top, box.bottom - frame.bottom);
      if (out > TOUCH_PX) faults.push(`${name}: "${words}" is cut by the frame`);
      if (/\de[+-]?\d/i.test(words)) faults.push(`${name}: "${words}" is in scientific notation`);
      if (/\d\.$/.test(words)) faults.push(`${name}: "${words}" ends with a point`);
    });
    for (const labels of axes(texts)) {
      const kinds = new Set(labels.map(decimals));
      if (kinds.size > 1 && stepped(labels)) faults.push(`${name}: ${labels.join(", ")} have different decimals`);
    }
  }
  // A page may hold its pictures as files.
  const pictures = [...document.querySelectorAll('img[src^="data:image/svg"]')].filter(seen);
  for (const image of pictures) {
    const comma = image.src.indexOf(",");
    const parsed = new DOMParser().parseFromString(decodeURIComponent(image.src.slice(comma + 1)), "image/svg+xml");
    const svg = document.importNode(parsed.documentElement, true);
    svg.style.cssText = `width:${image.clientWidth}px;height:${image.clientHeight}px;display:block`;
    image.after(svg);
    inFigure(svg, image.alt.slice(0, 60));
    svg.remove();
  }
  for (const svg of document.querySelectorAll("figure svg")) {
    if (!seen(svg) || svg.parentElement.closest("svg")) continue;
    const figure = svg.closest("figure");
    inFigure(svg, figure.dataset.name ?? svg.getAttribute("aria-label") ?? "figure");
  }
  for (const node of document.querySelectorAll(".tile, .tile *, .state, nav a, .strip *")) {
    if (!seen(node) || !clear(node.textContent)) continue;
    const style = getComputedStyle(node);
    if (style.overflow === "visible" && node.scrollWidth > node.clientWidth + 1 && node.clientWidth) {
      faults.push(`${node.className || node.tagName}: "${clear(node.textContent)}" is wider than its place`);
    }
    if (style.textOverflow === "ellipsis" && node.scrollWidth > node.clientWidth) {
      faults.push(`${node.className || node.tagName}: "${clear(node.textContent)}" is cut`);
    }
  }
  const wide = document.documentElement.scrollWidth;
  if (wide > innerWidth) faults.push(`page: ${wide} px wide in a window of ${innerWidth}`);
  return [...new Set(faults)];
})()
