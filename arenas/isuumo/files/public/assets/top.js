import { chairCard, estateCard, fill, get, run } from './common.js'

run('chairs', async () => fill('chairs', (await get('/api/chair/low_priced')).chairs.map(chairCard), 'ただいま在庫がありません。'))
run('estates', async () => fill('estates', (await get('/api/estate/low_priced')).estates.map(estateCard), '物件がありません。'))
