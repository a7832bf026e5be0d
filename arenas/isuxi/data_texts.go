package isuxi

import (
	"fmt"
	"strings"
)

// foods have a body and a comment each.
var foods = strings.Fields(`ラーメン カレーライス 味噌煮込みうどん 焼き餃子 お好み焼き たこ焼き 親子丼 ハンバーグ 天ぷらそば チャーハン オムライス`)

// sights are along a journey by train.
var sights = strings.Fields(`時計台 石橋 古い商店街 港 灯台 麦畑 銭湯 市場 水車 公園 城跡 川原 神社 図書館 映画館 果樹園 牧場 展望台 踏切
	温泉街 植物園 並木道 噴水 酒蔵 運河`)

// entryBodies are the bodies of the initial entries, the title first: a journey, a song,
// and one for each food, whose title has a character that pages must escape.
var entryBodies = drawBodies()

func drawBodies() []string {
	var journey strings.Builder
	journey.WriteString("各駅停車の旅に出ました")
	for i, s := range sights {
		fmt.Fprintf(&journey, "\n%d番目の駅で降りて、%sの写真を一枚だけ撮りました。", i+1, s)
	}
	const song = "朝の光が窓からさしてきて今日も目が覚める\n鳥の声がどこか遠くの空から聞こえてくる\n自転車で長い坂道をゆっくりと下りていく\n" +
		"海が見えたら少しだけ休もうと決めていた\n白い雲が東のほうへ静かに流れていった\n波の音だけがいつまでも耳に残っている\n" +
		"夕方になればまたあの家に帰ろうと思う\n明日も明後日もここに来ようと思っている"
	bodies := []string{journey.String(), strings.TrimSuffix(strings.Repeat(song+"\n", 5), "\n")}
	for _, f := range foods {
		line := fmt.Sprintf("\n今日も%sを食べました。おいしかったので、明日も%sにするつもりです。", f, f)
		bodies = append(bodies, f+"<3が大好きです"+strings.Repeat(line, 20))
	}
	return bodies
}

// commentTexts are the texts of the initial comments: short ones, and one for each food.
var commentTexts = drawComments()

func drawComments() []string {
	texts := []string{"いいね", "たしかに", "なるほど!", "わかります", "おつかれさま"}
	for _, f := range foods {
		texts = append(texts, fmt.Sprintf("%sの日記を読んでいたら、わたしも食べたくなってきました。今度の休みに行きます。\n"+
			"近くに%sのおいしい店があれば、ぜひ教えてください。よろしくお願いします。", f, f))
	}
	return texts
}
