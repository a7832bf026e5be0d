package export

import (
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/show/plain"
)

// series writes the changes of source as patches for git am, in the order in which
// they were applied, each with its proof as the commit message. Paths are relative
// to the stack's folder: git am -p with the number of leading folders to drop fits
// them to a repository of the source.
func (f *folder) series(items []Item, o *Options) {
	var of []Item
	for _, it := range items {
		if it.rewrites() {
			of = append(of, it)
		}
	}
	for i, it := range of {
		text, err := it.mail(i+1, len(of), items, o)
		if err != nil && f.err == nil {
			f.err = fmt.Errorf("writing the patch of change %d: %w", it.Change.ID, err)
		}
		f.put(path.Join("series", fmt.Sprintf("%04d-%s.patch", i+1, slug(it.Change.Says))), []byte(text), ownFile)
	}
}

// rewrites reports whether a change rewrites the source of an app.
func (it Item) rewrites() bool {
	if it.Change.Remedy == nil {
		return false
	}
	act, err := change.Match(*it.Change.Remedy)
	return err == nil && act.Rewrites
}

// subjectLine is the longest subject of a commit message.
const subjectLine = 72

// mail is a patch in the form of git format-patch.
func (it Item) mail(n, of int, items []Item, o *Options) (string, error) {
	var b strings.Builder
	c := it.Change
	fmt.Fprintf(&b, "From %040d Mon Sep 17 00:00:00 2001\nFrom: iikanji <iikanji@localhost>\nDate: %s\n", 0, it.At.UTC().Format(time.RFC1123Z))
	says := oneLine(c.Says)
	subject, rest := says, ""
	if subject = plain.Cut(says, subjectLine); subject != says {
		rest = says + "\n\n"
	}
	fmt.Fprintf(&b, "Subject: [PATCH %d/%d] %s\nMIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n\n%s", n, of, subject, rest)
	b.WriteString(proof(it, items))
	b.WriteString("---\n\n")
	sum, err := fold([]Item{it}, o.Root)
	if err != nil {
		return "", err
	}
	for _, x := range sum.files {
		text, err := o.gitDiff(x)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	b.WriteString("-- \niikanji\n\n")
	return b.String(), nil
}

// proof is the body of a commit message: the finding, the effect, the runs and the
// comparison of answers.
func proof(it Item, items []Item) string {
	var b strings.Builder
	if it.Change.Answers != "" {
		fmt.Fprintf(&b, "Finding: %s\n", oneLine(string(it.Change.Answers)))
	}
	fmt.Fprintf(&b, "Effect on the score: %s, %s\n%s\n", Effect(it.Verdict), oneLine(call(it.Verdict)), oneLine(tried(it, items)))
	if v := it.Verdict; v != nil && v.Answered != nil {
		fmt.Fprintf(&b, "Answers of both builds were the same: %s\n", v.Answered)
	}
	for _, p := range it.Change.Weakens {
		fmt.Fprintf(&b, "Weakens %s\n", weakened[p])
	}
	return b.String()
}

// gitDiff is the diff of one file with the header of git. It has no context lines
// that may hold secrets.
func (o *Options) gitDiff(x file) (string, error) {
	head := fmt.Sprintf("diff --git a/%s b/%s\n", x.rel, x.rel)
	text := patch(x)
	if err := o.secretFree(x.rel, text); err != nil {
		less, ok := withoutContext(text)
		if !ok || o.secretFree(x.rel, less) != nil {
			return "", err
		}
		text = less
	}
	switch {
	case x.old == nil:
		head += "new file mode 100644\n"
		text = strings.Replace(text, "--- a/"+x.rel, "--- /dev/null", 1)
	case x.new == nil:
		head += "deleted file mode 100644\n"
		text = strings.Replace(text, "+++ b/"+x.rel, "+++ /dev/null", 1)
	}
	return head + text, nil
}

// slug is the beginning of a text as a part of a file name.
func slug(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case b.Len() >= 48:
			return strings.Trim(b.String(), "-")
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.Trim(b.String(), "-")
}

// seriesNote describes the series for the reader of README.md; "" without one.
func seriesNote(items []Item) string {
	for _, it := range items {
		if it.rewrites() {
			return "`series/` has the changes of source as commits: `git am -p3 series/*.patch` in a repository of the source, with as many leading\nfolders dropped as its paths are shorter.\n"
		}
	}
	return ""
}
