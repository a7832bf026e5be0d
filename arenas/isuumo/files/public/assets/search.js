// The search by conditions, for chairs and for estates. The address of the page
// has the same parameters as the request.
import { el, fill, get, run } from './common.js'

const perPage = 25

function rangeText({ prefix, suffix }, { min, max }) {
  if (min === -1) return `${prefix}${max}${suffix}未満`
  if (max === -1) return `${prefix}${min}${suffix}以上`
  return `${prefix}${min}〜${max}${suffix}`
}

function choice(type, name, value, text, checked) {
  const input = el('input', { type, name, value })
  input.checked = checked
  return el('label', {}, input, ' ', text)
}

// field offers the ranges or the labels of one condition.
function field({ name, title, condition }, params) {
  const chosen = params.get(name) ?? ''
  const box = el('fieldset', {}, el('legend', {}, title))
  if (name === 'features') {
    const labels = chosen === '' ? [] : chosen.split(',')
    const more = el('details', {}, el('summary', {}, '特徴を選ぶ'),
      ...condition.list.map(label => choice('checkbox', name, label, label, labels.includes(label))))
    more.open = labels.length > 0
    box.append(more)
    return box
  }
  const options = condition.ranges
    ? condition.ranges.map(r => [String(r.id), rangeText(condition, r)])
    : condition.list.map(label => [label, label])
  box.append(...[['', '指定なし'], ...options].map(([value, text]) => choice('radio', name, value, text, value === chosen)))
  return box
}

// paramsOf reads the form: what is not chosen is left out.
function paramsOf(form) {
  const params = new URLSearchParams()
  for (const [name, value] of new FormData(form)) {
    if (value === '') continue
    params.set(name, params.has(name) ? `${params.get(name)},${value}` : value)
  }
  return params
}

function pager(page, count, go) {
  const last = Math.ceil(count / perPage) - 1
  const button = (text, to, enabled) => {
    const b = el('button', { type: 'button', 'data-page': to }, text)
    b.disabled = !enabled
    b.addEventListener('click', () => go(to))
    return b
  }
  return el('div', { class: 'pages' }, button('前へ', page - 1, page > 0), `${page + 1} / ${last + 1} ページ`, button('次へ', page + 1, page < last))
}

// search builds the page. kind is "chair" or "estate"; fieldsOf names the
// conditions; card shows a result.
export function search(kind, fieldsOf, card) {
  const form = document.getElementById('conditions')
  const list = `${kind}s`

  async function show(params) {
    const page = Number(params.get('page') ?? 0)
    params.set('page', page)
    params.set('perPage', perPage)
    const found = await get(`/api/${kind}/search?${params}`)
    fill('results', found[list].length === 0 ? [] : [
      el('p', { id: 'count', 'data-count': found.count }, `${found.count.toLocaleString('ja-JP')}件`),
      el('div', { class: 'list' }, ...found[list].map(card)),
      pager(page, found.count, to => {
        params.set('page', to)
        open(params)
      }),
    ], '条件に合うものがありません。')
  }

  function open(params) {
    params.delete('perPage')
    history.pushState(null, '', `?${params}`)
    run('results', () => show(params))
  }

  const start = () => run('results', async () => {
    const params = new URLSearchParams(location.search)
    const fields = fieldsOf(await get(`/api/${kind}/search/condition`))
    form.replaceChildren(...fields.map(f => field(f, params)), el('button', {}, 'この条件で探す'))
    if (fields.some(f => params.get(f.name))) await show(params)
  })

  form.addEventListener('submit', event => {
    event.preventDefault()
    const params = paramsOf(form)
    if (params.size === 0) fill('results', [], '条件を一つ以上選んでください。')
    else open(params)
  })
  addEventListener('popstate', start)
  start()
}
