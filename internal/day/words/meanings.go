package words

import (
	"regexp"
	"strconv"

	"github.com/iikanji/iikanji"
)

// A word is an expression with what it means. A line has the meaning of the first that
// matches it and has none of what it must not have.
type word struct {
	means iikanji.Meaning
	form  *regexp.Regexp
	not   *regexp.Regexp // nil for none
}

// What grows in a benchmark: those who send requests, or how many they send.
const (
	loadEnglish  = `(?:users?|visitors?|customers?|clients?|students?|players?|viewers?|workers?|agents?|sessions?|teams?|tenants?|shops?|load(?: level)?|level|parallelism|concurrency|traffic|demand|request rate)`
	loadJapanese = `(?:ユーザー?数?|利用者数?|来客数?|お客様?|顧客数?|会員数?|人数|学生数?|参加者数?|ワーカー数?|並列数|並列度|同時接続数?|負荷(?:レベル)?|レベル|アクセス数?|流入)`
)

// faulty are words with which a line about numbers that (do not) grow is about faults.
var faulty = regexp.MustCompile(`(?i)\b(?:errors?|failures?|faults?|timeouts?|penalt\w+|load average)\b|エラー|失敗|減点|タイムアウト`)

// table has the words that benchmarkers use, in English and Japanese. What is more special
// comes first: a line about initialize that ended by a timeout is about initialize.
var table = []word{
	{iikanji.MeansInit, regexp.MustCompile(`(?i)\b(?:post |get )?/?(?:api/)?initiali[sz](?:e|ation|ing|er)\b|初期化|イニシャライズ`), nil},
	{iikanji.MeansMargin, regexp.MustCompile(`(?i)\b(?:errors?|failures?|faults?|violations?)\b[^0-9]{0,40}\d[\d,]*[^0-9]{0,30}(?:limit|max(?:imum)?|allowed|threshold|of|/)[^0-9]{0,12}\d`), nil},
	{iikanji.MeansMargin, regexp.MustCompile(`(?i)\d (?:errors?|failures?|faults?|violations?)\b[^0-9]{0,60}\b(?:limit|max(?:imum)?|allowed|threshold)\b[^0-9]{0,12}\d|\blimit\b[^0-9]{0,12}\d[\d,]* (?:errors?|failures?)\b`), nil},
	{iikanji.MeansMargin, regexp.MustCompile(`(?i)\d+\s*(?:/|of|out of)\s*(?:max(?:imum)? |at most )?\d+\s*(?:allowed |permitted |tolerated )?(?:errors?|failures?|faults?|violations?)\b`), nil},
	{iikanji.MeansMargin, regexp.MustCompile(`(?i)\b(?:errors?|failures?)\b.{0,40}\b(?:remaining|left|more)\b.{0,30}\b(?:fail|abort|disqualif|stop)|\b\d+ more (?:errors?|failures?)\b`), nil},
	{iikanji.MeansMargin, regexp.MustCompile(`(?:エラー|失敗|違反)[^0-9]{0,20}\d+[^0-9]{0,20}(?:上限|限度|許容|/|中)[^0-9]{0,12}\d+|(?:上限|限度|許容)[^0-9]{0,15}\d+[^0-9]{0,20}(?:エラー|失敗)[^0-9]{0,15}\d+|あと\s*\d+\s*(?:回|件|個)[^。]{0,20}(?:失格|不合格|打ち切り|終了|中断)`), nil},
	{iikanji.MeansNoGrowth, regexp.MustCompile(`(?i)\b` + loadEnglish + `\b.{0,40}\b(?:(?:did|does|do|could|can|will|would|was|were|is|are|has|have)(?: not|n't)|cannot|never|no longer|not)\b.{0,15}\b(?:increas|gr[eo]w|rais|ramp|add|scal|ris|com|join|gain)`), faulty},
	{iikanji.MeansNoGrowth, regexp.MustCompile(`(?i)\bno (?:new|more|additional|further) ` + loadEnglish + `\b|\b(?:not|n't|without|skip(?:ped|ping)?|stop(?:ped|ping)?|paus(?:ed|ing)|refus(?:ed|ing)|held back)\b.{0,20}\b(?:increas\w*|rais\w*|add\w*|ramp\w*|grow\w*|scal\w*)\b.{0,20}\b` + loadEnglish + `\b`), faulty},
	{iikanji.MeansNoGrowth, regexp.MustCompile(`(?i)\b` + loadEnglish + `\b.{0,25}\b(?:stays?|stayed|kept|keeps|remains?|remained|unchanged|held|stuck|frozen|stagnat\w+)\b|\b(?:growth|ramp[- ]?up) (?:was |is |has )?(?:stopped|paused|skipped|suspended|stalled)`), faulty},
	{iikanji.MeansNoGrowth, regexp.MustCompile(loadJapanese + `.{0,20}(?:増え(?:ません|なかった|ない|ず|ていない|ていません)|増加(?:しません|しなかった|しない|せず|なし)|上が(?:りません|らなかった|らない|らず|っていません)|上昇(?:しません|しなかった|せず|なし)|伸び(?:ません|なかった|ず)|追加(?:しません|されません|できません|されなかった|を見送)|据え置|頭打ち|維持)|` + loadJapanese + `を?(?:上げ|増や)(?:ません|られません|なかった|ない|せません|さず|ず)`), faulty},
	{iikanji.MeansStale, regexp.MustCompile(`(?i)\b(?:stale|outdated|too old|out of date|not (?:yet )?(?:updated|reflected|visible|fresh)|older than)\b|古い(?:情報|データ|内容|値|まま)|反映され(?:ていません|ません|ていない|なかった)|更新されて(?:いません|いない)|最新で(?:は|)(?:ありません|ない)`), nil},
	{iikanji.MeansTimeout, regexp.MustCompile(`(?i)\btime[- ]?outs?\b|\btimed[- ]out\b|\bdeadline exceeded\b|\bno (?:response|answer|reply) (?:with)?in\b|\b(?:took|takes) too long\b|\bgave up (?:waiting|after)\b|タイムアウト|時間切れ|時間内に(?:応答|返|終わ|完了し)|応答が(?:ありません|なかった|返ってき|遅すぎ)`), nil},
	{iikanji.MeansFailed, regexp.MustCompile(`(?i)\b(?:disqualified|critical(?: error)?|fatal(?: error)?|aborted?|benchmark (?:has )?failed|run failed|too many (?:errors|failures)|validation failed)\b|失格|不合格|致命的|ベンチマークを?(?:中断|終了し|打ち切)|打ち切り(?:ました|ます)|エラーが(?:多すぎ|上限)`), nil},
	{iikanji.MeansWrong, regexp.MustCompile(`(?i)\b(?:mismatch\w*|unexpected|wrong|incorrect|inconsisten\w+|invalid|does not match|do not match|didn't match|not found in|missing|should (?:be|have)|expected)\b|一致し(?:ません|ない|なかった)|正しく(?:ありません|ない|なかった)|不正な|期待(?:した|する|され)|異なり(?:ます|ました)|間違|見つかり(?:ません|ませんでした)|含まれて(?:いません|いない)`), nil},
	{iikanji.MeansError, regexp.MustCompile(`(?i)\b5\d\d\b(?: |$|:|,|\)).{0,3}|\binternal server error\b|\bbad gateway\b|\bservice unavailable\b|\bconnection (?:refused|reset|closed)|\bbroken pipe\b|\bEOF\b|\bdial tcp\b|接続(?:できません|に失敗|が切断|が拒否)|サーバー?エラー|リクエストに失敗|ステータスコード\D{0,12}[45]\d\d`), regexp.MustCompile(`(?i)\bscores?\s*[:=]|\btotal\s*[:=]|スコア|得点|点数`)},
	{iikanji.MeansGrowth, regexp.MustCompile(`(?i)\b` + loadEnglish + `\b.{0,30}\b(?:increased|increases|grew|grows|raised|rose|added|ramped up|ramping up|joined|arrived|came|scaled up|signed up)\b|\b(?:increas(?:ed|ing)|rais(?:ed|ing)|add(?:ed|ing)|ramp(?:ed|ing) up)\b.{0,20}\b` + loadEnglish + `\b|\+\d+ ` + loadEnglish + `\b`), faulty},
	{iikanji.MeansGrowth, regexp.MustCompile(loadJapanese + `.{0,20}(?:増えました|増えた|増加しました|増加|上がりました|上げました|上昇しました|上昇|追加しました|増やしました|引き上げ|伸びました|\+\s*\d+)`), faulty},
}

// meaningOf is what the table says of a line.
func meaningOf(text string) iikanji.Meaning {
	for _, w := range table {
		if w.form.MatchString(text) && (w.not == nil || !w.not.MatchString(text)) {
			return w.means
		}
	}
	return iikanji.MeansNothing
}

const someNumber = `(\d[\d,]*(?:\.\d+)?)`

var (
	// valueAndLimit matches "45 / 50", "45 (limit 50)", "45件 (上限 50件)"; limitAndValue the
	// other order.
	valueAndLimit = regexp.MustCompile(`(?i)` + someNumber + `\D{0,50}?(?:/|\bof\b|\blimit|\bmax|\ballowed|\bthreshold|\bwithin\b|上限|限度|許容|制限|中)\D{0,15}?` + someNumber)
	limitAndValue = regexp.MustCompile(`(?i)(?:\blimit|\bmax|上限|限度|許容|制限)\D{0,15}?` + someNumber + `\D{1,40}?` + someNumber)
	// lasted matches a time with its unit.
	lasted = regexp.MustCompile(`(?i)(\d+(?:\.\d+)?)\s*(ms|msec|milliseconds?|ミリ秒|m(?:in)?\s|s\b|secs?\b|seconds?\b|秒)`)
	// longest matches the limit of a time.
	longest = regexp.MustCompile(`(?i)(?:\blimit|\bmax\w*|\bwithin|\bof|\bmust\b.{0,20}|\bunder|/|上限|制限(?:時間)?)\D{0,12}?(\d+(?:\.\d+)?)\s*(ms|msec|milliseconds?|ミリ秒|s\b|secs?\b|seconds?\b|秒)|(\d+(?:\.\d+)?)\s*(秒)(?:以内|まで)`)
)

// numbersOf are the value and the limit of a line with a meaning, 0 for what it lacks.
func numbersOf(means iikanji.Meaning, text string) (value, limit float64) {
	switch means {
	case iikanji.MeansMargin:
		if m := limitAndValue.FindStringSubmatch(text); m != nil && valueAndLimit.FindStringIndex(text) == nil {
			return number(m[2]), number(m[1])
		}
		if m := valueAndLimit.FindStringSubmatch(text); m != nil {
			return number(m[1]), number(m[2])
		}
	case iikanji.MeansInit:
		if m := longest.FindStringSubmatch(text); m != nil {
			limit = inSeconds(m[1]+m[3], m[2]+m[4])
		}
		for _, m := range lasted.FindAllStringSubmatch(text, -1) {
			if v := inSeconds(m[1], m[2]); v != limit {
				return v, limit
			}
		}
	}
	return 0, limit
}

func number(text string) float64 {
	plain := ""
	for _, r := range text {
		if r != ',' {
			plain += string(r)
		}
	}
	f, err := strconv.ParseFloat(plain, 64)
	if err != nil || f > 1e12 {
		return 0
	}
	return f
}

// inSeconds is a time with a unit of lasted.
func inSeconds(text, unit string) float64 {
	switch v := number(text); {
	case len(unit) >= 2 && (unit[0] == 'm' || unit[0] == 'M') && (unit[1] == 's' || unit[1] == 'S'), unit == "ミリ秒", len(unit) > 5 && (unit[:5] == "milli" || unit[:5] == "Milli"):
		return v / 1000
	case unit[0] == 'm' || unit[0] == 'M':
		return v * 60
	default:
		return v
	}
}
