package isublog

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// The mix of the load, as a list. Each entry is equally likely.
const (
	rounds       = 20 // of the index and all static files
	mainEntries  = 30 // of the article that the run posts
	otherEntries = 50 // of articles drawn once per run
)

// Shares of the requests in percent.
const (
	keepAlivePercent = 3
	encodingPercent  = 69
)

const (
	titleLetters = 20
	bodyLetters  = 1000
	nameLetters  = 5
	// Of 60 comments, 41 go to the article of the run on average.
	commentsOf, commentsMain = 60, 41
)

// alphabet are the characters of random texts: 211, of which 5 are line breaks.
var alphabet = []rune("abcdefghijklmnopqrstuvwxyz0123456789" +
	"あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわをん" +
	"アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン" +
	"ａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺ" +
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ" + "\n\n\n\n\n")

// letters returns a random text.
func letters(r *rand.Rand, n int) string {
	text := make([]rune, n)
	for i := range text {
		text[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(text)
}

// A plan is the work that a seed offers. Its parts use generators of their own, so
// that the answers of the target do not change it.
type plan struct {
	article  Article // the run's own; its id is predicted
	others   []int   // ids of the load
	picks    *rand.Rand
	comments *rand.Rand
	checks   *rand.Rand
}

// newPlan makes the plan of a run whose article will have an id.
func newPlan(s scenario.Session, id int) *plan {
	texts := s.Rand("article")
	p := &plan{picks: s.Rand("picks"), comments: s.Rand("comments"), checks: s.Rand("checks")}
	p.article = Article{ID: id, Title: strings.ReplaceAll(letters(texts, titleLetters), "\n", ""), Body: letters(texts, bodyLetters)}
	urls := s.Rand("urls")
	for range otherEntries {
		p.others = append(p.others, 1+urls.IntN(id))
	}
	return p
}

// A target is one entry of the load's list.
type target struct {
	step scenario.Step
	path string
}

// targets returns the list of the load.
func (p *plan) targets() (list []target) {
	for range rounds {
		list = append(list, target{stepIndex, "/"})
		for _, f := range statics() {
			list = append(list, target{stepOfStatic(f.path), f.path})
		}
	}
	for range mainEntries {
		list = append(list, target{stepArticle, articlePath(p.article.ID)})
	}
	for _, id := range p.others {
		list = append(list, target{stepArticle, articlePath(id)})
	}
	return list
}

func articlePath(id int) string { return "/article/" + itoa(id) }

// A shot is one request of the load: an entry of the list and its two headers.
type shot struct {
	target                  int
	keepAlive, encodingSent bool
}

// shoot draws the next request of a list.
func shoot(r *rand.Rand, targets int) shot {
	return shot{r.IntN(targets), r.IntN(100) < keepAlivePercent, r.IntN(100) < encodingPercent}
}

// nextComment draws a comment. Half have no name.
func nextComment(r *rand.Rand, article int) Comment {
	c := Comment{Article: article}
	if r.IntN(commentsOf) >= commentsMain {
		c.Article = 1 + r.IntN(article)
	}
	if r.IntN(2) == 0 {
		for squeezed(c.Name) == "" {
			c.Name = letters(r, nameLetters)
		}
	}
	c.Body = letters(r, 100+r.IntN(200))
	return c
}

// work returns a digest of the work that the seed offers: the article, the list, the
// first requests and the first comments. It is cut to 48 bits so that a float64
// holds it exactly.
func work(s scenario.Session, id int) float64 {
	p, sum := newPlan(s, id), fnv.New64a()
	fmt.Fprintln(sum, p.article.Title, p.article.Body, p.others)
	for range 1000 {
		fmt.Fprintln(sum, shoot(p.picks, rounds))
	}
	for range 100 {
		fmt.Fprintln(sum, nextComment(p.comments, id))
	}
	return float64(sum.Sum64() >> 16)
}
