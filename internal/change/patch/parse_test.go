package patch

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestParseRefuses: a mistake in a diff is an error with its line.
func TestParseRefuses(t *testing.T) {
	const head = "--- a/x.go\n+++ b/x.go\n"
	for _, c := range []struct {
		name, diff string
		line       int
		want       string
	}{
		{"nothing", "\n\n", 1, "the diff names no file"},
		{"prose before", "Here is the patch:\n" + head, 1, "not a part of a unified diff"},
		{"prose behind", head + "@@ -1 +1 @@\n-a\n+b\nThat is all.\n", 6, "not a part of a unified diff"},
		{"fence", "```diff\n" + head, 1, "not a part of a unified diff"},
		{"hunk first", "@@ -1 +1 @@\n-a\n+b\n", 1, "before the --- and +++ lines"},
		{"no +++", "--- a/x.go\n@@ -1 +1 @@\n-a\n+b\n", 2, "want the +++ line"},
		{"no ---", "+++ b/x.go\n", 1, "without the --- line"},
		{"no hunks", head, 1, "has no hunks"},
		{"bad header", head + "@@ -1,x +1 @@\n", 3, "not the header of a hunk"},
		{"line zero", head + "@@ -0,1 +1,1 @@\n-a\n+b\n", 3, "counted from 1"},
		{"too few lines", head + "@@ -1,3 +1,3 @@\n a\n-b\n+c\n", 7, "ends early"},
		{"too few, next file", head + "@@ -1,2 +1,2 @@\n-b\n+c\ndiff --git a/y b/y\n", 6, "ends early"},
		{"too many lines", head + "@@ -1,1 +1,1 @@\n-a\n+b\n+c\n", 6, "the hunk goes on"},
		{"too many of one side", head + "@@ -1,1 +1,2 @@\n-a\n-b\n+c\n+d\n", 5, "a line too many"},
		{"changes nothing", head + "@@ -1,2 +1,2 @@\n a\n b\n", 3, "changes nothing"},
		{"overlap", head + "@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -2,1 +2,1 @@\n-b\n+B\n", 7, "before the end of the one before"},
		{"marker alone", head + "@@ -1 +1 @@\n\\ No newline at end of file\n", 4, "belongs to no line"},
		{"marker twice", head + "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n\\ No newline at end of file\n+b\n", 6, "belongs to no line"},
		{"two files", "--- a/x.go\n+++ b/y.go\n", 1, "are two files"},
		{"orig", "--- x.go.orig\n+++ x.go\n", 1, "are two files"},
		{"same file twice", head + "@@ -1 +1 @@\n-a\n+b\n" + head + "@@ -9 +9 @@\n-a\n+b\n", 6, "patched at line 1 too"},
		{"both null", "--- /dev/null\n+++ /dev/null\n", 1, "both names"},
		{"new with old lines", "--- /dev/null\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", 1, "is new"},
		{"removed with new lines", "--- a/x\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", 1, "is removed"},
		{"binary", "diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\n", 3, "a binary file"},
		{"binary, plain", "Binary files a/x and b/x differ\n", 1, "a binary file"},
		{"byte 0", head + "@@ -1 +1 @@\n-a\n+b\x00\n", 5, "a byte 0"},
		{"rename", "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", 2, "a rename"},
		{"mode", "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", 2, "a change of mode"},
		{"new mode alone", "diff --git a/x b/x\nnew mode 100755\n", 2, "a change of mode"},
		{"new link", "diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/etc/passwd\n", 2, "only 100644 is allowed"},
		{"new program", "diff --git a/x b/x\nnew file mode 100755\n", 2, "only 100644 is allowed"},
		{"link", "diff --git a/x b/x\nindex 1..2 120000\n", 2, "not a regular file"},
		{"removed module", "diff --git a/x b/x\ndeleted file mode 160000\n", 2, "not a regular file"},
		{"header only", "diff --git a/x b/x\nnew file mode 100644\nindex 0000000..e69de29\n", 1, "has no hunks"},
		{"header only, then another", "diff --git a/x b/x\nindex 1..2\ndiff --git a/y b/y\n", 1, "has no hunks"},
		{"git disagrees", "diff --git a/x b/x\nnew file mode 100644\n--- a/x\n+++ b/x\n", 3, "disagree"},
		{"escape sequence", head + "@@ -1 +1 @@\n-a\n+\x1b[2Jb\n", 5, "invisible characters"},
		{"turned text", head + "@@ -1 +1 @@\n-a\n+// \u202e b\n", 5, "invisible characters"},
		{"too large", head + strings.Repeat("+\n", maxDiff), 1, "are allowed"},
	} {
		_, err := parse(c.diff)
		var e *DiffError
		if !errors.As(err, &e) || e.Line != c.line || !strings.Contains(e.Why, c.want) {
			t.Errorf("%s: %v, want line %d: %s", c.name, err, c.line, c.want)
		}
	}
}

// TestNames: names that denote a file of the source folder, and names that do
// not.
func TestNames(t *testing.T) {
	for _, c := range []struct{ old, new, path string }{
		{"a/main.go", "b/main.go", "main.go"},
		{"main.go", "main.go", "main.go"},
		{"a/main.go", "a/main.go", "a/main.go"}, // no prefixes: a folder a
		{"a/a/main.go", "b/a/main.go", "a/main.go"},
		{"a/main.go\t2026-01-01 00:00:00", "b/main.go\t2026-01-01 00:00:01", "main.go"},
		{"/dev/null", "b/deep/new.go", "deep/new.go"},
		{"a/old.go", "/dev/null", "old.go"},
		{"a/日本.go", "b/日本.go", "日本.go"},
		{"a/with space.go", "b/with space.go", "with space.go"},
		{"a/../x.go", "b/../x.go", ""},
		{"a/x/../../y.go", "b/x/../../y.go", ""},
		{"../x.go", "../x.go", ""},
		{"/etc/passwd", "/etc/passwd", ""},
		{"a//etc/passwd", "b//etc/passwd", ""},
		{"/dev/null", "b//etc/cron.d/x", ""},
		{"/dev/null", "/etc/cron.d/x", ""},
		{"/dev/null", "../x", ""},
		{"a/.git/hooks/post-checkout", "b/.git/hooks/post-checkout", ""},
		{"a/x/.git/config", "b/x/.git/config", ""},
		{"a/./x.go", "b/./x.go", ""},
		{"a/x/", "b/x/", ""},
		{"a/", "b/", ""},
		{`"a/\303\251.go"`, `"b/\303\251.go"`, ""},
		{`a/x\y`, `b/x\y`, ""},
		{"a/x ", "b/x ", ""},
		{"a/\xff", "b/\xff", ""},
		{"a/x\u200b.go", "b/x\u200b.go", ""},
		{"a/" + strings.Repeat("n", 256), "b/" + strings.Repeat("n", 256), ""},
		{"a/" + strings.Repeat("n/", 300) + "n", "b/" + strings.Repeat("n/", 300) + "n", ""},
	} {
		hunk := "@@ -1 +1 @@\n-a\n+b\n"
		switch {
		case c.old == devNull:
			hunk = "@@ -0,0 +1 @@\n+b\n"
		case c.new == devNull:
			hunk = "@@ -1 +0,0 @@\n-b\n"
		}
		files, err := parse("--- " + c.old + "\n+++ " + c.new + "\n" + hunk)
		switch {
		case c.path == "" && err == nil:
			t.Errorf("%q %q: taken for %q", c.old, c.new, files[0].path)
		case c.path != "" && err != nil:
			t.Errorf("%q %q: %v", c.old, c.new, err)
		case c.path != "" && files[0].path != c.path:
			t.Errorf("%q %q: %q, want %q", c.old, c.new, files[0].path, c.path)
		}
	}
}

// TestParseAccepts: forms that are correct.
func TestParseAccepts(t *testing.T) {
	for name, diff := range map[string]string{
		"git":                 "diff --git a/x b/x\nindex 1234..5678 100755\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ func main() {\n-a\n+b\n c\n",
		"diff -ru":            "diff -ru a/x b/x\n--- a/x\t2026-01-01\n+++ b/x\t2026-01-01\n@@ -1 +1 @@\n-a\n+b\n",
		"svn":                 "Index: x\n" + strings.Repeat("=", 67) + "\n--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n",
		"no last line feed":   "--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b",
		"blank lines between": "\n--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n\n--- y\n+++ y\n@@ -1 +1 @@\n-a\n+b\n\n",
		"lost space":          "--- x\n+++ x\n@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n",
		"like a header":       "--- x\n+++ x\n@@ -1,2 +1,1 @@\n--- y\n a\n",
		"CR LF":               "--- x\r\n+++ x\r\n@@ -1,3 +1,3 @@\r\n a\r\n\r\n-b\r\n+c\r\n",
		"go.mod":              "--- go.mod\n+++ go.mod\n@@ -1,2 +1,5 @@\n module x\n go 1.24\n+\n+require golang.org/x/sync v0.10.0\n+require (\n",
	} {
		files, err := parse(diff)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, f := range files {
			if err := f.allowed(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestTooManyFiles: a diff of more files than the limit is refused.
func TestTooManyFiles(t *testing.T) {
	var b strings.Builder
	for i := range maxFiles + 1 {
		fmt.Fprintf(&b, "--- f%[1]d\n+++ f%[1]d\n@@ -1 +1 @@\n-a\n+b\n", i)
	}
	if _, err := parse(b.String()); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("%v", err)
	}
}

// TestRequireLines: the lines of go.mod that a patch may add or remove.
func TestRequireLines(t *testing.T) {
	for line, ok := range map[string]bool{
		"require example.org/x v1.2.3":                      true,
		"\texample.org/x v1.2.3 // indirect":                true,
		"\tgithub.com/a/b v0.0.0-20260101000000-abcdefabcd": true,
		"require (":                          true,
		")":                                  true,
		"":                                   true,
		"toolchain go1.99.0":                 false,
		"go 1.99":                            false,
		"module evil":                        false,
		"replace a => ../b":                  false,
		"replace (":                          false,
		"\texample.org/x => /etc":            false,
		"\texample.org/x v1.0.0 => /etc":     false,
		"exclude example.org/x v1.0.0":       false,
		"godebug tlsrsakex=1":                false,
		"tool example.org/x":                 false,
		`"toolchain" go1.99`:                 false,
		"// a comment":                       false,
		"example.org/x v1.2.3 // go:1 \"":    false,
		"example.org/x v1.2.3\rtoolchain go": false,
	} {
		for _, mark := range []byte("+-") {
			f := filePatch{path: "go.mod", hunks: []hunk{{lines: []hunkLine{{mark: mark, text: line + "\n"}}}}}
			if err := f.allowed(); (err == nil) != ok {
				t.Errorf("%c%q: %v", mark, line, err)
			}
		}
	}
}
