// Package seeded makes data for arenas from a seeded source: the same data for
// the same seed on every machine.
package seeded

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

var adjectives = strings.Fields(`
	able ample amused ancient apt ardent astute balanced bashful beaming bold bouncy brave breezy brief bright brisk
	bubbly busy calm candid careful casual cheerful chatty chilly civil classic clean clear clever coastal comfy composed
	content cool cordial cosy courtly crafty crisp curious dainty dapper daring dazzling deft devoted dewy diligent direct
	discreet drowsy dusty eager early earnest easy elastic elegant endless equal even exact fabled fair faithful famous
	fancy fearless festive fiery fleet floral fluent fluffy fond formal frank free fresh frosty frugal gallant gentle
	giddy glad gleeful glossy golden graceful gracious grand grateful handy happy hardy hasty hearty helpful hidden honest
	humble idle jaunty jolly jovial joyful keen kind large lasting lavish leafy learned light limber lively local lofty
	logical loyal lucid lucky lunar mellow merry mighty mild mindful misty modest musical narrow neat nimble noble noted
	orderly patient peaceful pensive placid plain plucky plush polite proud prudent quaint quick quiet rapid rare ready
	regal resolute restful robust rosy rustic sandy sedate sensible serene sharp shiny silent silver sincere sleepy sleek
	smooth snappy snug sober sociable solar solid spry stable steady stellar stout sturdy subtle sunny supple swift tactful
	tender thrifty tidy timely tranquil trusty upbeat upright urbane useful valiant velvet vivid warm wary watchful wise
	witty worthy zesty`)

var surnames = strings.Fields(`
	abe adachi akiyama amano ando aoki aoyama arai asano azuma baba chiba doi endo eguchi fujii fujimoto fujita fujiwara
	fukuda furukawa goto hamada hara harada hasegawa hashimoto hattori hayashi higuchi hirano hirata honda hori horiuchi
	hoshino ichikawa igarashi iida ikeda imai inoue ishibashi ishida ishihara ishii ishikawa ito iwamoto iwasaki iwata
	izumi kaneko kato kawaguchi kawai kawakami kawamura kawasaki kikuchi kimura kinoshita kishi kitagawa kitamura kobayashi
	koike kojima komatsu kondo kono koyama kubo kudo kumagai kuroda kurihara kuwahara maeda maruyama masuda matsuda matsui
	matsumoto matsuo matsuoka minami mitsui miura miyake miyamoto miyata miyazaki mizuno mochizuki mori morimoto morita
	murakami murata nagai nagata naito nakagawa nakajima nakamura nakano nakayama nishi nishida nishimura nishiyama noda
	noguchi nomura ochiai ogawa oishi okada okamoto okazaki okubo ono onishi osawa ota otani otsuka ozaki ozawa saito
	sakai sakamoto sakurai sano sasaki sato sawada seki shibata shimada shimizu shinohara sugawara sugimoto sugiyama
	suzuki tachibana taguchi takada takagi takahashi takano takeda takeuchi tamura tanabe tanaka tani taniguchi tashiro
	terada tsuchiya tsuda tsuji uchida ueda ueno umeda wada watanabe yamada yamaguchi yamamoto yamanaka yamashita
	yamazaki yano yasuda yokoyama yoshida yoshikawa yoshimura yoshioka yuasa`)

// UserName returns a user's name, adjective_surname. retry is how often a name
// was already taken: above 0 a digit is appended.
func UserName(r *rand.Rand, retry int) string {
	name := adjectives[r.IntN(len(adjectives))] + "_" + surnames[r.IntN(len(surnames))]
	if retry > 0 {
		name += fmt.Sprint(r.IntN(10))
	}
	return name
}

// UserNames returns each name once. Its zero value is ready. It is not safe for
// concurrent use.
type UserNames struct{ taken map[string]bool }

// Take reserves a name. It returns false if the name was already taken.
func (u *UserNames) Take(name string) bool {
	if u.taken == nil {
		u.taken = map[string]bool{}
	}
	if u.taken[name] {
		return false
	}
	u.taken[name] = true
	return true
}

// Next returns a name that was not taken before, and takes it.
func (u *UserNames) Next(r *rand.Rand) string {
	for retry := 0; ; retry++ {
		if name := UserName(r, retry); u.Take(name) {
			return name
		}
	}
}
