"use strict";
// The form of a plan: checked while it is edited, saved, filled in from a file, and started.
(() => {
  const WAIT_MS = 350;
  const form = document.getElementById("plan");
  const at = (id) => document.getElementById(id);
  const { send, prefix } = window.assay;
  let number = 0;
  let timer = 0;
  let waiting = false;
  let running = false;
  let checked = null;
  let expiry = 0;

  function typed() {
    const values = {};
    for (const input of form.querySelectorAll("[data-kind][name]")) {
      values[input.name] = input.dataset.kind === "flag" ? input.checked : input.value;
    }
    for (const group of form.querySelectorAll("[data-kind=choices]")) {
      values[group.dataset.key] = [...group.querySelectorAll("input:checked")].map((input) => input.value);
    }
    return { drive: form.elements.drive.value.trim(), values };
  }

  function fill({ drive, values }) {
    if (drive) form.elements.drive.value = drive;
    for (const input of form.querySelectorAll("[data-kind][name]")) {
      if (input.dataset.kind === "flag") input.checked = values[input.name];
      else input.value = values[input.name];
    }
    for (const group of form.querySelectorAll("[data-kind=choices]")) {
      for (const input of group.querySelectorAll("input")) input.checked = values[group.dataset.key].includes(input.value);
    }
  }

  function rows(list, pairs) {
    list.replaceChildren(...pairs.map(([name, value]) => {
      const row = document.createElement("div");
      const [term, text] = [document.createElement("dt"), document.createElement("dd")];
      term.textContent = name;
      text.textContent = value;
      row.append(term, text);
      return row;
    }));
  }

  const sentence = ({ thing, reason, remedy }) => `${thing}: ${reason}. ${remedy.charAt(0).toUpperCase()}${remedy.slice(1)}.`;

  function faults(answer) {
    for (const small of form.querySelectorAll("[data-fault]")) {
      const text = answer.faults[small.dataset.fault] || "";
      small.textContent = text;
      const input = at(`f-${small.dataset.fault}`);
      if (input) input.toggleAttribute("aria-invalid", text !== "");
      const section = small.closest("details");
      if (text && section) section.open = true;
    }
    at("plan-general").replaceChildren(...answer.general.map((text) => Object.assign(document.createElement("p"), { textContent: text })));
  }

  function sections(answer) {
    for (const section of form.querySelectorAll("[data-table]")) section.hidden = !answer.tables.includes(section.dataset.table);
    at("plan-tests").textContent = answer.tests.length ? `Tests: ${answer.tests.join(", ")}` : "";
  }

  function foreseen(result) {
    checked = result;
    at("plan-checked").hidden = !result;
    if (!result) return;
    rows(at("plan-totals"), result.totals);
    at("plan-text").replaceChildren(...result.text.split("\n").map((line) => Object.assign(document.createElement("span"), { textContent: line })));
    at("plan-refused").textContent = result.refused ? `Refused: ${sentence(result.refused)}` : "";
    at("plan-start").hidden = !result.digest;
    at("plan-error").textContent = "";
    at("plan-loss").hidden = !result.loss.length;
    rows(at("plan-losses"), result.loss);
    at("plan-identity").hidden = !result.typed;
    at("plan-known").textContent = result.identity;
    at("plan-code").hidden = true;
    at("plan-code-typed").value = "";
    clearTimeout(expiry);
    if (result.until_ms) expiry = setTimeout(expire, Math.max(result.until_ms - Date.now(), 0));
    at("plan-until").textContent = result.until_ms ? `Valid until ${window.assay.instantSeconds(new Date(result.until_ms))}` : "";
    ready();
  }

  function expire() {
    checked = null;
    at("plan-until").textContent = "The check has expired: check again.";
    ready();
  }

  function ready() {
    const [text, typed] = [at("plan-typed").value, Boolean(checked && checked.typed)];
    const differs = typed && text !== checked.identity;
    at("plan-differs").textContent = differs && text ? "Does not match." : "";
    const lacks = !at("plan-code").hidden && !at("plan-code-typed").value;
    at("plan-go").disabled = !checked || !checked.digest || differs || lacks;
  }

  function show(answer, drive) {
    sections(answer);
    faults(answer);
    const count = Object.keys(answer.faults).length + answer.general.length;
    const state = at("plan-state");
    state.classList.toggle("bad", Boolean(answer.refused) || count > 0);
    if (count) state.textContent = count === 1 ? "1 value is to be corrected." : `${count} values are to be corrected.`;
    else if (answer.refused) state.textContent = `${answer.refused.agent ? "Not checked. " : ""}${sentence(answer.refused)}`;
    else state.textContent = drive ? "Checked." : "Choose a drive.";
    foreseen(answer.checked || null);
  }

  // A check at a time; of what is typed meanwhile only the last is checked.
  async function check() {
    if (running) {
      waiting = true;
      return;
    }
    running = true;
    number += 1;
    const [mine, plan] = [number, typed()];
    at("plan-state").textContent = "Checking.";
    form.setAttribute("aria-busy", "true");
    try {
      const answer = await send("/plan/check", plan);
      if (mine === number && !waiting) show(answer, plan.drive);
    } catch (error) {
      at("plan-state").textContent = error.message;
      foreseen(null);
    } finally {
      running = false;
      if (waiting) {
        waiting = false;
        check();
      } else form.removeAttribute("aria-busy");
    }
  }

  function edited() {
    // What was checked is no longer what is typed.
    checked = null;
    at("plan-start").hidden = true;
    clearTimeout(timer);
    timer = setTimeout(check, WAIT_MS);
  }

  async function save() {
    try {
      const { toml } = await send("/plan/file", typed());
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([toml], { type: "application/toml" }));
      link.download = "plan.toml";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    } catch (error) {
      at("plan-state").textContent = error.message;
    }
  }

  async function open(file) {
    try {
      const content = await send("/plan/open", { toml: await file.text() });
      fill(content);
      edited();
      at("plan-general").textContent = content.notices.join(" ");
    } catch (error) {
      at("plan-state").textContent = error.message;
    }
  }

  async function start() {
    const button = at("plan-go");
    button.disabled = true;
    at("plan-error").textContent = "";
    try {
      const identity = checked.typed ? at("plan-typed").value : checked.identity;
      const answer = await send("/plan/start", { digest: checked.digest, identity, code: at("plan-code-typed").value });
      if (answer.to) return location.assign(answer.to);
      at("plan-command").textContent = answer.code;
      at("plan-digest").textContent = checked.digest.slice(0, 8);
      at("plan-code").hidden = false;
      at("plan-code-typed").focus();
    } catch (error) {
      at("plan-error").textContent = error.message;
      at("plan-code-typed").value = "";
    }
    ready();
  }

  async function drives() {
    const answer = await fetch(`${prefix}/drives/names`).catch(() => null);
    if (!answer || !answer.ok) return;
    const { drives: known } = await answer.json();
    at("drives").replaceChildren(...known.map(([value, label]) => Object.assign(document.createElement("option"), { value, label })));
  }

  form.addEventListener("input", edited);
  form.addEventListener("submit", (event) => event.preventDefault());
  at("plan-typed").addEventListener("input", ready);
  at("plan-code-typed").addEventListener("input", ready);
  at("plan-go").addEventListener("click", start);
  at("plan-check").addEventListener("click", check);
  at("plan-save").addEventListener("click", save);
  at("plan-open").addEventListener("change", (event) => event.target.files[0] && open(event.target.files[0]));
  drives();
  check();
})();
