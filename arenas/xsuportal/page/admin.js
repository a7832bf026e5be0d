'use strict'
document.getElementById('nav').append(link('/admin/clarifications', 'Questions'))

async function all() {
  const list = (await call('GET', '/api/admin/clarifications')).list(1)
  show(make('h1', { textContent: 'Questions' }), table(['', 'team', 'question', 'answer'],
    list.map(c => [link('/admin/clarifications/' + c.number(1), '#' + c.number(1)), c.message(16).text(2), c.text(5), c.text(6)])))
}

async function one(id) {
  const c = (await call('GET', '/api/admin/clarifications/' + id)).message(1)
  show(make('h1', { textContent: 'Question #' + id }), make('p', { id: 'question', textContent: c.text(5) }), make('p', { id: 'answer', textContent: c.text(6) }),
    form('answer-form', [['answer', 'Answer'], ['disclose', 'For everyone', 'checkbox']], 'Answer', async f => {
      await call('PUT', '/api/admin/clarifications/' + id, { 1: Number(id), 2: f.disclose.checked, 3: f.answer.value, 4: c.text(5) })
      await one(id)
    }))
}

const id = location.pathname.match(/^\/admin\/clarifications\/(\d+)$/);
(id ? one(id[1]) : all()).catch(problem)
