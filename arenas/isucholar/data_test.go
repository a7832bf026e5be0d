package isucholar

import (
	"bytes"
	"crypto/sha256"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestContestSize compares the contest's data with the rules.
func TestContestSize(t *testing.T) {
	d := contestSize.draw()
	if len(d.Teachers) != 50 || len(d.Students) != 5000 || len(d.Courses) != 33 {
		t.Errorf("%d teachers, %d students, %d courses", len(d.Teachers), len(d.Students), len(d.Courses))
	}
	ids, busy := map[string]bool{}, map[string]bool{}
	for _, u := range append(d.Teachers, d.Students...) {
		if known := strings.HasSuffix(u.Code, "00000"); len(u.ID) != 26 || len(u.Code) != 6 || ids[u.ID] ||
			known != (u.Password == knownPassword) {
			t.Errorf("user %+v", u)
		}
		ids[u.ID] = true
	}
	for _, c := range d.Courses[:initialCourses] {
		if slot := c.DayOfWeek + string(rune('0'+c.Period)); busy[slot] || c.Status != statusClosed || c.Credit < 1 ||
			c.Credit > 3 {
			t.Errorf("course %+v", c)
		} else {
			busy[slot] = true
		}
	}
}

// TestGenerate: the same bytes every time, and hashes that bcrypt accepts.
func TestGenerate(t *testing.T) {
	tier.Slow(t)
	var sums [2][]byte
	for i := range sums {
		dir := t.TempDir()
		if err := smallSize.generate(t.Context(), filepath.Join(dir, "webapp"), filepath.Join(dir, "data")); err != nil {
			t.Fatal(err)
		}
		sum := sha256.New()
		err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(filepath.Join(dir, name))
			sum.Write([]byte(name))
			sum.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		sums[i] = sum.Sum(nil)
		if d, err := readDataset(filepath.Join(dir, "data")); err != nil || len(d.Students) != smallSize.Students {
			t.Errorf("the benchmarker's copy: %v", err)
		}
	}
	if !bytes.Equal(sums[0], sums[1]) {
		t.Error("the second time the files differ")
	}
	d := dataSize{Students: 3}.draw()
	hashes, err := d.hashes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, u := range append(d.Teachers, d.Students...) {
		if err := bcrypt.CompareHashAndPassword([]byte(hashes[i]), []byte(u.Password)); err != nil || len(hashes[i]) != 60 {
			t.Fatalf("the hash of %s: %v", u.Code, err)
		}
	}
}

// TestStaticFiles: scripts, styles and submissions have the contest's sizes.
func TestStaticFiles(t *testing.T) {
	for _, f := range staticFiles() {
		want := map[string]int{appPath: appBytes, runtimePath: runtimeBytes, stylePath: styleBytes}[f.path]
		if want != 0 && len(f.body) != want || len(f.body) > appBytes || len(f.body) < 100 {
			t.Errorf("%s has %d bytes", f.path, len(f.body))
		}
	}
	if len(sums()) != 3 {
		t.Errorf("%d files are checked", len(sums()))
	}
	pdf := submissionPDF(newRand(1), "M0001", 3, "S00001")
	if n := len(pdf); n < 28000 || n > 29000 || !bytes.HasPrefix(pdf, []byte("%PDF-1.4\n")) || bytes.Equal(pdf,
		submissionPDF(newRand(2), "M0001", 3, "S00001")) {
		t.Errorf("a submission of %d bytes", n)
	}
}
