package patch

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// lines returns a file of short lines: lines("a b") is "a\nb\n".
func lines(words string) string { return strings.Join(strings.Fields(words), "\n") + "\n" }

// onto applies the only file of a diff.
func onto(diff, old string) (string, error) {
	files, err := parse(diff)
	if err != nil {
		return "", err
	}
	left := budget(maxCompares)
	out, err := files[0].apply([]byte(old), &left)
	return string(out.content), err
}

const head = "--- x\n+++ x\n"

// TestApply: the places where hunks apply, and line ends.
func TestApply(t *testing.T) {
	for _, c := range []struct{ name, diff, old, want string }{
		{"in place", head + "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", lines("a b c"), lines("a B c")},
		{"later than stated", head + "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", lines("x y a b c d"), lines("x y a B c d")},
		{"earlier than stated", head + "@@ -9,3 +9,3 @@\n a\n-b\n+B\n c\n", lines("x a b c"), lines("x a B c")},
		{"the nearer of two", head + "@@ -4,3 +4,3 @@\n a\n-b\n+B\n c\n", lines("a b c x a b c"), lines("a b c x a B c")},
		{"the second follows the first", head + "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -5,3 +5,3 @@\n a\n-b\n+C\n c\n",
			lines("1 2 3 a b c 4 a b c 5 6 7 8 a b c"), lines("1 2 3 a B c 4 a C c 5 6 7 8 a b c")},
		{"at the beginning", head + "@@ -1,1 +1,2 @@\n+n\n a\n", lines("a b"), lines("n a b")},
		{"at the end", head + "@@ -2,1 +2,2 @@\n b\n+n\n", lines("a b"), lines("a b n")},
		{"into an empty file", head + "@@ -0,0 +1,2 @@\n+a\n+b\n", "", lines("a b")},
		{"to an empty file", head + "@@ -1,2 +0,0 @@\n-a\n-b\n", lines("a b"), ""},
		{"without context, as stated", head + "@@ -2 +2 @@\n-b\n+B\n", lines("a b c"), lines("a B c")},
		{"no line feed before", head + "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n", "a\nb", lines("a b")},
		{"no line feed behind", head + "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n", lines("a b"), "a\nb"},
		{"no line feed at all", head + "@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file\n", "a\nb", "A\nb"},
		{"lost space", head + "@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n", "a\n\nb\n", "a\n\nc\n"},
		{"CR LF in both", head + "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+B\r\n", "a\r\nb\r\n", "a\r\nB\r\n"},
		{"converted diff, LF file", "--- x\r\n+++ x\r\n@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+B\r\n", lines("a b"), lines("a B")},
		{"converted diff, CR LF file", "--- x\r\n+++ x\r\n@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+B\r\n", "a\r\nb\r\n", "a\r\nB\r\n"},
		{"converted diff, no line feed", "--- x\r\n+++ x\r\n@@ -1 +1 @@\r\n-a\r\n\\ No newline at end of file\r\n+b\r\n\\ No newline at end of file\r\n", "a", "b"},
	} {
		if got, err := onto(c.diff, c.old); err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

// TestMisfit: a hunk that does not fit is refused, with the line that differs.
func TestMisfit(t *testing.T) {
	for _, c := range []struct {
		name, diff, old string
		line            int
		want, more      string
	}{
		{"other line", head + "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", lines("a x c"), 5, "line 2 of the file is", `is "x\n", the diff has "b\n"`},
		{"the nearest try is shown", head + "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", lines("1 2 3 a b x"), 7, "line 6 of the file is", `is "x\n", the diff has "c\n"`},
		{"white space", head + "@@ -1,3 +1,3 @@\n a\n-    b\n+B\n c\n", "a\n\tb\nc\n", 5, "the diff has", "white space only"},
		{"longer than the file", head + "@@ -1,3 +1,2 @@\n a\n-b\n c\n", lines("a b"), 3, "which has 2 lines", ""},
		{"not at the end", head + "@@ -1,2 +1,3 @@\n a\n b\n+n\n", lines("a b c"), 4, "the diff has", "at the end of the file"},
		{"not at the beginning", head + "@@ -1,2 +1,3 @@\n+n\n b\n c\n", lines("a b c"), 5, "the diff has", "at the beginning of the file"},
		{"insertion without context", head + "@@ -1,0 +2 @@\n+n\n", lines("a b c"), 3, "the place of these lines", ""},
		{"without context, elsewhere", head + "@@ -2 +2 @@\n-c\n+C\n", lines("a b c"), 4, "line 2 of the file is", ""},
		{"behind a hunk that stands later", head + "@@ -5,3 +5,3 @@\n a\n-b\n+B\n c\n@@ -9,3 +9,3 @@\n d\n-e\n+E\n f\n", lines("d e f a b c"), 8, "does not fit", ""},
		{"line feed on both sides of the end", head + "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n", "a\nb", 5, "the diff has", ""},
		{"unended in the middle", head + "@@ -1,3 +1,3 @@\n a\n-b\n+B\n\\ No newline at end of file\n c\n", lines("a b c"), 1, "would end without a line feed", ""},
	} {
		got, err := onto(c.diff, c.old)
		var e *DiffError
		if !errors.As(err, &e) || e.Line != c.line || !strings.Contains(e.Why, c.want) || !strings.Contains(e.Why, c.more) {
			t.Errorf("%s: %q, %v (%+v), want line %d: %s; %s", c.name, got, err, e, c.line, c.want, c.more)
		}
	}
}

// TestEquallyNear: a hunk that matches at two equally near places is refused.
func TestEquallyNear(t *testing.T) {
	_, err := onto(head+"@@ -5,3 +5,3 @@\n a\n-b\n+B\n c\n", lines("1 a b c 5 6 7 8 a b c")) // lines 2 and 9
	if err != nil {
		t.Errorf("3 before and 4 behind: %v", err)
	}
	_, err = onto(head+"@@ -5,3 +5,3 @@\n a\n-b\n+B\n c\n", lines("1 a b c 5 6 7 a b c"))
	if err == nil || !strings.Contains(err.Error(), "at lines 2 and 8, equally near") {
		t.Errorf("%v", err)
	}
}

// TestHostileSearch: no diff makes the search take long.
func TestHostileSearch(t *testing.T) {
	var b strings.Builder
	b.WriteString(head + "@@ -1,20001 +1,20001 @@\n" + strings.Repeat(" \n", 20_000) + "-x\n+y\n")
	_, err := onto(b.String(), strings.Repeat("\n", 400_000))
	if err == nil || !strings.Contains(err.Error(), "the diff has") && !strings.Contains(err.Error(), "takes too long") {
		t.Errorf("%v", err)
	}
	b.Reset()
	b.WriteString(head + "@@ -1,10002 +1,10002 @@\n" + strings.Repeat(" \n", 10_000) + "-x\n+y\n z\n")
	if _, err = onto(b.String(), strings.Repeat("\n", 400_000)); err == nil || !strings.Contains(err.Error(), "takes too long") {
		t.Errorf("%v", err)
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// TestAppliedBefore: a diff that is applied already changes nothing, also where
// its context occurs a second time.
func TestAppliedBefore(t *testing.T) {
	site := &change.Site{}
	dir := t.TempDir()
	plan := func(diff, now string) error {
		writeFile(t, filepath.Join(dir, "x"), now)
		files, err := parse(diff)
		if err != nil {
			return err
		}
		_, err = editsOf(site, "", dir, files)
		return err
	}
	twice := head + "@@ -2,2 +2,3 @@\n a\n+n\n b\n"
	for _, c := range []struct {
		name, diff, old string
	}{
		{"once", head + "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", lines("a b c")},
		{"the context is there again", twice, lines("1 a b 4 5 6 a b 9")},
		{"at the end", head + "@@ -2,1 +2,2 @@\n b\n+n\n", lines("a b")},
		{"moved", head + "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", lines("1 2 3 a b c")},
	} {
		if err := plan(c.diff, c.old); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		now, err := onto(c.diff, c.old)
		if err != nil {
			t.Fatal(err)
		}
		if err := plan(c.diff, now); !errors.Is(err, change.ErrNothing) {
			t.Errorf("%s: planned again on %q: %v", c.name, now, err)
		}
	}
	if err := plan("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n", "a\n"); !errors.Is(err, change.ErrNothing) {
		t.Errorf("a new file that is there already: %v", err)
	}
	if err := plan("--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", ""); !errors.Is(err, change.ErrNothing) {
		t.Errorf("a removed file that is gone already: %v", err)
	}
	if err := plan(head+"@@ -1 +1 @@\n-a\n+a\n", "a\n"); !errors.Is(err, change.ErrNothing) {
		t.Errorf("a line replaced by itself: %v", err)
	}
}

// TestLikeDiff: the output of diff -u and of git for two random files turns the
// one into the other, both ways.
func TestLikeDiff(t *testing.T) {
	tier.Slow(t)
	r := rand.New(rand.NewPCG(1, 2))
	dir := t.TempDir()
	random := func() string {
		var b strings.Builder
		for range 1 + r.IntN(30) {
			b.WriteString([]string{"", "a", "b", "-- x", "++ y", "\\ z", "c\r"}[r.IntN(7)] + "\n")
		}
		if r.IntN(3) == 0 {
			return b.String() + "z" // no line feed at the end
		}
		return b.String()
	}
	for i := range 100 {
		old, new := random(), random()
		writeFile(t, filepath.Join(dir, "a/x"), old)
		writeFile(t, filepath.Join(dir, "b/x"), new)
		tool := []string{"diff", "-u", fmt.Sprintf("-U%d", 1+r.IntN(3)), "a/x", "b/x"}
		if i%2 == 1 {
			tool = []string{"git", "diff", "--no-index", "--no-color", "--no-prefix", "a/x", "b/x"}
		}
		cmd := exec.Command(tool[0], tool[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
		diff, _ := cmd.Output() // status 1: the files differ
		if len(diff) == 0 {
			continue
		}
		files, err := parse(string(diff))
		if err != nil {
			t.Fatalf("%v\n%s", err, diff)
		}
		left := budget(maxCompares)
		got, err := files[0].apply([]byte(old), &left)
		if err != nil || string(got.content) != new {
			t.Fatalf("%v: %q, want %q\n%s", err, got.content, new, diff)
		}
		flipped := files[0].flip()
		if got, err = flipped.apply([]byte(new), &left); err != nil || string(got.content) != old {
			t.Fatalf("back: %v: %q, want %q\n%s", err, got.content, old, diff)
		}
	}
}

// FuzzApply: no input panics, every name stays in the folder, and a patch that
// applied at its stated lines can be undone.
func FuzzApply(f *testing.F) {
	f.Add(fast, greetGo)
	f.Add(head+"@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", lines("x a b c"))
	f.Add("--- x\r\n+++ x\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n\\ No newline at end of file\r\n", "a\r\n")
	f.Add("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "a\n")
	f.Add("diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n", "")
	f.Fuzz(func(t *testing.T, diff, old string) {
		files, err := parse(diff)
		if err != nil {
			var e *DiffError
			if !errors.As(err, &e) || e.Line < 1 || e.Line > strings.Count(diff, "\n")+2 {
				t.Fatalf("error without its line: %v", err)
			}
			return
		}
		for _, p := range files {
			if !filepath.IsLocal(p.path) || strings.Contains("/"+p.path, "/.") {
				t.Fatalf("name %q", p.path)
			}
			was := []byte(old)
			if p.creates {
				was = nil
			}
			left := budget(1 << 16)
			out, err := p.apply(was, &left)
			if err != nil || out.offset > 0 || p.crlf {
				continue
			}
			back := p.flip()
			left = budget(1 << 16)
			if got, err := back.apply(out.content, &left); err == nil && got.offset == 0 && !bytes.Equal(got.content, was) {
				t.Fatalf("back %q, want %q", got.content, was)
			}
		}
	})
}
