package isucondition

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

func testPool(t *testing.T) []Image {
	t.Helper()
	pool, err := thePool()
	if err != nil {
		t.Fatal(err)
	}
	return pool
}

// TestPool compares the icons with the sums recorded when the arena was made.
func TestPool(t *testing.T) {
	pool := testPool(t)
	if *update {
		if err := os.WriteFile("images.md5", []byte(sums(pool)), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if sums(pool) != imageSums {
		t.Error("the icons are not those of images.md5; go test -run TestPool -update accepts them")
	}
	seen := map[MD5]bool{}
	var sizes []int
	for i, img := range pool {
		seen[img.MD5] = true
		sizes = append(sizes, len(img.Bytes))
		if i%50 == 0 {
			if c, err := jpeg.DecodeConfig(bytes.NewReader(img.Bytes)); err != nil || c.Width != pictureSize || c.Height != pictureSize {
				t.Errorf("icon %d: %dx%d (%v)", i, c.Width, c.Height, err)
			}
		}
	}
	if len(seen) != Images {
		t.Errorf("%d different icons, want %d", len(seen), Images)
	}
	slices.Sort(sizes)
	if low, high := sizes[Images/20], sizes[Images*19/20]; low < 4<<10 || high > 75<<10 || high < 30<<10 {
		t.Errorf("9 in 10 icons have %d to %d bytes, want about 5 to 75 KB", low, high)
	}
}

// TestInitialData compares the data set with the table of the rules.
func TestInitialData(t *testing.T) {
	users := generateUsers(testPool(t))
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	want := []struct {
		isus, conditions int
		spacing          int64
	}{{5, 72, 3600}, {20, 12, 1800}, {1, 6, 600}, {1, 6, 600}, {1, 6, 600}}
	if len(users) != len(want) || users[0].ID != "isucon1" || users[1].ID != "isucon2" {
		t.Fatalf("users %v", users)
	}
	id := 0
	characters := map[string]int{}
	uuids := map[string]bool{}
	for i, u := range users {
		if u.CreatedAt.After(T0) || u.CreatedAt.Before(T0.AddDate(0, -6, -4)) {
			t.Errorf("%s came at %v", u.ID, u.CreatedAt)
		}
		if len(u.ISUs) != want[i].isus {
			t.Errorf("%s has %d ISUs, want %d", u.ID, len(u.ISUs), want[i].isus)
		}
		for _, isu := range u.ISUs {
			id++
			characters[isu.Character]++
			uuids[isu.UUID] = true
			if isu.ID != id || !uuid.MatchString(isu.UUID) || !isu.CreatedAt.Equal(u.CreatedAt.Add(time.Minute)) || len(isu.Conditions) != want[i].conditions {
				t.Errorf("ISU %d: %d %s %v with %d conditions", id, isu.ID, isu.UUID, isu.CreatedAt, len(isu.Conditions))
			}
			for k, c := range isu.Conditions {
				at := isu.CreatedAt.Add(time.Minute).Unix() + int64(k)*want[i].spacing
				if c.Timestamp != at || c.Message != Message(CharacterOf(isu.Character), c.Flags) {
					t.Fatalf("ISU %d, condition %d: %+v, want at %d", id, k, c, at)
				}
			}
		}
	}
	if len(characters) != Characters || characters[Labels[0]] != 4 || len(uuids) != 28 {
		t.Errorf("characters %v of %d ISUs", characters, len(uuids))
	}
}

// TestWalk compares the frequencies over many steps with the probabilities of the
// rules.
func TestWalk(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const steps = 40000
	var last *Condition
	var sitting, dirty [2][2]float64 // index: state before; values: number of steps, number that are true after
	bit := map[bool]int{true: 1}
	for range steps {
		c := nextCondition(r, last, 0, 0)
		if last != nil {
			for _, s := range []struct {
				count         *[2][2]float64
				before, after bool
			}{{&sitting, last.IsSitting, c.IsSitting}, {&dirty, last.Flags&Dirty != 0, c.Flags&Dirty != 0}} {
				s.count[bit[s.before]][0]++
				s.count[bit[s.before]][1] += float64(bit[s.after])
			}
		}
		last = &c
	}
	for _, c := range []struct {
		name  string
		count [2]float64
		want  float64
	}{{"sits down", sitting[0], 1. / 3}, {"stays sitting", sitting[1], 5. / 6}, {"gets dirty", dirty[0], 1. / 4}, {"stays dirty", dirty[1], 1. / 2}} {
		if got := c.count[1] / c.count[0]; got < c.want-.02 || got > c.want+.02 {
			t.Errorf("%s with odds %.3f, want %.3f", c.name, got, c.want)
		}
	}
}

func TestGenerate(t *testing.T) {
	webapp, data, again := t.TempDir(), t.TempDir(), t.TempDir()
	if err := Generate(t.Context(), webapp, data); err != nil {
		t.Fatal(err)
	}
	if err := Generate(t.Context(), "", again); err != nil {
		t.Fatal(err)
	}
	if got := readFile(t, filepath.Join(data, versionFile)); strings.TrimSpace(got) != generatedVersion() {
		t.Errorf("the folder has the version %q, want %q", got, generatedVersion())
	}
	for _, name := range []string{initialFile, sumsFile, versionFile, "images/000.jpg", "images/349.jpg"} {
		if readFile(t, filepath.Join(data, name)) != readFile(t, filepath.Join(again, name)) {
			t.Errorf("%s is another one the second time", name)
		}
	}
	loaded, err := LoadData(data)
	if err != nil {
		t.Fatal(err)
	}
	users := generateUsers(loaded.Pool)
	for i := range users { // compared as text, because the time zones are different pointers
		if !reflect.DeepEqual(fmt.Sprint(users[i]), fmt.Sprint(loaded.Users[i])) {
			t.Errorf("loaded %v\nwant %v", loaded.Users[i], users[i])
		}
	}
	if len(loaded.Pool) != Images || loaded.Image(Images+3).MD5 != loaded.Pool[3].MD5 || len(loaded.Assets) != 7 {
		t.Errorf("%d icons, %d assets", len(loaded.Pool), len(loaded.Assets))
	}
	sql := readFile(t, filepath.Join(webapp, "sql", sqlFile))
	if n := strings.Count(sql, "\n('"); n != 618 {
		t.Errorf("%d conditions in SQL, want 618", n)
	}
	loadDamaged(t, data)
}

// loadDamaged damages one file after another and expects an error that names the
// file.
func loadDamaged(t *testing.T, data string) {
	t.Helper()
	for _, c := range []struct{ file, body, says string }{
		{"images/007.jpg", "x", "007.jpg has MD5"},
		{sumsFile, "0\n", "sums of the icons"},
		{initialFile, `[{"isu":{"u":{"conditions":{"info":[{"condition":"is_dirty=true,is_overweight=false,is_broken=false"}]}}}}]`, "not of level info"},
		{initialFile, `{`, initialFile},
	} {
		path := filepath.Join(data, c.file)
		good := readFile(t, path)
		if err := os.WriteFile(path, []byte(c.body), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadData(data); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s spoiled: %v, want %q", c.file, err, c.says)
		}
		if err := os.WriteFile(path, []byte(good), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := LoadData(t.TempDir()); err == nil {
		t.Error("an empty folder loads")
	}
}

func TestGenerateCannot(t *testing.T) {
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Generate(stopped, "", t.TempDir()); err == nil {
		t.Error("generating goes on after the end")
	}
	if err := Generate(t.Context(), "", filepath.Join("data_test.go", "below a file")); err == nil || !strings.Contains(err.Error(), "making the folder") {
		t.Errorf("below a file: %v", err)
	}
}

func TestWords(t *testing.T) {
	distinct := func(name string, words []string) {
		seen := map[string]bool{}
		for _, w := range words {
			if seen[w] || w == "" || len(w) > 255 {
				t.Errorf("%s: %q is there twice, empty or too long", name, w)
			}
			seen[w] = true
		}
	}
	distinct("labels", Labels[:])
	for c := range messages {
		distinct(Labels[c], messages[c][:])
	}
	distinct("prefixes", namePrefixes[:])
	distinct("suffixes", nameSuffixes[:])
	if CharacterOf(Labels[24]) != 24 || CharacterOf("nobody") != -1 {
		t.Error("characters are not found by their labels")
	}
}

// TestReportSize checks that a POST of ten conditions has the same size as in the
// contest.
func TestReportSize(t *testing.T) {
	total := 0
	for c := range messages {
		for f := range Flags(8) {
			type report struct {
				IsSitting bool   `json:"is_sitting"`
				Condition string `json:"condition"`
				Message   string `json:"message"`
				Timestamp int64  `json:"timestamp"`
			}
			body, err := json.Marshal(slices.Repeat([]report{{false, f.Condition(), Message(c, f), T0.Unix()}}, 10))
			if err != nil {
				t.Fatal(err)
			}
			total += len(body)
		}
	}
	if mean := total / Characters / 8; mean < 1300 || mean > 1800 {
		t.Errorf("ten conditions have %d bytes on average, want 1.3 to 1.5 KB in the usual states", mean)
	}
}

func TestFlags(t *testing.T) {
	levels := map[Level]int{}
	for f := range Flags(8) {
		levels[f.Level()]++
		if got, ok := ParseFlags(f.Condition()); !ok || got != f || f.String() != f.Condition() {
			t.Errorf("%d → %q → %d, %t", f, f.Condition(), got, ok)
		}
	}
	if levels[Info] != 1 || levels[Warning] != 6 || levels[Critical] != 1 {
		t.Errorf("levels %v", levels)
	}
	if c := (Dirty | Broken).Condition(); c != "is_dirty=true,is_overweight=false,is_broken=true" {
		t.Errorf("condition %q", c)
	}
	if _, ok := ParseFlags("is_dirty=true"); ok {
		t.Error("half a condition is read")
	}
	for l := Info; l <= Critical; l++ {
		if got, ok := ParseLevel(l.String()); !ok || got != l {
			t.Errorf("level %v → %v", l, got)
		}
	}
	if _, ok := ParseLevel("unknown"); ok || Level(9).String() != "unknown" {
		t.Error("an unknown level is read")
	}
}

// FuzzParseUsers checks that whatever can be parsed is written and parsed again to
// the same value.
func FuzzParseUsers(f *testing.F) {
	f.Add([]byte(`[{"jia_user_id":"u","created_at":"2021-01-02T03:04:05+09:00","isu":{"x":{"id":1,"name":"n","image_file_hash":[1,2],"character":"c",
		"conditions":{"warning":[{"timestamp":5,"is_sitting":true,"condition":"is_dirty=true,is_overweight=false,is_broken=false","message":"m"}]}}}}]`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		users, err := parseUsers(text)
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := writeJSON(&again, users); err != nil {
			return // years that JSON times cannot represent
		}
		if back, err := parseUsers(again.Bytes()); err != nil || len(back) != len(users) {
			t.Errorf("written and read again: %d users of %d (%v)", len(back), len(users), err)
		}
	})
}
