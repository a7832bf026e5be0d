package isuports

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// The words of names and titles. None has a character that SQL, CSV or HTML would
// need quoted.
var (
	familyNames = strings.Fields(`相川 青木 秋山 浅野 安藤 飯田 池田 石井 泉 伊藤 今井 岩崎 上田 内田 江口 遠藤 大野 岡田 小川 荻野
		奥村 小野 片山 加藤 金子 川村 菊池 北川 木村 久保 熊谷 黒田 小池 後藤 小林 斎藤 酒井 坂本 佐藤 沢田 柴田 島田 清水 菅原 杉本
		鈴木 関 高木 高橋 竹内 田中 谷口 千葉 土屋 寺田 永井 中島 中村 西田 野口 野村 橋本 長谷川 服部 浜田 林 原田 平野 藤井 藤田
		堀 本田 前田 松井 松本 丸山 三浦 水野 宮崎 村上 森 森田 安田 山口 山田 山本 横山 吉田 渡辺 和田`)
	givenNames = strings.Fields(`葵 明 朝陽 敦 歩 郁 一郎 樹 梅 瑛太 恵美 修 香織 和也 克己 奏 要 菊 清 国彦 恵 健 健太 浩一 琴音 桜
		里美 静 忍 俊介 翔 純 信 進 鈴 聡 大輔 隆 匠 武 千春 司 剛 哲也 透 智子 直樹 夏美 七海 成美 望 信夫 春香 光 秀樹 瞳 響 博 楓 文
		誠 真琴 雅彦 学 麻衣 美咲 湊 実 美穂 睦 恵子 桃子 靖 由紀 悠真 陽菜 遥 凛 涼 亮 蓮 若菜 渉`)

	tenantPlaces = []word{{"akane", "あかね"}, {"asagiri", "朝霧"}, {"akatsuki", "暁"}, {"ibuki", "伊吹"}, {"izumo", "出雲"},
		{"iwato", "岩戸"}, {"ukifune", "浮舟"}, {"oboro", "おぼろ"}, {"kaede", "かえで"}, {"kagari", "かがり"}, {"kasumi", "霞"},
		{"kazahana", "風花"}, {"kitakaze", "北風"}, {"kujaku", "孔雀"}, {"kogane", "黄金"}, {"komorebi", "木漏れ日"}, {"sazanami", "さざなみ"},
		{"shigure", "しぐれ"}, {"shirogane", "白銀"}, {"suzushiro", "すずしろ"}, {"setsugetsu", "雪月"}, {"tachibana", "橘"}, {"tsubaki", "つばき"},
		{"tsukimi", "月見"}, {"tokiwa", "常盤"}, {"nagisa", "なぎさ"}, {"nanakusa", "七草"}, {"hatsuhi", "初日"}, {"hinata", "ひなた"},
		{"fujinami", "藤波"}, {"hotaru", "ほたる"}, {"matsukaze", "松風"}, {"mizuho", "瑞穂"}, {"mutsuki", "睦月"}, {"yamabuki", "山吹"},
		{"yuunagi", "夕凪"}, {"wakaba", "若葉"}}
	tenantKinds = []word{{"arcade", "アーケード"}, {"athletics", "アスレチックス"}, {"chess", "チェスサロン"}, {"club", "倶楽部"}, {"darts", "ダーツバー"},
		{"futsal", "フットサル"}, {"games", "ゲームズ"}, {"golf", "ゴルフ"}, {"juku", "塾"}, {"karuta", "かるた会"}, {"kendo", "剣道会"},
		{"league", "リーグ"}, {"park", "パーク"}, {"quiz", "クイズ研究会"}, {"racing", "レーシング"}, {"shogi", "将棋会"}, {"sports", "スポーツ"},
		{"studio", "スタジオ"}, {"swim", "スイミング"}, {"tennis", "テニス"}}

	titleSeasons = strings.Fields(`新春 早春 春の 初夏の 夏の 真夏の 秋の 晩秋の 冬の 週末 月例 年に一度の 真夜中の 早朝の 全国 地区 社内 親子 学生 はじめての`)
	titleGames   = strings.Fields(`玉入れ 椅子取り 綱引き 早食い 百人一首 大縄跳び すごろく しりとり タイピング 積み木 けん玉 こま回し 雪合戦 障害物 借り物
		計算 暗算 早押し 逆立ち 腕相撲 指相撲 紙飛行機 竹馬 水鉄砲 ドミノ`)
	titleEnds = strings.Fields(`大会 選手権 杯 カップ 合戦 王決定戦 チャレンジ グランプリ 記録会 リーグ`)
)

// A word is a part of a tenant's name: as in host names, and as people read it.
type word struct{ slug, shown string }

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// tenantWords draws the name of a tenant. The slug is not unique.
func tenantWords(r *rand.Rand) (slug, display string) {
	place, kind := pick(r, tenantPlaces), pick(r, tenantKinds)
	return place.slug + "-" + kind.slug, place.shown + kind.shown
}

// personName draws the name of a player.
func personName(r *rand.Rand) string { return pick(r, familyNames) + " " + pick(r, givenNames) }

// competitionTitle draws the title of a competition.
func competitionTitle(r *rand.Rand) string {
	return fmt.Sprintf("第%d回 %s%s%s", 1+r.IntN(50), pick(r, titleSeasons), pick(r, titleGames), pick(r, titleEnds))
}
