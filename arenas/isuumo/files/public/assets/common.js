// What all pages use: the API, and elements that show chairs and estates.

// An ApiError is an answer with another status than 2xx.
export class ApiError extends Error {
  constructor(status) {
    super(`status ${status}`)
    this.status = status
  }
}

async function call(path, options) {
  const res = await fetch(path, options)
  if (!res.ok) throw new ApiError(res.status)
  const text = await res.text()
  return text === '' ? null : JSON.parse(text)
}

export const get = path => call(path)

export const post = (path, body) =>
  call(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })

// el makes an element. Children are elements or texts; texts are never read as HTML.
export function el(tag, attributes = {}, ...children) {
  const e = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value)
  e.append(...children)
  return e
}

export const yen = n => `${n.toLocaleString('ja-JP')}円`

export const featureText = features => (features === '' ? 'なし' : features.split(',').join('、'))

function card(kind, row, price, lines) {
  return el('a', { class: 'card', href: `/${kind}/detail?id=${row.id}`, 'data-kind': kind, 'data-id': row.id },
    el('img', { src: row.thumbnail, alt: '', loading: 'lazy' }),
    el('div', {}, el('b', {}, row.name), el('span', { class: 'price' }, price), ...lines.map(l => el('div', { class: 'small', style: 'padding:0' }, l))))
}

export const chairCard = c =>
  card('chair', c, yen(c.price), [`${c.kind}・${c.color}`, `幅${c.width} 奥行${c.depth} 高さ${c.height} cm`])

export const estateCard = e =>
  card('estate', e, `月 ${yen(e.rent)}`, [e.address, `ドア 幅${e.doorWidth} 高さ${e.doorHeight} cm`])

export const problem = text => el('p', { class: 'problem', role: 'alert' }, text)

// fill shows elements in a place, or a sentence if there is none.
export function fill(id, elements, none) {
  const place = document.getElementById(id)
  place.replaceChildren(...(elements.length ? elements : [el('p', { class: 'note' }, none)]))
}

// run shows a problem in a place if an action fails.
export async function run(id, action) {
  try {
    await action()
  } catch (err) {
    console.error(err)
    document.getElementById(id).replaceChildren(problem(err instanceof ApiError && err.status === 404
      ? '見つかりませんでした。' : '読み込めませんでした。しばらくしてからもう一度お試しください。'))
  }
}

// facts is a list of terms and texts.
export const facts = rows => el('dl', {}, ...rows.flatMap(([term, text]) => [el('dt', {}, term), el('dd', {}, text)]))

// mailForm is a form that posts an address to a path. done is shown afterwards.
export function mailForm(path, label, done) {
  const input = el('input', { type: 'email', name: 'email', required: '', placeholder: 'you@example.com', 'aria-label': 'メールアドレス' })
  const button = el('button', {}, label)
  const form = el('form', { class: 'mail' }, input, ' ', button)
  form.addEventListener('submit', async event => {
    event.preventDefault()
    button.disabled = true
    try {
      await post(path, { email: input.value })
      form.replaceWith(el('p', { class: 'note', id: 'done' }, done))
    } catch (err) {
      button.disabled = false
      form.querySelector('.problem')?.remove()
      form.append(problem(err instanceof ApiError && err.status === 404 ? '売り切れました。' : '送信できませんでした。'))
    }
  })
  return form
}
