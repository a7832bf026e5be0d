package isucondition

import (
	"math/rand/v2"
	"strings"
)

// Labels are the characters that JIA gives to ISUs at activation. The trend groups
// ISUs by character.
var Labels = func() (labels [Characters]string) {
	for i, v := range voices {
		labels[i] = v.label
	}
	return labels
}()

// A voice holds the phrases of one character: one for a good condition and one for
// each flag.
type voice struct{ label, well, dirty, heavy, broken string }

var voices = [Characters]voice{
	{"あまえんぼう", "もっとなでて", "ふいてほしいな", "だっこは重いよ", "いたいよう"},
	{"あわてんぼう", "よし、大丈夫", "わっ、汚れた", "わっ、重い", "わわ、壊れた"},
	{"いばりんぼう", "余は快調じゃ", "余を磨け", "余に重すぎる", "余を直さぬか"},
	{"おこりんぼう", "怒ってないよ", "汚すな", "重いってば", "壊したな"},
	{"おしゃべり", "ねえ聞いて", "汚れの話ね", "重さの話ね", "故障の話ね"},
	{"おひとよし", "どうぞ座って", "少しの汚れなら", "まだ乗れますよ", "平気、多分ね"},
	{"かんげきや", "なんて良い日", "涙で染みが", "重みに感動", "折れて感涙"},
	{"きれいずき", "今日もぴかぴか", "汚れは許せない", "荷物が多すぎ", "傷がついた"},
	{"くいしんぼう", "お茶にしよう", "菓子くずだらけ", "食べすぎかな", "脚を噛まれた"},
	{"けちんぼう", "無駄のない日", "水がもったいない", "重量は別料金", "修理は高いな"},
	{"こだわりや", "この角度が最高", "木目が見えない", "重心が高い", "ねじが違う"},
	{"しっかりもの", "異常ありません", "清掃が必要です", "重量超過です", "修理が必要です"},
	{"しんぱいしょう", "静かすぎて不安", "染みが残りそう", "つぶれるかも", "もう治らないかも"},
	{"せわずき", "よく休めた?", "掃除しようか", "荷物持とうか", "部品を頼もうか"},
	{"ちからもち", "まだまだ余裕", "汚れは勲章だ", "良い重さだ", "力みすぎた"},
	{"なまけもの", "寝てました", "掃除は明日", "重いし寝る", "壊れたし休む"},
	{"のんびりや", "ぽかぽかだね", "いつか洗おう", "ゆっくり降りて", "そのうち直そう"},
	{"ひっこみじあん", "…元気です", "…汚れました", "…重いです", "…壊れました"},
	{"へそまがり", "調子など知らん", "汚れてなどない", "軽すぎるくらい", "わざと折れた"},
	{"まけずぎらい", "今日も勝った", "汚れに負けない", "重さに負けない", "故障に負けない"},
	{"みえっぱり", "高級品ですから", "わざとの風合い", "大物専用ですの", "限定の形ですの"},
	{"めだちたがり", "こっち見て", "汚れも見て", "重いの見て", "壊れたの見て"},
	{"ものぐさ", "べつに", "汚れたかも", "重いかも", "壊れたかも"},
	{"ゆめみがち", "雲になった気分", "灰かぶり姫みたい", "象が乗る夢", "片脚の兵隊さん"},
	{"わらいじょうご", "あはは、快適", "ふふ、くすぐったい", "あはは、重い重い", "笑って折れた"},
}

// messages holds every message, by character and flags.
var messages = func() (table [Characters][8]string) {
	for c, v := range voices {
		table[c][0] = v.well
		for f := Flags(1); f < 8; f++ {
			var said []string
			for _, p := range []struct {
				flag Flags
				text string
			}{{Dirty, v.dirty}, {Overweight, v.heavy}, {Broken, v.broken}} {
				if f&p.flag != 0 {
					said = append(said, p.text)
				}
			}
			table[c][f] = strings.Join(said, "、")
		}
	}
	return table
}()

// The parts of an ISU's name.
var (
	namePrefixes = [26]string{
		"朝焼けの", "居間の", "いつもの", "折りたたみ", "階段下の", "書斎の", "きしむ", "軽やかな", "銀座の",
		"月曜日の", "縁側の", "小さな", "知らない", "台所の", "だれかの", "とっておきの", "波打つ", "二代目",
		"ひだまりの", "深緑の", "ふかふかの", "窓ぎわの", "まわる", "三つ脚の", "屋上の", "よく鳴る",
	}
	nameSuffixes = [20]string{
		"椅子", "いす", "チェア", "ソファ", "スツール", "ベンチ", "座椅子", "丸椅子", "籐椅子", "長椅子",
		"安楽椅子", "ロッキングチェア", "ハイチェア", "ゲーミングチェア", "カウチ", "オットマン", "腰掛け", "切り株", "玉座", "木馬",
	}
)

// ISUName returns a random name for an ISU.
func ISUName(r *rand.Rand) string {
	return namePrefixes[r.IntN(len(namePrefixes))] + nameSuffixes[r.IntN(len(nameSuffixes))]
}
