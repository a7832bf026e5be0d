package isublog

import (
	"math/rand/v2"
	"strings"
)

// The words of the blog. Sentences are put together from them, see sentence.
var (
	things = strings.Fields(`
		朝ごはん 味噌汁 編みかけの手袋 雨どい 井戸 植木鉢 裏庭 絵はがき 縁側 大鍋 置き時計 帯 回覧板 鏡 柿の木 傘 菓子箱 金物屋 紙芝居 瓦
		着物 切手 金魚鉢 汽車 九官鳥 草むら 薬缶 首輪 蔵 毛布 玄関 小銭入れ 米びつ 凧 座布団 皿 三輪車 自転車 下駄箱 障子 将棋盤 新聞
		水筒 炭 石けん 線路 そろばん 台所 太鼓 竹ぼうき 卵焼き 茶柱 提灯 机 つらら 手紙 鉄瓶 灯台 豆腐屋 時計台 戸棚 鍋つかみ 波止場 布団
		猫 農具 花火 針箱 番傘 火鉢 干物 風鈴 踏切 古本 文鎮 部屋 弁当 帽子 盆栽 窓辺 万年筆 湖 虫かご 面 物置 屋台 雪だるま 郵便受け
		湯たんぽ 浴衣 落ち葉 ラジオ 旅館 りんご箱 路地 若葉 渡し船 綿入れ`)
	qualities = strings.Fields(`
		青い 赤い 熱い 危なっかしい 新しい 甘い 忙しい 薄い うるさい 美しい 遅い 重い 面白い 固い 軽い かわいい 黄色い 厳しい 暗い 細かい 怖い
		寂しい 寒い 静かな 渋い 白い 涼しい 狭い 高い 小さな 近い 冷たい 強い 遠い 長い 苦い にぎやかな 眠い 早い 低い 広い 深い 古い 細い 丸い
		短い 珍しい 易しい 柔らかい 緩い 弱い 若い`)
	deeds = strings.Fields(`
		歩いた 洗った 編んだ 磨いた 植えた 歌った 選んだ 置いた 覚えた 思い出した 数えた 片付けた 借りた 聞いた 刻んだ 比べた 探した 覗いた
		直した 眺めた 並べた 煮込んだ 縫った 塗り直した 眠った 運んだ 拾った 吹いた 干した 掘った 負けた 待った 見つけた 迎えた 燃やした 焼いた
		休んだ 呼んだ 読み返した 笑った 分けた 忘れた 驚いた 見送った 組み立てた 書き留めた`)
	places = strings.Fields(`
		駅前 海辺 裏通り 屋上 川べり 神社 校庭 坂の上 商店街 水路 雑木林 線路沿い 畑 橋の下 広場 二階 峠 港 隣町 軒先 川原 図書館 温泉街 停留所`)
	times = strings.Fields(`
		今朝 昨日 一昨日 先週 夕方 真夜中 昼休み 雨上がり 日曜日 春先 梅雨 夏の終わり 秋口 大晦日 子どものころ 夜明け前 帰り道 休みの日`)
	remarks = strings.Fields(`
		なるほど 同感です 知りませんでした 続きを待っています うちにもあります 行ってみたいです 笑いました それは大変 素敵ですね まさか 懐かしい
		真似します 写真も見たいです よい一日を 勉強になりました また来ます ほっとしました うらやましい お大事に 初めて読みました 明日試します`)
	latin = strings.Fields(`
		ＡＢＣ ＮＨ４ ｖｅｒ．２ a<b&&b<c R&D <memo> <b>太字</b> "quote" it's 100% &amp; x>y http://example.com/?a=1&b=2 /usr/bin make 2011-08-27 C++ #1 e-mail
		ＷＥＢ ｂｌｏｇ`)
)

func pick(r *rand.Rand, words []string) string { return words[r.IntN(len(words))] }

// sentence returns one sentence. One in twelve has words with characters that HTML
// must escape, or full-width letters.
func sentence(r *rand.Rand) string {
	switch r.IntN(12) {
	case 0:
		return pick(r, times) + "は" + pick(r, things) + "と" + pick(r, things) + "を" + pick(r, deeds) + "。"
	case 1:
		return pick(r, places) + "に" + pick(r, qualities) + pick(r, things) + "があるらしい。"
	case 2:
		return pick(r, qualities) + pick(r, things) + "より" + pick(r, qualities) + "ものはない!"
	case 3:
		return "なぜ" + pick(r, things) + "を" + pick(r, deeds) + "のだろう?"
	case 4:
		return "「" + pick(r, things) + "は" + pick(r, qualities) + "」と書いた紙を" + pick(r, deeds) + "。"
	case 5:
		return pick(r, latin) + " の話を" + pick(r, places) + "で聞いた。"
	case 6:
		return pick(r, things) + "、" + pick(r, things) + "、" + pick(r, things) + "。"
	case 7:
		return pick(r, times) + "、" + pick(r, qualities) + pick(r, things) + "を" + pick(r, deeds) + "が、" + pick(r, places) + "までは遠い。"
	case 8:
		return pick(r, places) + "の" + pick(r, things) + "も" + pick(r, deeds) + "。"
	case 9:
		return "隣の人が" + pick(r, things) + "を" + pick(r, deeds) + "そうだ。"
	case 10:
		return pick(r, times) + "から" + pick(r, qualities) + "日が続く。"
	default:
		return pick(r, qualities) + pick(r, things) + "を" + pick(r, places) + "で" + pick(r, deeds) + "。"
	}
}

// heading returns the title of an article: 10 to 40 characters.
func heading(r *rand.Rand) string {
	text := pick(r, places) + "の" + pick(r, qualities) + pick(r, things) + "、その" + itoa(1+r.IntN(30))
	if r.IntN(4) == 0 {
		text += " & " + pick(r, latin)
	}
	return cut(text+"について", 40)
}

// cut shortens a text to a number of characters.
func cut(text string, limit int) string {
	if letters := []rune(text); len(letters) > limit {
		return string(letters[:limit])
	}
	return text
}
