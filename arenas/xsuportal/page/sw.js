// The service worker: shows a pushed notification, whose text is a protobuf in base64.
self.addEventListener('push', event => {
  const text = event.data ? event.data.text() : ''
  event.waitUntil(self.registration.showNotification('XSUCON', { body: 'There is news for your team.', data: text }))
})
self.addEventListener('notificationclick', event => {
  event.notification.close()
  event.waitUntil(self.clients.openWindow('/contestant'))
})
