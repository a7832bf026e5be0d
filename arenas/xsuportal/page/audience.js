'use strict'
document.getElementById('nav').append(link('/teams', 'Teams'), link('/registration', 'Registration'), link('/login', 'Log in'), link('/contestant', 'Contestants'))

const pages = {
  async '/'() {
    const update = async () => show(make('h1', { textContent: 'Leaderboard' }), board((await call('GET', '/api/audience/dashboard')).message(1)))
    await update()
    setInterval(() => update().catch(problem), 5000)
  },
  async '/teams'() {
    const list = (await call('GET', '/api/audience/teams')).list(1)
    show(make('h1', { textContent: 'Teams' }), table(['team', 'members', ''], list.map(t => [t.text(2), t.texts(3).join(', '), t.number(4) ? 'students' : ''])))
  },
  async '/signup'() { account('/api/signup', 'Sign up') },
  async '/login'() { account('/api/login', 'Log in') },
  async '/logout'() {
    await call('POST', '/api/logout')
    show(make('p', { textContent: 'You are logged out.' }))
  },
  async '/registration'() {
    const query = location.search
    const now = await call('GET', '/api/registration/session' + query)
    const status = now.number(2)
    if (status === 2) return show(make('p', { id: 'status', textContent: 'Log in or sign up first.' }), link('/signup' + query, 'Sign up'))
    if (status === 1) return show(make('p', { id: 'status', textContent: 'The team is full.' }))
    if (status === 5) return joined(now)
    const more = status === 4 ? [] : [['team', 'Name of the team'], ['mail', 'Mail address']]
    show(form('register', [...more, ['name', 'Your name'], ['student', 'Student', 'checkbox']], status === 4 ? 'Join' : 'Create', async f => {
      const given = new URLSearchParams(query)
      if (status === 4) await call('POST', '/api/registration/contestant', { 1: Number(given.get('team_id')), 2: given.get('invite_token'), 3: f.name.value, 4: f.student.checked })
      else await call('POST', '/api/registration/team', { 1: f.team.value, 2: f.name.value, 3: f.mail.value, 4: f.student.checked })
      joined(await call('GET', '/api/registration/session'))
    }))
  }
}

function joined(now) {
  const team = now.message(1)
  show(make('h1', { id: 'team', textContent: team.text(2) }), make('ul', {}, ...team.list(17).map(m => make('li', { textContent: m.text(3) }))),
    make('p', {}, 'Invitation: ', link(now.text(3), location.origin + now.text(3))))
}

function account(path, label) {
  show(form('account', [['id', 'ID'], ['password', 'Password', 'password']], label, async f => {
    await call('POST', path, { 1: f.id.value, 2: f.password.value })
    location.href = '/registration' + location.search
  }))
}

(pages[location.pathname] || pages['/'])().catch(problem)
