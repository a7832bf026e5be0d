import { el, facts, featureText, fill, get, mailForm, run, yen } from './common.js'

const id = encodeURIComponent(new URLSearchParams(location.search).get('id') ?? '')

run('detail', async () => {
  const estate = await get(`/api/estate/${id}`)
  document.title = `${estate.name} | ISUUMO`
  fill('detail', [el('div', { class: 'detail', 'data-id': estate.id },
    el('img', { src: estate.thumbnail, alt: '' }),
    el('div', {}, el('h1', {}, estate.name), el('p', { class: 'price' }, `月 ${yen(estate.rent)}`), el('p', {}, estate.description),
      facts([['住所', estate.address], ['緯度・経度', `${estate.latitude.toFixed(4)}, ${estate.longitude.toFixed(4)}`],
        ['ドアの幅', `${estate.doorWidth} cm`], ['ドアの高さ', `${estate.doorHeight} cm`], ['特徴', featureText(estate.features)]]),
      mailForm(`/api/estate/req_doc/${estate.id}`, '資料を請求する', '資料の請求を受け付けました。')))])
})
