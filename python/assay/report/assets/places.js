"use strict";
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const make = (tag, facts) => Object.assign(document.createElement(tag), facts);
const button = (text, title, act) => {
  const made = make("button", { type: "button", textContent: text, title });
  made.addEventListener("click", act);
  return made;
};
const opener = (row) => row.querySelector("th button[aria-expanded]");
function openCard(row, open = true) {
  row.classList.toggle("opened", open);
  opener(row)?.setAttribute("aria-expanded", open);
}
// What hides a place is opened: the folds around it, its own, and its card.
function reveal(place) {
  for (let one = place; one; one = one.parentElement) {
    if (one.tagName === "DETAILS") one.open = true;
    if (one.tagName === "TR") openCard(one);
  }
  const fold = place.querySelector(":scope > .fold");
  if (fold) fold.open = true;
}
