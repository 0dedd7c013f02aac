"use strict";
// Times in the viewer's zone, with its offset; without a script they are in UTC.
(() => {
  const two = (number) => String(number).padStart(2, "0");
  function show(root) {
    for (const element of root.querySelectorAll("time[datetime]")) shift(element);
  }
  function shift(element) {
    const time = new Date(element.dateTime);
    if (Number.isNaN(time.getTime())) return;
    const offset = -time.getTimezoneOffset();
    const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60];
    const date = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
    element.textContent = `${date} ${two(time.getHours())}:${two(time.getMinutes())} ${offset < 0 ? "-" : "+"}${two(hours)}:${two(minutes)}`;
    element.title = `${element.dateTime.replace("T", " ").replace("Z", "")} UTC`;
  }
  window.assay.times = show;
  show(document);
})();
