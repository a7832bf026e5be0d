// The page of ISUPORTS: every path is drawn here, by the role of the account.
import { get, h, points, post, Refused, yen } from './api.js'

const app = document.getElementById('app')
let me

// draw shows the page of the current path.
async function draw() {
  document.querySelector('main')?.setAttribute('aria-busy', 'true')
  try {
    me = await get('/api/me')
  } catch (error) {
    show(problem(error.status === 500 ? 'このテナントは存在しません。' : error.message))
    return
  }
  const view = routes[me.role].find(([pattern]) => pattern.test(location.pathname))
  if (!view) {
    go('/', true)
    return
  }
  try {
    show(await view[1](...location.pathname.match(view[0]).slice(1)))
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    show(problem(error.message))
  }
}

function show(...content) {
  const title = me ? `${me.tenant.display_name} | ISUPORTS` : 'ISUPORTS'
  document.title = title
  app.replaceChildren(
    h('header', { class: 'top' },
      h('a', { href: '/' }, h('img', { src: '/img/logo.svg', alt: 'ISUPORTS' })),
      me && h('span', { class: 'tenant', id: 'tenant' }, me.tenant.display_name),
      me?.logged_in && menu()),
    h('main', {}, content),
    h('footer', {}, 'ISUPORTS — みんなの大会のランキング'))
}

const menus = {
  admin: [['/', '請求一覧'], ['/tenants/add', 'テナント追加']],
  organizer: [['/', '大会'], ['/players', '参加者'], ['/billing', '請求']],
  player: [['/', '大会'], ['/player', 'マイページ']],
}

const roleNames = { admin: '管理者', organizer: '主催者' }

function menu() {
  const here = location.pathname
  return h('nav', {},
    menus[me.role].map(([path, text]) => h('a', { href: path, 'aria-current': path === here && 'page' }, text)),
    h('span', { class: 'me', id: 'me' }, me.me ? me.me.display_name || '(名前なし)' : roleNames[me.role]),
    h('button', { class: 'plain', id: 'logout', onclick: logout }, 'ログアウト'))
}

async function logout() {
  await fetch('/auth/logout', { method: 'POST' })
  go('/')
}

const problem = text => h('p', { class: 'problem', role: 'alert' }, text)

function go(path, replace) {
  history[replace ? 'replaceState' : 'pushState'](null, '', path)
  draw()
}

// form makes a form whose submission calls send. An error is shown in it.
function form(attributes, send, ...children) {
  const result = h('div', { 'aria-live': 'polite' })
  const element = h('form', {
    ...attributes, onsubmit: async event => {
      event.preventDefault()
      const button = element.querySelector('button')
      button.disabled = true
      try {
        await send(element, text => result.replaceChildren(h('p', { class: 'notice' }, text)))
      } catch (error) {
        if (!(error instanceof Refused)) throw error
        result.replaceChildren(problem(error.message))
      } finally {
        button.disabled = false
      }
    },
  }, children, result)
  return element
}

const hero = (title, text) => h('div', { class: 'hero' }, h('img', { src: '/img/medal.svg', alt: '' }), h('div', {}, h('h1', {}, title), h('p', {}, text)))

// table makes a table. A column is a text, or a pair of text and class.
function table(id, columns, rows, empty) {
  if (rows.length === 0) return h('p', { class: 'empty' }, empty)
  const classes = columns.map(column => Array.isArray(column) ? column[1] : null)
  return h('table', { id },
    h('thead', {}, h('tr', {}, columns.map((column, i) => h('th', { class: classes[i] }, [column].flat()[0])))),
    h('tbody', {}, rows.map(({ cells, ...attributes }) => h('tr', attributes, cells.map((cell, i) => h('td', { class: classes[i] }, cell))))))
}

// Guests

function loginPage() {
  const login = (role, fields = () => ({})) => async element => {
    const response = await fetch(`/auth/login/${role}`, { method: 'POST', body: new URLSearchParams(fields(element)) })
    if (!response.ok) throw new Refused(response.status, 'ログインできません。')
    me = await get('/api/me')
    if (!me.logged_in) throw new Refused(401, 'この ID の参加者はいません。')
    go('/', true)
  }
  if (me.tenant.name === 'admin') {
    return [hero('SaaS 管理', 'すべてのテナントの請求を確認できます。'),
      h('div', { class: 'card' }, form({ id: 'login-admin' }, login('admin'), h('button', {}, '管理者としてログイン')))]
  }
  return [hero(me.tenant.display_name, '大会のランキングを見るにはログインしてください。'),
    h('div', { class: 'cards' },
      h('section', { class: 'card' }, h('h2', {}, '参加者'),
        form({ id: 'login-player' }, login('player', element => ({ id: element.elements.id.value.trim() })),
          h('label', {}, '参加者 ID', h('input', { name: 'id', required: true, autocomplete: 'off' })),
          h('button', {}, 'ログイン'))),
      h('section', { class: 'card' }, h('h2', {}, '主催者'),
        form({ id: 'login-organizer' }, login('organizer'), h('p', {}, '大会と参加者を管理します。'), h('button', {}, 'ログイン'))))]
}

// Admin

async function tenantsPage() {
  const before = new URLSearchParams(location.search).get('before')
  const { tenants } = await get('/api/admin/tenants/billing' + (before ? `?before=${encodeURIComponent(before)}` : ''))
  const address = name => `${location.protocol}//${location.host.replace(/^admin\./, `${name}.`)}/`
  const sum = tenants.reduce((sum, tenant) => sum + tenant.billing, 0)
  const last = tenants.at(-1)
  return [h('h1', {}, '請求一覧'), h('section', { class: 'card' },
    table('tenants', ['ID', 'テナント', '名前', ['請求額', 'number']], tenants.map(tenant => ({
      'data-id': tenant.id,
      cells: [tenant.id, h('a', { href: address(tenant.name) }, tenant.name), tenant.display_name, yen(tenant.billing)],
    })), 'テナントはありません。'),
    h('p', { class: 'actions' }, 'このページの合計 ', h('span', { class: 'total', id: 'sum' }, yen(sum))),
    h('div', { class: 'pages' },
      before ? h('a', { href: '/' }, '← 先頭へ') : h('span'),
      tenants.length === 10 ? h('a', { id: 'more', href: `/?before=${last.id}` }, '次の 10 件 →') : null))]
}

function addTenantPage() {
  return [h('h1', {}, 'テナント追加'), h('section', { class: 'card' },
    form({ id: 'add-tenant' }, async (element, say) => {
      const { name, display_name } = element.elements
      const { tenant } = await post('/api/admin/tenants/add', { name: name.value, display_name: display_name.value })
      element.reset()
      say(`${tenant.display_name} (${tenant.name}) を追加しました。`)
    },
    h('label', {}, 'テナント名(英小文字・数字・ハイフン)', h('input', { name: 'name', required: true, autocomplete: 'off' })),
    h('label', {}, '表示名', h('input', { name: 'display_name', required: true, autocomplete: 'off' })),
    h('button', {}, '追加')))]
}

// Organizers

const state = finished => h('span', { class: finished ? 'badge over' : 'badge' }, finished ? '終了' : '開催中')

async function competitionsPage() {
  const { competitions } = await get('/api/organizer/competitions')
  const actions = competition => competition.is_finished ? '' : [
    form({ class: 'upload' }, async element => {
      const { rows } = await post(`/api/organizer/competition/${competition.id}/score`, new FormData(element))
      note = `${competition.title}: ${points(rows)} 行のスコアを登録しました。`
      draw()
    }, h('input', { type: 'file', name: 'scores', accept: '.csv,text/csv', required: true, 'aria-label': `${competition.title} のスコア (CSV)` }),
    h('button', { class: 'small' }, '登録')),
    h('button', {
      class: 'small danger finish', onclick: async () => {
        await post(`/api/organizer/competition/${competition.id}/finish`)
        note = `${competition.title} を終了しました。`
        draw()
      },
    }, '終了'),
  ]
  return [h('h1', {}, '大会'), takeNote(),
    h('section', { class: 'card' }, h('h2', {}, '大会を追加'),
      form({ id: 'add-competition' }, async element => {
        const { competition } = await post('/api/organizer/competitions/add', { title: element.elements.title.value })
        note = `${competition.title} を追加しました。`
        draw()
      }, h('label', {}, '大会名', h('input', { name: 'title', required: true, autocomplete: 'off' })), h('button', {}, '追加'))),
    h('section', { class: 'card' }, table('competitions', ['大会名', '状態', ['スコア (CSV)', 'actions']], competitions.map(competition => ({
      'data-id': competition.id, cells: [competition.title, state(competition.is_finished), actions(competition)],
    })), '大会はまだありません。'))]
}

// note is shown once, by the next page.
let note = ''
function takeNote() {
  const text = note
  note = ''
  return text && h('p', { class: 'notice', role: 'status' }, text)
}

async function playersPage() {
  const { players } = await get('/api/organizer/players')
  return [h('h1', {}, '参加者'), takeNote(),
    h('section', { class: 'card' }, h('h2', {}, '参加者を追加'),
      form({ id: 'add-players' }, async element => {
        const names = element.elements.names.value.split('\n').map(name => name.trim()).filter(name => name)
        const added = await post('/api/organizer/players/add', { 'display_name[]': names })
        note = `${points(added.players.length)} 人を追加しました。`
        draw()
      }, h('label', {}, '名前(1 行に 1 人)', h('textarea', { name: 'names', rows: 3, required: true })), h('button', {}, '追加'))),
    h('section', { class: 'card' }, h('h2', {}, `${points(players.length)} 人`),
      table('players', ['ID', '名前', '', ['', 'actions']], players.map(player => ({
        'data-id': player.id,
        cells: [h('span', { class: 'id' }, player.id), player.display_name || '(名前なし)',
          player.is_disqualified ? h('span', { class: 'badge out' }, '失格') : '',
          player.is_disqualified ? '' : h('button', {
            class: 'small danger', onclick: async () => {
              await post(`/api/organizer/player/${player.id}/disqualified`)
              note = `${player.display_name} を失格にしました。`
              draw()
            },
          }, '失格にする')],
      })), '参加者はまだいません。'))]
}

async function billingPage() {
  const { reports } = await get('/api/organizer/billing')
  return [h('h1', {}, '請求'), h('section', { class: 'card' },
    h('p', {}, '合計 ', h('span', { class: 'total', id: 'sum' }, yen(reports.reduce((sum, report) => sum + report.billing_yen, 0)))),
    table('reports', ['大会名', ['参加者', 'number'], ['閲覧者', 'number'], ['参加料', 'number'], ['閲覧料', 'number'], ['合計', 'number']],
      reports.map(report => ({
        'data-id': report.competition_id,
        cells: [report.competition_title, points(report.player_count), points(report.visitor_count),
          yen(report.billing_player_yen), yen(report.billing_visitor_yen), yen(report.billing_yen)],
      })), '大会はまだありません。'),
    h('p', { class: 'empty' }, '開催中の大会は請求されません。'))]
}

// Players

async function playerCompetitionsPage() {
  const { competitions } = await get('/api/player/competitions')
  return [hero(me.tenant.display_name, `${me.me.display_name} さん、ようこそ。`),
    h('section', { class: 'card' }, table('competitions', ['大会名', '状態'], competitions.map(competition => ({
      'data-id': competition.id,
      cells: [h('a', { href: `/competition/${competition.id}` }, competition.title || '(無題)'), state(competition.is_finished)],
    })), '大会はまだありません。'))]
}

async function rankingPage(id) {
  const after = Number(new URLSearchParams(location.search).get('rank_after')) || 0
  const { competition, ranks } = await get(`/api/player/competition/${id}/ranking${after ? `?rank_after=${after}` : ''}`)
  return [h('h1', {}, competition.title || '(無題)', ' ', state(competition.is_finished)),
    h('section', { class: 'card' }, table('ranking', ['順位', '参加者', ['スコア', 'number']], ranks.map(rank => ({
      'data-id': rank.player_id,
      class: [rank.rank <= 3 && 'top3', rank.player_id === me.me.id && 'own'].filter(Boolean).join(' ') || null,
      cells: [rank.rank, h('a', { href: `/player/${rank.player_id}` }, rank.player_display_name || '(名前なし)'), points(rank.score)],
    })), 'スコアはまだありません。'),
    h('div', { class: 'pages' },
      after > 0 ? h('a', { href: `/competition/${id}?rank_after=${Math.max(0, after - 100)}` }, '← 前の 100 件') : h('span'),
      ranks.length === 100 ? h('a', { id: 'more', href: `/competition/${id}?rank_after=${after + 100}` }, '次の 100 件 →') : null))]
}

async function playerPage(id = me.me.id) {
  const { player, scores } = await get(`/api/player/player/${id}`)
  return [h('h1', {}, player.display_name || '(名前なし)'),
    h('p', {}, h('span', { class: 'id' }, player.id), ' ', player.is_disqualified && h('span', { class: 'badge out' }, '失格')),
    h('section', { class: 'card' }, h('h2', {}, '成績'), table('scores', ['大会名', ['スコア', 'number']],
      scores.map(score => ({ cells: [score.competition_title, points(score.score)] })), 'スコアはまだありません。'))]
}

const routes = {
  none: [[/^\//, loginPage]],
  admin: [[/^\/$/, tenantsPage], [/^\/tenants\/add$/, addTenantPage]],
  organizer: [[/^\/$/, competitionsPage], [/^\/players$/, playersPage], [/^\/billing$/, billingPage]],
  player: [[/^\/$/, playerCompetitionsPage], [/^\/competition\/([^/]+)$/, rankingPage], [/^\/player(?:\/([^/]+))?$/, playerPage]],
}

addEventListener('popstate', draw)
document.addEventListener('click', event => {
  const link = event.target.closest?.('a')
  if (!link || link.origin !== location.origin || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return
  event.preventDefault()
  go(link.pathname + link.search)
})
draw()
