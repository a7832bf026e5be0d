import { el, estateCard, facts, featureText, fill, get, mailForm, run, yen } from './common.js'

const id = encodeURIComponent(new URLSearchParams(location.search).get('id') ?? '')

run('detail', async () => {
  const chair = await get(`/api/chair/${id}`)
  document.title = `${chair.name} | ISUUMO`
  fill('detail', [el('div', { class: 'detail', 'data-id': chair.id },
    el('img', { src: chair.thumbnail, alt: '' }),
    el('div', {}, el('h1', {}, chair.name), el('p', { class: 'price' }, yen(chair.price)), el('p', {}, chair.description),
      facts([['種類', chair.kind], ['色', chair.color], ['幅', `${chair.width} cm`], ['奥行', `${chair.depth} cm`],
        ['高さ', `${chair.height} cm`], ['特徴', featureText(chair.features)]]),
      mailForm(`/api/chair/buy/${chair.id}`, '購入する', 'ご購入ありがとうございます。メールをお送りしました。')))])
})

run('estates', async () =>
  fill('estates', (await get(`/api/recommended_estate/${id}`)).estates.map(estateCard), 'このいすが通るドアはありません。'))
