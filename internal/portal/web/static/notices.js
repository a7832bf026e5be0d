// Turns on notices of this browser (Web Push), on the page of an account.
(() => {
  const button = document.getElementById("push-on");
  const said = document.getElementById("push-said");
  if (!button || !("serviceWorker" in navigator) || !("PushManager" in window)) return;
  button.hidden = false;
  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  const tell = (key) => { said.textContent = said.dataset[key]; };
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      if ((await Notification.requestPermission()) !== "granted") return tell("denied");
      await navigator.serviceWorker.register("/sw.js");
      const worker = await navigator.serviceWorker.ready;
      const made = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytes(button.dataset.key) });
      const keys = made.toJSON().keys;
      const answer = await fetch("/api/v1/me/subscriptions", {
        method: "POST",
        headers: { "Content-Type": "application/json", "Portal-Form": button.dataset.form },
        body: JSON.stringify({ channel: "push", address: made.endpoint, p256dh: keys.p256dh, auth: keys.auth }),
      });
      tell(answer.ok ? "done" : "failed");
    } catch {
      tell("failed");
    } finally {
      button.disabled = false;
    }
  });
})();
