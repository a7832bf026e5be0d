// The pages of ISUCHOLAR: each is a function of the hash of the address.
'use strict'
const days = { monday: '月', tuesday: '火', wednesday: '水', thursday: '木', friday: '金' }
const statuses = { registration: '登録受付中', 'in-progress': '開講中', closed: '終了' }
let me = null

const view = () => document.getElementById('view')
function show(...children) { view().replaceChildren(...children) }
function problem(error) { view().prepend(el('p', { class: 'problem' }, String(error.message || error))) }
function acting(act) {
  return event => { event.preventDefault(); act(event).catch(problem) }
}
function field(name, label, attributes) {
  return el('label', {}, label, el('input', { name, required: '', ...attributes }))
}
function values(event) { return Object.fromEntries(new FormData(event.target)) }

function table(heads, rows) {
  return el('table', {}, el('thead', {}, el('tr', {}, ...heads.map(h => el('th', {}, h)))),
    el('tbody', {}, ...rows.map(r => el('tr', {}, ...r.map(c => el('td', {}, c))))))
}

// pager shows the links of the header Link.
function pager(link, open) {
  const p = el('p', { class: 'pager' })
  for (const [, target, rel] of link.matchAll(/<([^>]*)>; rel="(\w+)"/g)) {
    p.append(el('button', { 'data-rel': rel, onclick: acting(() => open(target)) }, rel === 'prev' ? '前へ' : '次へ'))
  }
  return p
}

function loginPage() {
  document.getElementById('nav').replaceChildren()
  show(el('h1', {}, 'ログイン'), el('form', { id: 'login', onsubmit: acting(async event => {
    await call('POST', '/login', values(event))
    await start()
  }) }, field('code', '学内コード'), field('password', 'パスワード', { type: 'password' }), el('button', {}, 'ログイン')))
}

async function topPage() {
  const courses = (await call('GET', '/api/users/me/courses')).data
  const rows = [1, 2, 3, 4, 5, 6].map(period => [String(period), ...Object.keys(days).map(day => {
    const c = courses.find(c => c.period === period && c.day_of_week === day)
    return c ? el('a', { href: '#course/' + c.id, 'data-course': c.id }, c.name) : ''
  })])
  show(el('h1', {}, '時間割'), table(['時限', ...Object.values(days)], rows))
}

async function searchPage() {
  const list = el('div', { id: 'found' })
  const chosen = new Set()
  const open = async path => {
    const { data, link } = await call('GET', path)
    list.replaceChildren(table(['', 'コード', '科目', '教員', '曜日時限', '単位', '状態'], data.map(c => [
      c.status === 'registration' && !me.is_admin ? el('input', { type: 'checkbox', value: c.id,
        onchange: event => { if (event.target.checked) chosen.add(c.id); else chosen.delete(c.id) } }) : '',
      c.code, el('a', { href: '#course/' + c.id, 'data-course': c.id }, c.name), c.teacher, days[c.day_of_week] + c.period, String(c.credit), statuses[c.status]])),
    pager(link, open))
  }
  show(el('h1', {}, '科目検索'), el('form', { id: 'search', onsubmit: acting(event => {
    const query = new URLSearchParams(Object.entries(values(event)).filter(([, v]) => v !== ''))
    return open('/api/courses?' + query)
  }) }, el('label', {}, 'キーワード', el('input', { name: 'keywords' })), el('label', {}, '教員', el('input', { name: 'teacher' })),
  el('label', {}, '時限', el('input', { name: 'period', type: 'number', min: 1, max: 6 })), el('button', {}, '検索')), list,
  me.is_admin ? null : el('button', { id: 'register', onclick: acting(async () => {
    await call('PUT', '/api/users/me/courses', [...chosen].map(id => ({ id })))
    location.hash = ''
  }) }, '選んだ科目を履修登録する'))
  await open('/api/courses')
}

async function coursePage(id) {
  const course = (await call('GET', '/api/courses/' + id)).data
  const classes = (await call('GET', '/api/courses/' + id + '/classes')).data
  const again = () => coursePage(id)
  const rows = classes.map(c => {
    const path = '/api/courses/' + id + '/classes/' + c.id + '/assignments'
    const upload = el('form', { 'data-class': c.id, onsubmit: acting(async event => {
      await call('POST', path, new FormData(event.target))
      await again()
    }) }, el('input', { type: 'file', name: 'file', required: '' }), el('button', {}, '提出'))
    const own = me.is_admin ? el('a', { href: path + '/export', download: c.id + '.zip' }, '提出物') : c.submission_closed ? '' : upload
    return [String(c.part), c.title, c.description, c.submission_closed ? '締切' : '受付中', c.submitted ? '提出済' : '', own]
  })
  show(el('h1', {}, course.name), el('p', {}, course.description), el('p', {}, course.teacher + ' / ' + statuses[course.status]),
    table(['回', '題', '内容', '課題', '', ''], rows), me.is_admin ? teacherForms(course, classes, again) : null)
}

function teacherForms(course, classes, again) {
  const path = '/api/courses/' + course.id
  return el('section', {}, ...['in-progress', 'closed'].map(status => el('button', { 'data-status': status, onclick: acting(async () => {
    await call('PUT', path + '/status', { status })
    await again()
  }) }, statuses[status] + 'にする')), el('form', { id: 'class', onsubmit: acting(async event => {
    await call('POST', path + '/classes', { ...values(event), part: classes.length + 1 })
    await again()
  }) }, field('title', '題'), field('description', '内容'), el('button', {}, '講義を追加')))
}

async function gradesPage() {
  const { summary, courses } = (await call('GET', '/api/users/me/grades')).data
  show(el('h1', {}, '成績'), el('p', { id: 'gpa' }, 'GPA ' + summary.gpa.toFixed(2) + '、取得単位 ' + summary.credits),
    table(['コード', '科目', '得点', '偏差値', '平均'], courses.map(c =>
      [c.code, c.name, String(c.total_score), c.total_score_t_score.toFixed(1), c.total_score_avg.toFixed(1)])))
}

async function announcementsPage(path) {
  const { data, link } = await call('GET', path)
  show(el('h1', {}, 'お知らせ'), el('p', { id: 'unread' }, '未読 ' + data.unread_count),
    table(['', '科目', '題'], data.announcements.map(a => [a.unread ? '未読' : '', a.course_name,
      el('a', { href: '#announcement/' + a.id, 'data-announcement': a.id }, a.title)])), pager(link, announcementsPage))
}

async function announcementPage(id) {
  const a = (await call('GET', '/api/announcements/' + id)).data
  show(el('h1', {}, a.title), el('p', {}, a.course_name), el('p', { id: 'message' }, a.message))
}

async function newCoursePage() {
  const choice = (name, label, options) => el('label', {}, label, el('select', { name }, ...options.map(([v, t]) => el('option', { value: v }, t))))
  show(el('h1', {}, '科目を開く'), el('form', { id: 'new', onsubmit: acting(async event => {
    const v = values(event)
    const { data } = await call('POST', '/api/courses', { ...v, credit: Number(v.credit), period: Number(v.period) })
    location.hash = 'course/' + data.id
  }) }, field('code', 'コード'), field('name', '科目'), field('description', '内容'), field('keywords', 'キーワード'),
  field('credit', '単位', { type: 'number', min: 1, max: 3 }), field('period', '時限', { type: 'number', min: 1, max: 6 }),
  choice('day_of_week', '曜日', Object.entries(days)), choice('type', '区分', [['liberal-arts', '一般教養'], ['major-subjects', '専門']]),
  el('button', {}, '開く')))
}

function route() {
  const [page, id] = location.hash.slice(1).split('/')
  const pages = { search: searchPage, course: coursePage, grades: gradesPage, announcement: announcementPage, new: newCoursePage,
    announcements: () => announcementsPage('/api/announcements') }
  return (pages[page] || topPage)(id)
}

async function start() {
  try { me = (await call('GET', '/api/users/me')).data } catch { return loginPage() }
  const links = me.is_admin ? [['search', '科目'], ['new', '科目を開く']] : [['', '時間割'], ['search', '科目検索'], ['grades', '成績'], ['announcements', 'お知らせ']]
  document.getElementById('nav').replaceChildren(el('span', { id: 'me' }, me.name), ...links.map(([to, text]) => el('a', { href: '#' + to }, text)),
    el('button', { id: 'logout', onclick: acting(async () => { await call('POST', '/logout'); me = null; loginPage() }) }, 'ログアウト'))
  await route()
}

window.addEventListener('hashchange', () => { if (me) route().catch(problem) })
start().catch(problem)
