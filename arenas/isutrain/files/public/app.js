// The pages of ISUTRAIN: search, trains, seats, payment, reservations.
const view = document.getElementById('view')
const problem = document.getElementById('problem')
let stations = []
let wish = null // the search and the train that the user has chosen

const text = s => String(s).replace(/[&<>"]/g, c => `&#${c.charCodeAt(0)};`)
const complain = message => { problem.textContent = message; problem.hidden = !message }

async function call(path, body) {
  const options = body && { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
  const res = await fetch(path, options)
  const answer = await res.json().catch(() => null)
  if (res.status === 401) { location.hash = 'login'; throw new Error('ログインしてください') }
  if (!res.ok) throw new Error(answer && answer.message || res.statusText)
  return answer
}

// form shows fields and calls done with their values.
function form(fields, label, done) {
  view.innerHTML = `<form>${fields}<button>${label}</button></form>`
  view.querySelector('form').addEventListener('submit', e => {
    e.preventDefault()
    run(() => done(Object.fromEntries(new FormData(e.target)), e.submitter))
  })
}

const run = act => { complain(''); Promise.resolve().then(act).catch(e => complain(e.message)) }
const field = (name, label, type, value) => `<label>${label} <input name="${name}" type="${type}" value="${value}" required></label>`
const select = (name, label) =>
  `<label>${label} <select name="${name}">${stations.map(s => `<option>${text(s.name)}</option>`).join('')}</select></label>`

function showSearch() {
  form(field('day', '日付', 'date', '2020-01-01') + field('time', '時刻', 'time', '08:00') + select('from', '出発') + select('to', '到着') +
    field('adult', '大人', 'number', 1) + field('child', '子供', 'number', 0), '検索', showTrains)
}

async function showTrains(q) {
  const at = `${q.day}T${q.time}:00+09:00`
  const query = new URLSearchParams({ use_at: at, from: q.from, to: q.to, train_class: '', adult: q.adult, child: q.child })
  const trains = await call('/api/train/search?' + query)
  view.innerHTML = `<table><tr><th>列車<th>発<th>着<th>プレミアム<th>指定席<th>自由席</tr>${trains.map((t, i) =>
    `<tr data-train="${text(t.train_name)}"><td>${text(t.train_class)} ${text(t.train_name)}<td>${t.departure_time}<td>${t.arrival_time}` +
    ['premium', 'reserved', 'non_reserved'].map(c =>
      `<td>${t.seat_availability[c]} ${t.seat_fare[c]}円 <button data-i="${i}" data-class="${c.replace('_', '-')}">選択</button>`).join('')
  ).join('')}</table>`
  for (const button of view.querySelectorAll('button')) {
    button.onclick = () => {
      wish = { ...q, at, train: trains[button.dataset.i], seat: button.dataset.class }
      run(() => wish.seat === 'non-reserved' ? reserve(0, []) : showSeats(wish.seat === 'premium' ? 8 : 16))
    }
  }
}

async function showSeats(car) {
  const t = wish.train
  const map = await call('/api/train/seats?' + new URLSearchParams(
    { date: wish.at, train_class: t.train_class, train_name: t.train_name, car_number: car, from: wish.from, to: wish.to }))
  const cars = map.cars.filter(c => c.seat_class === wish.seat)
  const rows = new Map()
  for (const s of map.seats) rows.set(s.row, (rows.get(s.row) || []).concat(s))
  view.innerHTML = `<p>${cars.map(c => `<button class="car" data-car="${c.car_number}">${c.car_number}号車</button>`).join('')}</p>
    <table id="seats">${[...rows].map(([row, seats]) => `<tr><th>${row}<td>${seats.map(s =>
    `<button class="seat" data-row="${row}" data-column="${s.column}"${s.is_occupied ? ' disabled' : ''}>${s.column}</button>`).join('')}`).join('')}
    </table><button id="any">おまかせ</button> <button id="these">この座席を予約</button>`
  for (const b of view.querySelectorAll('.car')) b.onclick = () => run(() => showSeats(b.dataset.car))
  for (const b of view.querySelectorAll('.seat')) b.onclick = () => b.classList.toggle('chosen')
  const chosen = () => [...view.querySelectorAll('.chosen')].map(b => ({ row: Number(b.dataset.row), column: b.dataset.column }))
  view.querySelector('#any').onclick = () => run(() => reserve(0, []))
  view.querySelector('#these').onclick = () => run(() => reserve(Number(car), chosen()))
}

async function reserve(car, seats) {
  const t = wish.train
  const got = await call('/api/train/reserve', {
    date: wish.at, train_name: t.train_name, train_class: t.train_class, car_number: car, is_smoking_seat: false,
    seat_class: wish.seat, departure: wish.from, arrival: wish.to, adult: Number(wish.adult), child: Number(wish.child), column: '', seats })
  form(`<p id="amount">${got.amount}円</p>` + field('card_number', 'カード番号', 'text', '') + field('cvv', 'CVV', 'text', '') +
    field('expiry_date', '有効期限 MM/YY', 'text', ''), '支払う', async card => {
    const { payment_api } = await call('/api/settings')
    const token = await call(payment_api + '/card', { card_information: card })
    await call('/api/train/reservation/commit', { card_token: token.card_token, reservation_id: got.reservation_id })
    location.hash = 'mine'
  })
}

async function showMine() {
  const list = await call('/api/user/reservations')
  view.innerHTML = `<table>${list.map(r => `<tr data-reservation="${r.reservation_id}"><td>${r.date} ${r.departure_time}
    <td>${text(r.train_class)} ${text(r.train_name)}<td>${text(r.departure)} → ${text(r.arrival)}
    <td>${r.car_number}号車 ${r.seats.map(s => s.seat_row + s.seat_column).join(' ')}<td>${r.amount}円
    <td><button data-id="${r.reservation_id}">取消</button>`).join('')}</table>`
  for (const b of view.querySelectorAll('button')) {
    b.onclick = () => run(async () => { await call(`/api/user/reservations/${b.dataset.id}/cancel`, {}); await showMine() })
  }
}

function showLogin() {
  form(field('email', 'メール', 'email', '') + field('password', 'パスワード', 'password', '') + '<button name="new">登録</button>', 'ログイン',
    async (user, by) => {
      if (by && by.name === 'new') await call('/api/auth/signup', user)
      await call('/api/auth/login', user)
      document.getElementById('who').textContent = (await call('/api/auth')).email
      location.hash = ''
    })
}

const show = () => run(async () => {
  if (!stations.length) stations = await call('/api/stations')
  const page = { '#login': showLogin, '#mine': showMine }[location.hash] || showSearch
  await page()
})
window.addEventListener('hashchange', show)
show()
