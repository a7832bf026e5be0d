package sites

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
)

func list(s string) []string { return strings.Fields(s) }

func pick(r *rand.Rand, all []string) string { return all[r.IntN(len(all))] }

func letters(r *rand.Rand, alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

const (
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digit  = "0123456789"
	base62 = digit + upper + lower
	base64 = base62 + "-_"
	base36 = digit + lower
	hex    = digit + "abcdef"
)

var (
	adjectives = list(`quick brown silent golden hidden ancient modern simple broken frozen wild gentle rapid lonely curious bright dark
		heavy light empty sacred royal clever brave calm eager fancy giant happy jolly kind lucky magic noble proud rusty shiny tiny vivid warm`)
	nouns = list(`river mountain engine garden window bridge castle forest harbor island jungle kitchen lantern market needle ocean palace
		quarry rocket saddle temple umbrella valley whistle yacht zebra anchor barrel candle dragon eagle feather guitar hammer iron jacket kettle
		ladder mirror novel orchid piano quilt ribbon shoes tiger violin wagon bread coffee winter summer database compiler network kernel`)
	people = list(`alice bob carol dave erin frank grace heidi ivan judy kenji laura mallory nina oscar peggy quentin rupert sybil trent
		ursula victor wendy xavier yuki zoe akira bella cyrus diana emil fiona gustav hanako ines jonas karin liam mona nadia otto priya
		ravi sakura tomas uma vera wasim ximena yusuf zara haruto mei sora aoi ren hina kaito riku yui taro jiro saburo goro naoki`)
	companies = list(`acme globex initech umbrella hooli stark wayne wonka cyberdyne tyrell soylent massive vandelay oceanic aperture
		blackmesa oscorp lexcorp dunder sterling prestige pied gringotts monarch nakatomi weyland yoyodyne zorg virtucon spacely cogswell
		duff krusty paper bluth sacred contoso fabrikam northwind tailspin litware adatum proseware woodgrove trey alpine`)
	tags = list(`golang rust python linux docker kubernetes redis mysql nginx security testing performance design travel food music photography
		javascript css html algorithms history philosophy cooking gardening cycling running chess cinema poetry astronomy robotics`)
	places = list(`tokyo osaka kyoto paris london berlin madrid rome vienna prague lisbon dublin oslo helsinki warsaw athens cairo
		nairobi lagos mumbai delhi bangkok hanoi seoul taipei sydney auckland toronto chicago boston denver seattle dallas`)
	genres  = list(`electronics books toys garden sports beauty grocery automotive furniture jewelry shoes watches luggage stationery pets baby`)
	locales = list(`en ja fr de es it ko zh pt-BR zh-TW nl pl`)
	kana    = []rune("あいうえおかきくけこさしすせそたちつてとなにぬねの桜山川海空花鳥風月")
)

func slug(r *rand.Rand) string {
	return pick(r, adjectives) + "-" + pick(r, nouns) + "-" + pick(r, nouns)
}

func shortSlug(r *rand.Rand) string { return pick(r, adjectives) + "-" + pick(r, nouns) }

func longSlug(r *rand.Rand) string {
	return "how-to-" + pick(r, []string{"build", "find", "fix", "clean", "paint"}) + "-the-" + slug(r)
}

func user(r *rand.Rand) string {
	switch r.IntN(4) {
	case 0:
		return pick(r, people) + fmt.Sprint(r.IntN(100))
	case 1:
		return pick(r, people) + "_" + pick(r, nouns)
	}
	return pick(r, people)
}

func from(all []string) func(*rand.Rand) string {
	return func(r *rand.Rand) string { return pick(r, all) }
}

func number(max int) func(*rand.Rand) string {
	return func(r *rand.Rand) string { return fmt.Sprint(1 + r.IntN(max)) }
}

func random(prefix, alphabet string, n int) func(*rand.Rand) string {
	return func(r *rand.Rand) string { return prefix + letters(r, alphabet, n) }
}

func uuid(r *rand.Rand) string {
	return fmt.Sprintf("%s-%s-4%s-a%s-%s", letters(r, hex, 8), letters(r, hex, 4), letters(r, hex, 3), letters(r, hex, 3), letters(r, hex, 12))
}

func japanese(r *rand.Rand) string {
	b := make([]rune, 3+r.IntN(5))
	for i := range b {
		b[i] = kana[r.IntN(len(kana))]
	}
	return url.PathEscape(string(b))
}

func title(r *rand.Rand) string {
	up := func(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
	return up(pick(r, adjectives)) + "_" + up(pick(r, nouns))
}

// chunk is the name of a bundled file with a hash, as bundlers write it.
func chunk(alphabet string, n int) func(*rand.Rand) string {
	return func(r *rand.Rand) string { return pick(r, nouns) + "-" + letters(r, alphabet, n) }
}

// common are parameters that many sites have.
var common = map[string]Pool{
	"id":   {Make: number(5000)},
	"uuid": {Make: uuid},
	"year": {Make: func(r *rand.Rand) string { return fmt.Sprint(2018 + r.IntN(8)) }, N: 8},
	"md5":  {Make: random("", hex, 32), N: 400, Zipf: true},
	"mm":   {Make: func(r *rand.Rand) string { return fmt.Sprintf("%02d", 1+r.IntN(12)) }, N: 12},
}
