// The pages work without this script. It sends live updates into a page, filters a
// table while a filter is typed, and keeps the place of the reader.
"use strict";

// live replaces the part #live by what the server sends. The server escapes it.
function live() {
  const part = document.getElementById("live");
  if (!part || !window.EventSource) return;
  const state = document.getElementById("live-state");
  const source = new EventSource(part.dataset.events || "/events");
  source.addEventListener("live", (event) => {
    const open = new Set([...part.querySelectorAll("details[open]")].map((d) => d.id));
    part.innerHTML = event.data;
    for (const d of part.querySelectorAll("details")) if (open.has(d.id)) d.open = true;
    state.textContent = "Updates arrive by themselves.";
  });
  source.onerror = () => { state.textContent = "The connection is broken; it is tried again."; };
  addEventListener("pagehide", () => source.close());
}

// filters hides the rows that lack the words of a filter. A table that is cut off
// needs the server: there, the form's button filters.
function filters() {
  for (const form of document.querySelectorAll("form.filter[data-whole]")) {
    const input = form.querySelector("input[type=search]");
    const section = document.getElementById(form.dataset.table);
    const rows = section.querySelectorAll("tbody tr");
    const shown = section.querySelector(".shown");
    input.addEventListener("input", () => {
      const word = input.value.toLowerCase();
      let n = 0;
      for (const row of rows) {
        row.hidden = !row.textContent.toLowerCase().includes(word);
        if (!row.hidden) n++;
      }
      shown.textContent = `${n} of ${rows.length} rows`;
    });
  }
}

// reload loads a page again after its number of seconds, unless somebody types there.
function reload() {
  const mark = document.querySelector("[data-reload]");
  if (!mark) return;
  const initial = new Map([...document.querySelectorAll("main input:not([type=hidden])")].map((i) => [i, i.value]));
  setInterval(() => {
    const typing = [...initial].some(([i, was]) => i.value !== was) || document.activeElement.matches("input, select");
    if (!typing && !document.hidden) location.reload();
  }, 1000 * mark.dataset.reload);
}

live();
filters();
reload();
