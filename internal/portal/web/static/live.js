// Keeps a page up to date: the board and a run are loaded again when the stream says that they changed.
(() => {
  const round = document.body.dataset.round;
  if (!round || !("EventSource" in window)) return;
  const job = document.getElementById("job"), board = document.getElementById("board");
  let due = 0;
  const again = () => {
    clearTimeout(due);
    due = setTimeout(async () => {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (!answer.ok) return;
      const next = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
      if (next) document.querySelector("main").replaceWith(next);
    }, 250);
  };
  const events = new EventSource(`/api/v1/rounds/${encodeURIComponent(round)}/stream`);
  let first = true;
  events.addEventListener("board", () => { if (board && !first) again(); first = false; });
  events.addEventListener("clock", again);
  events.addEventListener("reset", again);
  events.addEventListener("job", (e) => {
    const m = JSON.parse(e.data);
    if (!job || m.id !== job.dataset.job) return;
    const score = document.getElementById("score");
    if (m.kind === "progress" && score) score.textContent = Math.round(m.progress.score);
    else again();
  });
})();
