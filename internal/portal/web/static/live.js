// Keeps a page up to date: it counts clocks down, and loads the page's content again when the
// stream says that something changed. Typed text is never lost: a page with a field in use waits.
(() => {
  const left = (s) => {
    const two = (n) => String(n).padStart(2, "0");
    return s >= 3600 ? `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}` : `${Math.floor(s / 60)}:${two(s % 60)}`;
  };
  let began = performance.now();
  setInterval(() => {
    for (const e of document.querySelectorAll("[data-left]")) {
      e.textContent = left(Math.max(0, Math.round(e.dataset.left - (performance.now() - began) / 1000)));
    }
  }, 500);
  const round = document.body.dataset.round;
  if (!round || !("EventSource" in window)) return;
  const typing = () => {
    const e = document.activeElement;
    if (e && ["TEXTAREA", "INPUT", "SELECT"].includes(e.tagName)) return true;
    return [...document.querySelectorAll("main textarea, main input:not([type=hidden])")].some((f) => f.value && f.value !== f.defaultValue);
  };
  let due = 0;
  const again = () => {
    clearTimeout(due);
    due = setTimeout(async () => {
      if (typing()) return again();
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
      if (!answer || !answer.ok) return;
      const next = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
      if (!next) return;
      const open = [...document.querySelectorAll("main details")].map((d) => d.open);
      document.querySelector("main").replaceWith(next);
      document.querySelectorAll("main details").forEach((d, i) => { d.open = !!open[i]; });
      began = performance.now();
    }, 300 + Math.random() * 400);
  };
  const events = new EventSource(`/api/v1/rounds/${encodeURIComponent(round)}/stream`);
  events.addEventListener("open", () => { document.body.dataset.live = "on"; }); // what happens from now on arrives
  let first = true;
  events.addEventListener("board", () => {
    if (!first && document.getElementById("board")) again();
    first = false;
  });
  for (const kind of ["clock", "reset", "message"]) events.addEventListener(kind, again);
  events.addEventListener("job", (e) => {
    const job = document.getElementById("job");
    const m = JSON.parse(e.data);
    if (!job || (m.id || m.job) !== job.dataset.job) return;
    const score = document.getElementById("score");
    if (m.kind === "progress" && score && m.progress) score.textContent = Math.round(m.progress.score).toLocaleString("en");
    else again();
  });
})();
