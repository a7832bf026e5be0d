package isublog

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	// Articles and Comments are the numbers of initial rows. Their ids begin with 1
	// and have no gap.
	Articles = 3000
	Comments = 72000

	dataSeed = 2011
)

// JST is the time zone of the contest.
var JST = time.FixedZone("JST", 9*60*60)

// newestArticle is the time of the newest initial article, and newestComment that
// of the newest initial comment.
var (
	newestArticle = time.Date(2011, 8, 26, 23, 50, 0, 0, JST)
	newestComment = time.Date(2011, 8, 27, 9, 59, 59, 0, JST)
)

const (
	articleEvery = 10 * time.Minute
	commentEvery = 25 * time.Second
)

// An Article is one article of the initial data.
type Article struct {
	ID          int
	Title, Body string
	CreatedAt   time.Time
}

// A Comment is one comment of the initial data. Half of them have no name.
type Comment struct {
	ID, Article int
	Name, Body  string
	CreatedAt   time.Time
}

// initialArticles are drawn once per process.
var initialArticles = sync.OnceValue(func() []Article {
	r := rand.New(rand.NewPCG(dataSeed, 1))
	list := make([]Article, Articles)
	for i := range list {
		list[i] = Article{ID: i + 1, Title: heading(r), Body: articleBody(r),
			CreatedAt: newestArticle.Add(-time.Duration(Articles-1-i) * articleEvery)}
	}
	return list
})

// articleBody returns 300 to 3,000 characters in up to 40 lines. About half of the
// bodies have more lines than the index shows.
func articleBody(r *rand.Rand) string {
	want := 300 + r.IntN(1+r.IntN(2640))
	lines := 1 + r.IntN(8)
	if r.IntN(2) == 0 {
		lines = 12 + r.IntN(28)
	}
	return prose(r, want, want/lines+1)
}

// Most letters take three bytes. With the room for them and for the last sentence, prose
// hardly ever copies a text to a larger place.
const letterBytes, sentenceBytes = 3, 150

// prose returns sentences of at least a number of characters in lines of about a
// number of characters. It has no empty line at its end.
func prose(r *rand.Rand, want, perLine int) string {
	var b strings.Builder
	b.Grow(letterBytes*want + sentenceBytes)
	inLine := 0
	for n := 0; n < want; {
		s := sentence(r)
		length := utf8.RuneCountInString(s)
		if inLine >= perLine {
			b.WriteByte('\n')
			n, inLine = n+1, 0
		}
		b.WriteString(s)
		n, inLine = n+length, inLine+length
	}
	return b.String()
}

// eachComment calls do with the initial comments in the order of their ids. A
// comment's article is drawn with more weight on new articles.
func eachComment(do func(Comment) error) error {
	r := rand.New(rand.NewPCG(dataSeed, 2))
	for i := range Comments {
		c := Comment{ID: i + 1, Article: commented(r), CreatedAt: newestComment.Add(-time.Duration(Comments-1-i) * commentEvery)}
		if r.IntN(2) == 0 {
			c.Name = pick(r, things)
		}
		c.Body = commentBody(r)
		if err := do(c); err != nil {
			return err
		}
	}
	return nil
}

// commented draws the article of a comment. Half of the comments go to all articles
// alike, which gives each about twelve, and half by a law in which the newest have
// most: the newest 500 have about 40 comments each.
func commented(r *rand.Rand) int {
	if r.IntN(2) == 0 {
		return 1 + r.IntN(Articles)
	}
	u := r.Float64()
	return Articles - int(u*u*float64(Articles))
}

// commentBody returns 50 to 600 characters, most of them few.
func commentBody(r *rand.Rand) string {
	want := 50 + r.IntN(1+r.IntN(490))
	return pick(r, remarks) + "。" + prose(r, want, 20+r.IntN(60))
}

func itoa(n int) string { return strconv.Itoa(n) }
