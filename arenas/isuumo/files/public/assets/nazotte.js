// The search by a polygon that the user draws on the map.
import { el, estateCard, fill, post, run } from './common.js'
import { cities, fromMap, islands, toMap } from './map.js'

const map = document.getElementById('map')
const select = document.getElementById('city')
const half = 1.2 // degrees of latitude from the town to the edge of the map

const svg = (tag, attributes, ...children) => {
  const e = document.createElementNS('http://www.w3.org/2000/svg', tag)
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value)
  e.append(...children)
  return e
}
const corners = points => points.map(p => `${p.x},${p.y}`).join(' ')

const trace = svg('polygon', { class: 'trace' })
const found = svg('g', {})

function draw() {
  const land = islands.map(text => svg('polygon', { class: 'land', points: corners(text.split(' ').map(pair => {
    const [longitude, latitude] = pair.split(',').map(Number)
    return toMap({ latitude, longitude })
  })) }))
  const grid = []
  for (let d = 24; d <= 148; d++) {
    const at = (latitude, longitude) => toMap({ latitude, longitude })
    const line = (a, b) => grid.push(svg('line', { class: 'grid', x1: a.x, y1: a.y, x2: b.x, y2: b.y }))
    if (d <= 48) line(at(d, 122), at(d, 148))
    if (d >= 122) line(at(24, d), at(48, d))
  }
  const towns = cities.map(city => {
    const { x, y } = toMap(city)
    return svg('g', { class: 'town' }, svg('circle', { cx: x, cy: y, r: 0.02 }), svg('text', { x: x + 0.035, y: y + 0.03, 'font-size': 0.1 }, city.name))
  })
  map.replaceChildren(...land, ...grid, ...towns, trace, found)
}

// look moves the map to a town.
function look(city) {
  const { x, y } = toMap(city)
  map.setAttribute('viewBox', `${x - half} ${y - half} ${2 * half} ${2 * half}`)
  trace.setAttribute('points', '')
  found.replaceChildren()
}

// place is where on the map an event is.
const place = event => new DOMPoint(event.clientX, event.clientY).matrixTransform(map.getScreenCTM().inverse())

let points = null // of the line while it is drawn

map.addEventListener('pointerdown', event => {
  event.preventDefault()
  if (event.isTrusted) map.setPointerCapture(event.pointerId)
  points = [place(event)]
  found.replaceChildren()
})

map.addEventListener('pointermove', event => {
  if (!points) return
  points.push(place(event))
  trace.setAttribute('points', corners(points))
})

map.addEventListener('pointercancel', () => { points = null })

map.addEventListener('pointerup', () => {
  const drawn = points
  points = null
  if (!drawn || drawn.length < 3) return
  run('results', () => search(simplified(drawn)))
})

// simplified leaves out corners, so that a long line stays a small request.
function simplified(line) {
  const step = Math.max(1, Math.ceil(line.length / 60))
  return line.filter((_, i) => i % step === 0)
}

async function search(line) {
  trace.setAttribute('points', corners(line))
  fill('results', [], '探しています…')
  const coordinates = [...line, line[0]].map(fromMap)
  const { count, estates } = await post('/api/estate/nazotte', { coordinates })
  found.replaceChildren(...estates.map(e => {
    const { x, y } = toMap(e)
    return svg('circle', { class: 'found', cx: x, cy: y, r: 0.018, 'data-id': e.id })
  }))
  fill('results', count === 0 ? [] : [
    el('p', { id: 'count', 'data-count': count }, `${count}件`),
    el('div', { class: 'list' }, ...estates.map(estateCard)),
  ], '囲みの中に物件がありません。')
}

draw()
select.append(...cities.map((city, i) => el('option', { value: i }, city.name)))
select.value = cities.findIndex(c => c.name.startsWith('東京'))
select.addEventListener('change', () => look(cities[select.value]))
look(cities[select.value])
