package isublog

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/dom"
)

// createdForm is how a page shows a time; the zone is optional.
var createdForm = regexp.MustCompile(`^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}( \+0900)?$`)

// squeezed removes all white space: a name may have line breaks, which pages show as
// they like.
func squeezed(text string) string { return strings.Join(strings.Fields(text), "") }

// checkCreated checks how a time is shown, and the time itself if it is known.
func (p *blogPage) checkCreated(got string, want time.Time) error {
	if !createdForm.MatchString(got) {
		return p.wrong("created-format", "%q is not a time", got)
	}
	if shown := want.In(JST).Format(time.DateTime); !want.IsZero() && got[:len(shown)] != shown {
		return p.wrong("created-time", "created at %q, want %s", got, shown)
	}
	return nil
}

// checkArticle checks the only article of its page.
func (p *blogPage) checkArticle(want Article) error {
	if len(p.articles) != 1 {
		return p.wrong("article-count", "%d articles on the page of one", len(p.articles))
	}
	got := p.articles[0]
	if squeezed(got.title) != squeezed(want.Title) {
		return p.wrong("article-title", "title %.60q, want %.60q", got.title, want.Title)
	}
	if err := p.checkCreated(got.created, want.CreatedAt); err != nil {
		return err
	}
	return p.checkLines("article-body", got.lines, dom.LinesOf(want.Body))
}

func (p *blogPage) checkLines(check string, got, want []string) error {
	if slices.Equal(got, want) {
		return nil
	}
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			return p.wrong(check, "%d lines, want %d; line %d is not %.60q", len(got), len(want), i+1, want[i])
		}
	}
	return p.wrong(check, "%d lines, want %d", len(got), len(want))
}

// checkComments checks all comments of a page, in their order.
func (p *blogPage) checkComments(want []Comment) error {
	if len(p.comments) != len(want) {
		return p.wrong("comment-count", "%d comments, want %d", len(p.comments), len(want))
	}
	for i, c := range want {
		got := p.comments[i]
		if !got.is(c) {
			return p.wrong("comment-altered", "comment %d is by %.30q, want %.30q with its text", i+1, got.name, label(c.Name))
		}
		if err := p.checkCreated(got.created, c.CreatedAt); err != nil {
			return err
		}
	}
	return nil
}

// label is the name under which a comment is shown.
func label(name string) string {
	if name == "" {
		return anonymous
	}
	return name
}

// is reports whether a comment is shown as it was posted.
func (c *shownComment) is(want Comment) bool {
	return squeezed(c.name) == squeezed(label(want.Name)) && slices.Equal(c.lines, dom.LinesOf(want.Body))
}

// has reports whether the page shows a comment.
func (p *blogPage) has(want Comment) bool {
	return slices.ContainsFunc(p.comments, func(c shownComment) bool { return c.is(want) })
}

// missing returns the first of some comments that the page does not show behind the
// ones before it, nil if it shows all in their order.
func (p *blogPage) missing(want []Comment) *Comment {
	at := 0
	for i := range want {
		for at < len(p.comments) && !p.comments[at].is(want[i]) {
			at++
		}
		if at == len(p.comments) {
			return &want[i]
		}
		at++
	}
	return nil
}

// checkIndex checks the index: the newest articles, in descending order of their
// ids, each with its first lines.
func (p *blogPage) checkIndex(want []Article) error {
	if len(p.articles) != indexArticles {
		return p.wrong("index-count", "%d articles on the index, want %d", len(p.articles), indexArticles)
	}
	for i, a := range want {
		got := p.articles[i]
		if got.id != a.ID {
			return p.wrong("index-order", "article %d of the index links to article %d, want %d", i+1, got.id, a.ID)
		}
		if squeezed(got.title) != squeezed(a.Title) {
			return p.wrong("index-title", "title %.60q, want %.60q", got.title, a.Title)
		}
		if err := p.checkCreated(got.created, a.CreatedAt); err != nil {
			return err
		}
		if err := p.checkLines("index-preview", got.lines, preview(a.Body)); err != nil {
			return err
		}
	}
	return nil
}

// preview returns the first lines of a text, as the index shows them.
func preview(body string) []string {
	lines := strings.Split(body, "\n")
	return dom.LinesOf(strings.Join(lines[:min(len(lines), previewLines)], "\n"))
}
