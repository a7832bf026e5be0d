// Helpers of the pages: elements, requests.
'use strict'
function el(name, attributes, ...children) {
  const e = document.createElement(name)
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith('on')) e.addEventListener(key.slice(2), value)
    else e.setAttribute(key, value)
  }
  e.append(...children.filter(c => c !== null && c !== undefined))
  return e
}
async function call(method, path, body) {
  const form = body instanceof FormData
  const answer = await fetch(path, {
    method,
    headers: body && !form ? { 'Content-Type': 'application/json' } : {},
    body: body && !form ? JSON.stringify(body) : body,
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(answer.status + ' ' + text)
  const json = (answer.headers.get('Content-Type') || '').startsWith('application/json')
  return { data: json ? JSON.parse(text) : text, link: answer.headers.get('Link') || '' }
}
