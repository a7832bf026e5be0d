package app

import (
	"cmp"
	"slices"

	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// A mapper makes the texts of its statements when it sends them, so that the source of an app
// does not show them. The observed run does.

// Bounds of what a remedy carries.
const (
	mostSeen    = 100 // statements
	mostTexts   = 400 // of them
	longestSeen = 4096
)

// unshown reports for a lever of all statements of an app whether a digest is a SELECT that no
// source shows, so that the app may send it. For other levers nothing is.
func unshown(v *cause.View, s cause.Site) func(cause.Digest) bool {
	if !s.Lever.Whole {
		return func(cause.Digest) bool { return false }
	}
	shown := map[string]bool{}
	for _, st := range v.Sends() {
		shown[st.Digest] = true
	}
	for _, site := range v.Sites {
		for _, p := range site.Places {
			for _, d := range p.Digests {
				shown[d] = true
			}
		}
	}
	return func(d cause.Digest) bool {
		return d.Query != nil && !shown[d.Query.Digest] && selects(d.Query.Fingerprint)
	}
}

// selects reports whether a statement reads rows of a table.
func selects(text string) bool {
	tokens, _ := sqltext.Unknown.Tokens(text)
	return len(tokens) > 0 && tokens[0].Is("SELECT") && sqltext.Find(tokens, 0, "FROM") > 0
}

// seenBeside are the texts of the statements of a run that a service may have sent and that no
// source shows, those of the most time first. Several services of an app's role may have sent
// them: a text that this one does not send costs its cache nothing.
func seenBeside(v *cause.View, service string) []string {
	at := slices.IndexFunc(v.Sites, func(s cause.Site) bool { return s.Service == service && s.Lever.Whole })
	if at < 0 {
		return nil
	}
	beside := unshown(v, v.Sites[at])
	var of []cause.Digest
	for _, d := range v.Digests {
		if beside(d) {
			of = append(of, d)
		}
	}
	slices.SortStableFunc(of, func(a, b cause.Digest) int { return cmp.Compare(b.Total, a.Total) })
	var out []string
	for _, d := range of[:min(len(of), mostSeen)] {
		logged := []string{d.Example.Text}
		if d.Query.Typical.Text != "" && d.Query.Typical.Text != d.Example.Text {
			logged = append(logged, d.Query.Typical.Text)
		}
		for _, text := range sqltext.MySQL.Sent(logged...) {
			if len(text) <= longestSeen && len(out) < mostTexts && !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	return out
}
