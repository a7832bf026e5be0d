// The requests of the page, and the one way in which it makes elements.

export class Refused extends Error {
  constructor(status, message) {
    super(message)
    this.status = status
  }
}

const reasons = {
  400: '入力内容を確かめてください。',
  401: 'ログインしてください。',
  403: 'この操作は許可されていません。',
  404: '見つかりませんでした。',
  429: '混み合っています。しばらくしてからもう一度お試しください。',
}

async function send(path, options) {
  let response
  try {
    response = await fetch(path, { credentials: 'same-origin', ...options })
  } catch {
    throw new Refused(0, 'サーバーに接続できません。')
  }
  const answer = await response.json().catch(() => null)
  if (!response.ok || !answer?.status) {
    const message = answer?.message === 'competition is finished' ? 'この大会は終了しています。' : ''
    throw new Refused(response.status, message || reasons[response.status] || `エラーが発生しました (${response.status})。`)
  }
  return answer.data
}

export const get = path => send(path)

// post sends a form: an object whose values are texts or lists of texts, or a FormData.
export function post(path, form = {}) {
  if (form instanceof FormData) return send(path, { method: 'POST', body: form })
  const body = new URLSearchParams()
  for (const [name, value] of Object.entries(form)) {
    for (const one of [value].flat()) body.append(name, one)
  }
  return send(path, { method: 'POST', body })
}

// h makes an element. Children are elements or texts, never HTML.
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value)
    else if (value === true) element.setAttribute(name, '')
    else if (value !== false && value != null) element.setAttribute(name, value)
  }
  element.append(...children.flat(Infinity).filter(child => child != null && child !== false))
  return element
}

export const yen = n => `${n.toLocaleString('ja-JP')} 円`
export const points = n => n.toLocaleString('ja-JP')
