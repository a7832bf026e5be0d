// Shows notices of the portal. The id of a notice is its tag: one that comes twice is shown once.
self.addEventListener("push", (e) => {
  let n = {};
  try { n = e.data.json(); } catch { return; }
  e.waitUntil(self.registration.showNotification(n.title || "", { body: n.text || "", tag: n.id, data: n.url, icon: "/static/icon.svg" }));
});
self.addEventListener("notificationclick", (e) => {
  e.notification.close();
  const url = new URL(e.notification.data || "/", self.location.origin);
  if (url.origin !== self.location.origin) return;
  e.waitUntil(self.clients.openWindow(url.href));
});
