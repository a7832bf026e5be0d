import { estateCard } from './common.js'
import { search } from './search.js'

search('estate', c => [
  { name: 'rentRangeId', title: '家賃', condition: c.rent },
  { name: 'doorHeightRangeId', title: 'ドアの高さ', condition: c.doorHeight },
  { name: 'doorWidthRangeId', title: 'ドアの幅', condition: c.doorWidth },
  { name: 'features', title: '特徴', condition: c.feature },
], estateCard)
