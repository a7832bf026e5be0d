package isublog

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"image/jpeg"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/verify"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

var update = flag.Bool("update", false, "write static.sums")

// TestStatic compares the generated files with the recorded sums and with the
// contest's sizes.
func TestStatic(t *testing.T) {
	list, err := staticFiles()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("static.sums", []byte(sumsOf(list)), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if sumsOf(list) != staticSums {
		t.Error("the static files are not those of static.sums; go test -run TestStatic -update accepts them")
	}
	// Bytes, and the contest's bytes after gzip -9.
	want := map[string][2]int{"/css/jquery-ui-1.8.14.custom.css": {25419, 4770}, "/css/isucon.css": {1082, 0}, "/js/jquery-1.6.2.min.js": {91556, 32011},
		"/js/jquery-ui-1.8.14.custom.min.js": {109113, 27364}, "/js/isucon.js": {0, 0}, "/images/isucon_title.jpg": {31930, 0}}
	if len(list) != len(want) {
		t.Errorf("%d files, want %d", len(list), len(want))
	}
	for _, f := range list {
		w := want[f.Path]
		if len(f.Body) != w[0] {
			t.Errorf("%s has %d bytes, want %d", f.Path, len(f.Body), w[0])
		}
		if packed := gzipped(t, f.Body); w[1] > 0 && (packed < w[1]*8/10 || packed > w[1]*12/10) {
			t.Errorf("%s has %d bytes after gzip, want about %d", f.Path, packed, w[1])
		}
		if strings.HasSuffix(f.Path, ".jpg") {
			if c, err := jpeg.DecodeConfig(bytes.NewReader(f.Body)); err != nil || c.Width != titleWidth || c.Height != titleHeight {
				t.Errorf("%s: %+v (%v)", f.Path, c, err)
			}
			if dir := os.Getenv("SCREENSHOTS"); dir != "" { // for inspection by hand
				if err := os.WriteFile(filepath.Join(dir, "title.jpg"), f.Body, 0o644); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

func gzipped(t *testing.T, body []byte) int {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(body)
	}
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Len()
}

// TestArticles compares the initial articles with the specification.
func TestArticles(t *testing.T) {
	long, special := 0, 0
	for i, a := range initialArticles() {
		title, body := utf8.RuneCountInString(a.Title), utf8.RuneCountInString(a.Body)
		lines := strings.Split(a.Body, "\n")
		if a.ID != i+1 || title < 10 || title > 40 || body < 300 || body > 3000 || len(lines) > 40 {
			t.Errorf("article %d: title of %d characters, body of %d in %d lines", a.ID, title, body, len(lines))
		}
		for _, line := range lines {
			if strings.TrimSpace(line) == "" {
				t.Errorf("article %d has an empty line", a.ID)
			}
		}
		if len(lines) > previewLines {
			long++
		}
		if strings.ContainsAny(a.Body, "<>&") {
			special++
		}
	}
	if long < Articles/3 || long > Articles*2/3 {
		t.Errorf("%d of %d articles are longer than the index shows, want about half", long, Articles)
	}
	if special < Articles/2 {
		t.Errorf("%d articles have characters that HTML escapes, want more", special)
	}
}

// TestComments compares the initial comments with the specification.
func TestComments(t *testing.T) {
	per := make([]int, Articles+1)
	named, letters, last := 0, 0, Comment{}
	err := eachComment(func(c Comment) error {
		n := utf8.RuneCountInString(c.Body)
		if c.ID != last.ID+1 || c.Article < 1 || c.Article > Articles || n < 50 || n > 600 || !c.CreatedAt.After(last.CreatedAt) {
			t.Errorf("comment %+v", c)
		}
		per[c.Article]++
		if c.Name != "" {
			named++
		}
		letters, last = letters+n, c
		return nil
	})
	if err != nil || last.ID != Comments || !last.CreatedAt.Equal(newestComment) {
		t.Errorf("the last comment is %+v (%v)", last, err)
	}
	if named < Comments*48/100 || named > Comments*52/100 {
		t.Errorf("%d of %d comments have a name, want half", named, Comments)
	}
	old, young := per[1:Articles/2], per[Articles-100:]
	slices.Sort(old)
	slices.Sort(young)
	if m := old[len(old)/2]; m < 5 || m > 25 {
		t.Errorf("an old article has %d comments, want 5 to 25", m)
	}
	if m := young[len(young)/2]; m < 40 {
		t.Errorf("a new article has %d comments, want more than an old one", m)
	}
	t.Logf("%d characters in a comment; %d comments on a new article", letters/Comments, young[len(young)/2])
	stop := errors.New("stop")
	if err := eachComment(func(Comment) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("%v, want the error of the caller", err)
	}
}

// TestGenerate: the same bytes each time, and the SQL names every row.
func TestGenerate(t *testing.T) {
	tier.Slow(t)
	one, two, data := t.TempDir(), t.TempDir(), t.TempDir()
	for _, dir := range []string{one, two} {
		if err := Generate(t.Context(), dir, data); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"sql/" + sqlFile, "sql/" + restoreFile, "public/css/isucon.css"} {
		a, err := os.ReadFile(filepath.Join(one, name))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(two, name))
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs (%v)", name, err)
		}
		if name == "sql/"+sqlFile {
			if n := bytes.Count(a, []byte("\n(")); n != Articles+Comments {
				t.Errorf("%d rows, want %d", n, Articles+Comments)
			}
			for statement := range bytes.SplitSeq(a, []byte(";\n")) {
				if len(statement) > 1<<20 {
					t.Errorf("a statement of %d bytes: more than max_allowed_packet", len(statement))
				}
			}
		}
	}
	if got, err := os.ReadFile(filepath.Join(data, versionFile)); err != nil || strings.TrimSpace(string(got)) != generatedVersion() {
		t.Errorf("version %q (%v)", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Generate(ctx, t.TempDir(), data); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
	if err := Generate(t.Context(), "/dev/null/x", data); err == nil {
		t.Error("a folder that cannot be made is no error")
	}
}

// sumsOf returns the text of static.sums.
func sumsOf(files []Static) string {
	var b strings.Builder
	for _, f := range files {
		sum := verify.SumOf(f.Body)
		fmt.Fprintf(&b, "%s %d %08x\n", f.Path, sum.Size, sum.CRC32)
	}
	return b.String()
}
