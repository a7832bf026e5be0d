import { chairCard } from './common.js'
import { search } from './search.js'

search('chair', c => [
  { name: 'priceRangeId', title: '価格', condition: c.price },
  { name: 'heightRangeId', title: '高さ', condition: c.height },
  { name: 'widthRangeId', title: '幅', condition: c.width },
  { name: 'depthRangeId', title: '奥行', condition: c.depth },
  { name: 'color', title: '色', condition: c.color },
  { name: 'kind', title: '種類', condition: c.kind },
  { name: 'features', title: '特徴', condition: c.feature },
], chairCard)
