'use strict'
document.getElementById('nav').append(link('/contestant', 'Board'), link('/contestant/benchmark_jobs', 'Benchmarks'), link('/contestant/clarifications', 'Questions'))

const states = ['waiting', 'sent', 'running', 'failed', 'cancelled', 'finished']

function jobs(list) {
  return table(['', 'host', 'state', 'score', 'time'], list.map(j => [link('/contestant/benchmark_jobs/' + j.number(1), '#' + j.number(1)), j.text(30),
    states[j.number(4)], j.has(18) ? j.message(18).number(3) : '', time(j.message(5))]))
}

async function home() {
  const [session, seen, own] = await Promise.all([call('GET', '/api/session'), call('GET', '/api/contestant/dashboard'), call('GET', '/api/contestant/benchmark_jobs')])
  const host = 'xsu-contestant-' + String(session.message(1).number(1)).padStart(5, '0')
  show(make('h1', { id: 'team', textContent: session.message(1).text(2) }),
    form('enqueue', [], 'Start a benchmark', async () => {
      await call('POST', '/api/contestant/benchmark_jobs', { 1: host })
      await home()
    }), board(seen.message(1)), jobs(own.list(1)))
  await subscribe(session)
}

// subscribe asks for pushed notifications, where the portal has a key for them.
async function subscribe(session) {
  if (!session.has(6) || !('serviceWorker' in navigator) || !('PushManager' in window) || Notification.permission !== 'granted') return
  const worker = await navigator.serviceWorker.register('/sw.js')
  const key = Uint8Array.from(atob(session.text(6).replaceAll('-', '+').replaceAll('_', '/')), c => c.charCodeAt(0))
  const made = (await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key })).toJSON()
  await call('POST', '/api/contestant/push_subscriptions', { 1: made.endpoint, 2: made.keys.p256dh, 3: made.keys.auth })
}

async function list() { show(make('h1', { textContent: 'Benchmarks' }), jobs((await call('GET', '/api/contestant/benchmark_jobs')).list(1))) }

async function one() {
  const job = (await call('GET', '/api' + location.pathname)).message(1)
  const result = job.message(18)
  show(make('h1', { textContent: 'Benchmark #' + job.number(1) }), make('p', { id: 'state', textContent: states[job.number(4)] }),
    make('p', { textContent: job.has(18) ? `${result.number(3)}: ${result.text(5)}` : '' }))
}

async function questions() {
  const all = (await call('GET', '/api/contestant/clarifications')).list(1)
  show(make('h1', { textContent: 'Questions' }), form('ask', [['question', 'Question']], 'Ask', async f => {
    await call('POST', '/api/contestant/clarifications', { 1: f.question.value })
    await questions()
  }), table(['team', 'question', 'answer'], all.map(c => [c.message(16).text(2), c.text(5), c.text(6)])))
}

let last = 0
async function poll() {
  const news = await call('GET', '/api/contestant/notifications' + (last ? '?after=' + last : ''))
  for (const n of news.list(2)) last = Math.max(last, n.number(1))
  document.title = news.list(2).length ? 'News! XSUCON portal' : 'XSUCON portal'
}

const page = location.pathname === '/contestant' ? home : location.pathname.endsWith('/clarifications') ? questions : location.pathname.endsWith('/benchmark_jobs') ? list : one
page().then(poll).catch(problem)
setInterval(() => poll().catch(() => {}), 5000)
