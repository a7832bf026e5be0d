package isucholar

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

var surnames = strings.Fields(`青木 石田 上野 江口 岡本 大沢 柏木 川口 北村 小池 斎藤 佐野 清水 菅原 瀬戸 高田 滝沢 千葉 津田 寺島
	内藤 中川 西田 野口 橋本 浜田 平井 福田 堀内 松井 三浦 宮原 村瀬 森下 矢野 横山 吉岡 若林 和田 渡部`)

var givenNames = strings.Fields(`葵 明 歩 泉 樹 薫 和 圭 康 聡 茂 静 翔 純 駿 進 澄 大地 司 翼 透 渚 望 遥 光 瞳 宏 誠 実 緑 恵 優 結 豊 陸 凛 涼 類 蓮 渉`)

// personName draws a name, the family name first.
func personName(r *rand.Rand) string { return choose(r, surnames) + " " + choose(r, givenNames) }

func choose(r *rand.Rand, words []string) string { return words[r.IntN(len(words))] }

// Words of courses of major subjects: a level, two words that are the keywords, an end.
var (
	levels     = strings.Fields(`基礎 応用 先端 発展 実践`)
	fields     = strings.Fields(`並列 分散 量子 離散 確率 音声 画像 自律 暗号 数理 情報 知能`)
	subjects   = strings.Fields(`計算機 データベース コンパイラ ネットワーク アルゴリズム 最適化 プログラミング オートマトン ロボット グラフ 信号処理 言語処理 シミュレーション アーキテクチャ`)
	majorEnds  = strings.Fields(`論 特論 概論 演習 実験 実習 入門 I II III 要論 講読 セミナー 研究`)
	eras       = strings.Fields(`現代の 日本の 世界の 暮らしの 都市の 海の 山の 東洋の 西洋の 中世の 近代の 身近な 未来の 地域の`)
	humanities = strings.Fields(`歴史 文学 法律 音楽 言語 心理 経済 哲学`)
	liberalEnd = strings.Fields(`入門 概論 を読む を歩く の見方 と社会`)
)

// Words of descriptions of courses, of classes and of submissions.
var (
	styles     = []string{"板書を中心に進めます。", "毎回の講義の後に課題があります。", "前の週の復習から始めます。"}
	notices    = []string{"教科書は初回に知らせます。", "成績は課題だけで決まります。"}
	classNames = []string{"%s 第%d回", "%s その%d", "%s %d週目の講義", "%s 講義%d", "%s 第%d講"}
	openings   = strings.Split(`講義の準備が整いました。 講義の内容を公開しました。 次の講義について知らせます。 今週の講義はこちらです。 予定どおり講義を行います。
		教室が変わりました。 オンラインでも参加できます。 遅れずに出席してください。 資料を印刷しておいてください。 前回の続きから始めます。`, " ")
	places = []string{"教室は%d号室です。", "%d番教室に集まってください。", "会議番号は%dです。", "接続先は%d番です。", "場所は%d講義室です。"}
	tasks  = []string{"課題は講義の後に提出してください。", "提出は一度でよく、やり直しもできます。", "問いに答えて PDF で提出してください。"}
)

// searchTeachers is the number of teachers whose names searches prefer.
const searchTeachers = 17

// majorShare is the share of courses of major subjects, prefixedShare that of those with a level.
const (
	majorShare    = 0.7
	prefixedShare = 0.5
)

// drawCourse makes the content of a course. Its code, slot and teacher are the caller's.
func drawCourse(r *rand.Rand) Course {
	c := Course{Credit: 1 + r.IntN(3), Description: choose(r, styles) + choose(r, notices), Status: statusRegistration}
	if r.Float64() < majorShare {
		c.Type = typeMajor
		first, second := choose(r, fields), choose(r, subjects)
		c.Name, c.Keywords = first+second+choose(r, majorEnds), first+" "+second
		if r.Float64() < prefixedShare {
			c.Name = choose(r, levels) + c.Name
		}
		return c
	}
	c.Type = typeLiberal
	c.Keywords = choose(r, humanities)
	c.Name = choose(r, eras) + c.Keywords + choose(r, liberalEnd)
	return c
}

// drawClass makes the title and the description of a class of a course.
func drawClass(r *rand.Rand, course string, part int) (title, description string) {
	title = fmt.Sprintf(choose(r, classNames), course, part)
	description = course + " " + strings.TrimSpace(choose(r, openings)) + fmt.Sprintf(choose(r, places), 100+r.IntN(900)) +
		choose(r, tasks)
	return title, description
}

// drawScore makes a score: normally distributed around 60 with a deviation of 12.
func drawScore(r *rand.Rand) int {
	const mean, deviation = 60, 12
	score := int(r.NormFloat64()*deviation + mean + 0.5)
	if score > 100 {
		score = 2*mean - score
	}
	return max(score, 0)
}

// fileName makes the name of a submission as students choose them.
func fileName(r *rand.Rand, course, class, code, name string) string {
	switch p := r.Float64(); {
	case p < 0.3:
		return course + "_" + class + "_" + code + ".pdf"
	case p < 0.6:
		return class + "_" + name + ".pdf"
	default:
		return code + ".pdf"
	}
}

const passwordLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// drawPassword makes a password of ten letters and digits.
func drawPassword(r *rand.Rand) string {
	b := make([]byte, 10)
	for i := range b {
		b[i] = passwordLetters[r.IntN(len(passwordLetters))]
	}
	return string(b)
}
