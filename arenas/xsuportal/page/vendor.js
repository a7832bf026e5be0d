'use strict'
// A small reader and writer of protobuf, and what all pages need.
const type = 'application/vnd.google.protobuf'

// read reads a message into lists of values by field number: numbers for varints, bytes else.
function read(bytes) {
  const fields = {}
  let at = 0
  const varint = () => {
    let n = 0n
    for (let shift = 0n; ; shift += 7n) {
      const b = bytes[at++]
      n |= BigInt(b & 127) << shift
      if (b < 128) return Number(BigInt.asIntN(64, n))
    }
  }
  while (at < bytes.length) {
    const key = varint()
    let value
    if ((key & 7) === 0) value = varint()
    else if ((key & 7) === 2) {
      const length = varint()
      value = bytes.subarray(at, at += length)
    } else throw new Error('unknown wire type')
    const list = fields[key >> 3] = fields[key >> 3] || []
    list.push(value)
  }
  return {
    number: f => (fields[f] || [0]).at(-1),
    text: f => new TextDecoder().decode((fields[f] || [new Uint8Array()]).at(-1)),
    has: f => f in fields,
    message: f => read((fields[f] || [new Uint8Array()]).at(-1)),
    list: f => (fields[f] || []).map(read),
    texts: f => (fields[f] || []).map(b => new TextDecoder().decode(b))
  }
}

// write makes a message from values by field number: numbers, booleans and texts.
function write(fields) {
  const out = []
  const varint = n => {
    for (n = BigInt.asUintN(64, BigInt(n)); n > 127n; n >>= 7n) out.push(Number(n & 127n) | 128)
    out.push(Number(n))
  }
  for (const [f, value] of Object.entries(fields)) {
    if (typeof value === 'string') {
      const bytes = new TextEncoder().encode(value)
      varint(f << 3 | 2)
      varint(bytes.length)
      out.push(...bytes)
    } else if (value) {
      varint(f << 3)
      varint(Number(value))
    }
  }
  return new Uint8Array(out)
}

// call sends a request and reads its answer. A refusal is an error with what it says.
async function call(method, path, fields) {
  const options = { method, credentials: 'same-origin' }
  if (fields) {
    options.body = write(fields)
    options.headers = { 'Content-Type': type }
  }
  const answer = await fetch(path, options)
  const message = read(new Uint8Array(await answer.arrayBuffer()))
  if (!answer.ok) throw new Error(message.text(3) || answer.statusText)
  return message
}

const app = () => document.getElementById('app')

function make(tag, properties, ...children) {
  const e = Object.assign(document.createElement(tag), properties)
  e.append(...children)
  return e
}

function show(...children) { app().replaceChildren(...children) }

function problem(error) { app().append(make('p', { className: 'problem', textContent: error.message })) }

function link(path, text) { return make('a', { href: path, textContent: text }) }

// time shows a timestamp.
function time(t) { return t.number(1) ? new Date(t.number(1) * 1000).toLocaleTimeString() : '' }

function table(head, rows) {
  return make('table', {}, make('tr', {}, ...head.map(h => make('th', { textContent: h }))),
    ...rows.map(row => make('tr', {}, ...row.map(cell => cell instanceof Node ? make('td', {}, cell) : make('td', { textContent: cell })))))
}

// form makes a form, whose values are given to a function.
function form(id, names, label, send) {
  const f = make('form', { id }, ...names.map(([name, text, kind]) => make('label', {}, text + ' ', make('input', { name, type: kind || 'text' }))),
    make('button', { textContent: label }))
  f.addEventListener('submit', event => {
    event.preventDefault()
    send(f.elements).catch(problem)
  })
  return f
}

function board(leaderboard) {
  return table(['', 'team', 'best', 'latest', 'runs', ''], leaderboard.list(1).map((item, i) => [i + 1, item.message(16).text(2),
    item.message(2).number(1), item.message(3).number(1), item.number(4), item.message(16).message(10).number(1) ? 'students' : '']))
}
