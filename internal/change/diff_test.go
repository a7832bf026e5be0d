package change

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
)

// TestDiffApplies: patch(1) turns the old text into the new one with the output
// of Diff, for many random edits.
func TestDiffApplies(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	lines := []string{"a;\n", "b {\n", "}\n", "c;\n", "\n", "d 'e';\n"}
	text := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(lines[rng.IntN(len(lines))])
		}
		if n > 0 && rng.IntN(3) == 0 {
			b.WriteString("no newline")
		}
		return b.String()
	}
	dir := t.TempDir()
	for i := range 60 {
		old := text(rng.IntN(40))
		new := old
		for range 1 + rng.IntN(3) {
			at := strings.IndexByte(new[min(len(new), rng.IntN(len(new)+1)):], '\n') + 1
			new = new[:at] + text(rng.IntN(3)) + new[min(len(new), at+rng.IntN(4)):]
		}
		if old == new {
			continue
		}
		path := filepath.Join(dir, "f")
		if err := os.WriteFile(path, []byte(old), 0o644); err != nil {
			t.Fatal(err)
		}
		c := &iikanji.Change{}
		FromEdits(c, iikanji.VerbUnknown, Edit{Path: path, Old: []byte(old), New: []byte(new)})
		cmd := exec.Command("patch", "-s", "--posix", "-p0", path)
		cmd.Stdin = strings.NewReader(Diff(c))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%d: %v %s\n%s", i, err, out, Diff(c))
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != new {
			t.Fatalf("%[1]d: patch turned %[3]q into %[2]q, want %[4]q; the diff is\n%[5]s", i, got, old, new, Diff(c))
		}
	}
}

// TestDiffFormat: the output has the format of diff -u.
func TestDiffFormat(t *testing.T) {
	c := &iikanji.Change{Target: "nginx"}
	FromEdits(c, iikanji.Reload, Edit{Path: "/etc/a", Old: []byte("1\n2\n3\n4\n5\n6\n"), New: []byte("1\n2\n3\n4\nfive\n6\n")}, Edit{Path: "/etc/b", Old: nil, New: []byte("x")})
	want := `--- a/etc/a
+++ b/etc/a
@@ -2,5 +2,5 @@
 2
 3
 4
-5
+five
 6
--- /dev/null
+++ b/etc/b
@@ -0,0 +1,1 @@
+x
\ No newline at end of file
# reload nginx
`
	if got := Diff(c); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestDiffOfLargeFiles: large files without a common line are compared quickly.
func TestDiffOfLargeFiles(t *testing.T) {
	a, b := strings.Repeat("a\n", 10_000), strings.Repeat("b\n", 10_000)
	d := unified("/f", a, b, true, true)
	if strings.Count(d, "\n-a") != 10_000 || strings.Count(d, "\n+b") != 10_000 {
		t.Error("lines are missing")
	}
}

// TestDiffOfBinaryFiles: the diff has the sizes of binary files and none of their bytes.
func TestDiffOfBinaryFiles(t *testing.T) {
	c := &iikanji.Change{}
	FromEdits(c, iikanji.VerbUnknown, Edit{Path: "/a.gz", Old: nil, New: []byte("\x1f\x8b\x00\xff")})
	if got, want := Diff(c), "Binary files /dev/null (0 bytes) and b/a.gz (4 bytes) differ\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
