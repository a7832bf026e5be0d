import {
  almanac, dateText, dayField, fill, fromField, h, levelBar, lineChart, midnight, moon, routes, secondField, strips, timeText,
} from './vendor.54e3537c.js'

const logoWhite = '/assets/logo_white.354e22d5.svg'
const logoOrange = '/assets/logo_orange.e12509c5.svg'
const jia = `${location.protocol}//${location.hostname}:5000`
const levels = { info: '良好', warning: '注意', critical: '危険' }
const flags = { is_dirty: '汚れ', is_overweight: '重さ', is_broken: '故障' }
const pageSize = 20
const refreshAfter = 5000

// ---- talking to the app

class Refused extends Error {
  constructor(status, text) {
    super(text || `サーバーエラー（${status}）`)
    this.status = status
  }
}

async function call(path, options) {
  const answer = await fetch(path, { credentials: 'same-origin', ...options })
  if (!answer.ok) throw new Refused(answer.status, (await answer.text()).slice(0, 200))
  return answer
}

const read = async path => (await call(path)).json()
const query = values => new URLSearchParams(Object.entries(values).filter(([, v]) => v !== '' && v !== null && v !== undefined)).toString()

// ---- the frame of every page

const app = document.getElementById('app')
const main = h('main')
let me = null
let timer = null

function link(path, text, kind) {
  return h(`a${kind ? '.' + kind : ''}`, {
    href: path,
    click: event => {
      if (event.metaKey || event.ctrlKey || event.shiftKey) return
      event.preventDefault()
      go(path)
    },
  }, text)
}

function go(path) {
  history.pushState(null, '', path)
  render()
}

function header() {
  return h('header.top', {},
    link('/', h('img', { src: logoWhite, alt: 'ISUCONDITION', height: 30 }), 'brand'),
    h('nav', {}, me
      ? [link('/', 'いす一覧'), link('/register', 'いすを登録'), h('span.me', { id: 'me' }, me), h('button.plain', { click: signOut }, 'ログアウト')]
      : h('a.button', { id: 'login', href: loginAddress() }, 'JIAのアカウントでログイン')))
}

const loginAddress = () => `${jia}/?${query({ callback: location.origin + location.pathname })}`

async function signOut() {
  await call('/api/signout', { method: 'POST' })
  me = null
  go('/')
}

const badge = level => h(`span.badge.${level}`, {}, levels[level])
const icon = (uuid, size) => h('img.icon', { src: `/api/isu/${uuid}/icon`, alt: '', width: size, height: size, loading: size > 100 ? 'eager' : 'lazy' })

function bubble(condition) {
  return h(`div.bubble.${condition.condition_level}`, {}, condition.message)
}

function troubles(condition) {
  const bad = condition.condition.split(',').map(part => part.split('=')).filter(([, value]) => value === 'true')
  return h('span.flags', {},
    condition.is_sitting ? h('span.flag.sitting', {}, '着席中') : null,
    bad.map(([name]) => h('span.flag', {}, flags[name] || name)))
}

// ---- pages

async function home() {
  return me ? list() : landing()
}

async function landing() {
  const turn = shown
  const trend = h('section.trend', { id: 'trend' })
  const refresh = async () => {
    try {
      fill(trend, trendCards(await read('/api/trend')))
    } catch (problem) {
      fill(trend, h('p.problem', {}, problem.message))
    }
    if (turn === shown) timer = setTimeout(refresh, refreshAfter)
  }
  await refresh()
  return [
    h('section.hero', {},
      h('img', { src: logoOrange, alt: 'ISUCONDITION', height: 64 }),
      h('h1', {}, 'いすの気持ち、', h('br'), '見えていますか。'),
      h('p', {}, 'ISUCONDITION は、あなたのいすから届く「いまの調子」を見守るサービスです。'),
      h('a.button.big', { href: loginAddress() }, 'JIAのアカウントでログイン')),
    h('h2', {}, 'みんなのいす'),
    h('p.quiet', {}, '性格ごとの、いまの調子'),
    trend,
  ]
}

function trendCards(trend) {
  return trend.map(group => {
    const counts = Object.fromEntries(Object.keys(levels).map(level => [level, group[level].length]))
    return h('article.card.character', { 'data-character': group.character },
      h('h3', {}, group.character),
      levelBar(counts),
      h('ul', {}, Object.entries(levels).map(([level, name]) =>
        h(`li.${level}`, {}, h('b', {}, String(counts[level])), ` ${name}`,
          group[level][0] ? h('time', {}, timeText(group[level][0].timestamp)) : null))))
  })
}

async function list() {
  const isus = await read('/api/isu')
  return [
    h('h1', {}, 'いす一覧'),
    isus.length === 0
      ? h('p.empty', {}, 'まだいすがありません。', link('/register', 'さっそく登録しましょう', 'button'))
      : h('div.grid', { id: 'list' }, isus.map(isuCard)),
  ]
}

function isuCard(isu) {
  const newest = isu.latest_isu_condition
  return h('article.card.isu', { 'data-uuid': isu.jia_isu_uuid },
    link(`/isu/${isu.jia_isu_uuid}`, [
      icon(isu.jia_isu_uuid, 96),
      h('div', {},
        h('h3', {}, isu.name),
        h('p.quiet', {}, isu.character),
        newest ? badge(newest.condition_level) : h('span.badge', {}, '便りなし'))], 'whole'),
    newest ? [bubble(newest), h('p.quiet', {}, h('time', {}, timeText(newest.timestamp)), troubles(newest))] : null)
}

async function isuFrame(uuid, current, ...content) {
  const isu = await read(`/api/isu/${uuid}`)
  const tab = (path, text) => {
    const a = link(path, text)
    if (text === current) a.setAttribute('aria-current', 'page')
    return a
  }
  return [
    h('section.head', { id: 'isu', 'data-uuid': isu.jia_isu_uuid },
      icon(isu.jia_isu_uuid, 140),
      h('div', {}, h('h1', {}, isu.name), h('p.quiet', {}, isu.character), h('code', {}, isu.jia_isu_uuid))),
    h('nav.tabs', {}, tab(`/isu/${uuid}`, '詳細'), tab(`/isu/${uuid}/condition`, '履歴'), tab(`/isu/${uuid}/graph`, 'グラフ')),
    content,
  ]
}

// conditions reads one page of the history; without an end, from the newest on.
function conditions(uuid, { end, start, level } = {}) {
  const endTime = end || Math.floor(Date.now() / 1000) + 86400
  return read(`/api/condition/${uuid}?` + query({ end_time: endTime, start_time: start, condition_level: level || Object.keys(levels).join(',') }))
}

async function detail({ uuid }) {
  const newest = (await conditions(uuid))[0]
  if (!newest) return isuFrame(uuid, '詳細', h('p.empty', {}, 'このいすからは、まだ便りがありません。'))
  const sky = almanac(newest.timestamp)
  return isuFrame(uuid, '詳細',
    h('section.card.now', { id: 'now' },
      h('div', {}, badge(newest.condition_level), troubles(newest)),
      bubble(newest),
      h('p.quiet', {}, h('time', {}, timeText(newest.timestamp)), ' の便り', sky ? moon(sky.moonAge) : null)),
    h('p', {}, link(`/isu/${uuid}/graph?datetime=${midnight(newest.timestamp)}`, 'この日のグラフを見る', 'button')))
}

async function history_({ uuid }) {
  const wanted = new URLSearchParams(location.search)
  const chosen = (wanted.get('condition_level') || Object.keys(levels).join(',')).split(',')
  const start = wanted.get('start_time') || ''
  const end = wanted.get('end_time') || ''
  const page = await conditions(uuid, { end, start, level: chosen.join(',') })
  const at = values => `/isu/${uuid}/condition?` + query(values)

  const form = h('form.filter', {
    submit: event => {
      event.preventDefault()
      const field = name => form.elements[name].value
      const level = Object.keys(levels).filter(name => form.elements[name].checked).join(',')
      if (level) go(at({ condition_level: level, start_time: field('start') && fromField(field('start')), end_time: field('end') && fromField(field('end')) }))
    },
  },
  Object.entries(levels).map(([level, name]) => h('label', {}, h('input', { type: 'checkbox', name: level, checked: chosen.includes(level) }), badge(level))),
  h('label', {}, 'ここから', h('input', { type: 'datetime-local', step: 1, name: 'start', value: start && secondField(Number(start)) })),
  h('label', {}, 'これより前', h('input', { type: 'datetime-local', step: 1, name: 'end', value: end && secondField(Number(end)) })),
  h('button.button', {}, '絞り込む'))

  const older = page.length === pageSize ? at({ condition_level: chosen.join(','), start_time: start, end_time: page.at(-1).timestamp }) : null
  return isuFrame(uuid, '履歴', form,
    page.length === 0 ? h('p.empty', {}, 'この範囲に便りはありません。') : h('table.history', { id: 'conditions' },
      h('thead', {}, h('tr', {}, ['日時', '調子', '状態', 'ひとこと'].map(name => h('th', {}, name)))),
      h('tbody', {}, page.map(c => h('tr', { 'data-timestamp': c.timestamp, 'data-level': c.condition_level },
        h('td', {}, h('time', {}, timeText(c.timestamp))), h('td', {}, badge(c.condition_level)), h('td', {}, troubles(c)), h('td', {}, c.message))))),
    h('p.pager', {},
      end ? link(at({ condition_level: chosen.join(','), start_time: start }), '最新へ', 'button') : null,
      older ? h('span', { id: 'older' }, link(older, `前の${pageSize}件`, 'button')) : null))
}

async function graph({ uuid }) {
  let day = Number(new URLSearchParams(location.search).get('datetime'))
  if (!day) {
    const newest = (await conditions(uuid))[0]
    day = midnight(newest ? newest.timestamp : Math.floor(Date.now() / 1000))
  }
  const hours = await read(`/api/isu/${uuid}/graph?datetime=${day}`)
  const sky = almanac(day)
  const share = name => hours.map(hour => hour.data && hour.data.percentage[name])
  const count = hours.reduce((sum, hour) => sum + hour.condition_timestamps.length, 0)
  const to = when => `/isu/${uuid}/graph?datetime=${when}`
  return isuFrame(uuid, 'グラフ',
    h('section.card', { id: 'graph', 'data-day': day },
      h('div.dayline', {},
        link(to(day - 86400), '← 前の日', 'button'),
        h('input', { type: 'date', value: dayField(day), 'aria-label': '日付', change: event => event.target.value && go(to(fromField(event.target.value))) }),
        link(to(day + 86400), '次の日 →', 'button')),
      h('h2', {}, dateText(day), sky ? moon(sky.moonAge) : null),
      h('p.quiet', {}, `便り ${count}件`, sky ? `・東京の日の出 ${clock(sky.rise)}・日の入 ${clock(sky.set)}` : null),
      h('h3', {}, 'スコア'),
      lineChart(day, hours.map(hour => hour.data && hour.data.score), '1時間ごとのスコア'),
      h('h3', {}, '割合'),
      strips(day, [
        { name: '着席', kind: 'sitting', values: share('sitting') },
        { name: '汚れ', kind: 'bad', values: share('is_dirty') },
        { name: '重さ', kind: 'bad', values: share('is_overweight') },
        { name: '故障', kind: 'bad', values: share('is_broken') },
      ], '1時間ごとの状態の割合')))
}

const clock = minutes => `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}`

async function register() {
  const problem = h('p.problem', { role: 'alert' })
  const preview = h('img.icon', { alt: '', width: 140, height: 140, hidden: true })
  const form = h('form.card.register', {
    id: 'register',
    submit: async event => {
      event.preventDefault()
      fill(problem)
      const body = new FormData(form)
      if (!body.get('image') || body.get('image').size === 0) body.delete('image')
      try {
        const isu = await (await call('/api/isu', { method: 'POST', body })).json()
        go(`/isu/${isu.jia_isu_uuid}`)
      } catch (refused) {
        fill(problem, refused.message)
      }
    },
  },
  h('label', {}, 'JIAのいすID', h('input', { name: 'jia_isu_uuid', required: true, maxlength: 36, placeholder: '11acc362-6af6-4abc-ad29-9eeba4d6dc52' })),
  h('label', {}, 'いすの名前', h('input', { name: 'isu_name', required: true, maxlength: 255 })),
  h('label', {}, '写真（JPEG、なくても可）', h('input', {
    name: 'image', type: 'file', accept: 'image/jpeg',
    change: event => {
      const [file] = event.target.files
      preview.hidden = !file
      if (file) preview.src = URL.createObjectURL(file)
    },
  })),
  preview, problem, h('button.button', {}, '登録する'))
  return [h('h1', {}, 'いすを登録'), form]
}

// ---- showing

const guest = () => [h('h1', {}, 'ログインしてください'), h('p', {}, 'このページはいすの持ち主だけが見られます。'), h('a.button', { href: loginAddress() }, 'JIAのアカウントでログイン')]
const forAll = new Set([home])
const find = routes({
  '/': home,
  '/register': register,
  '/isu/:uuid': detail,
  '/isu/:uuid/condition': history_,
  '/isu/:uuid/graph': graph,
})

let shown = 0

async function render() {
  const turn = ++shown
  clearTimeout(timer)
  timer = null
  const found = find(location.pathname)
  main.setAttribute('aria-busy', 'true')
  let content
  try {
    if (!found) content = h('p.problem', {}, 'ページが見つかりません。')
    else if (!me && !forAll.has(found.page)) content = guest()
    else content = await found.page(found.params)
  } catch (problem) {
    if (problem.status === 401) me = null
    content = problem.status === 401 ? guest() : h('p.problem', {}, problem.message)
  }
  if (turn !== shown) return
  fill(app, header(), main, h('footer', {}, 'ISUCONDITION — いすと人の、ちょうどいい距離'))
  fill(main, content).setAttribute('aria-busy', 'false')
}

async function start() {
  const wanted = new URLSearchParams(location.search)
  const token = wanted.get('jwt')
  if (token) {
    wanted.delete('jwt')
    try {
      await call('/api/auth', { method: 'POST', headers: { Authorization: `Bearer ${token}` } })
    } catch (refused) {
      console.error('signing in:', refused.message)
    }
    const rest = wanted.toString()
    history.replaceState(null, '', location.pathname + (rest ? '?' + rest : ''))
  }
  try {
    me = (await read('/api/user/me')).jia_user_id
  } catch {
    me = null
  }
  addEventListener('popstate', render)
  await render()
}

start()
