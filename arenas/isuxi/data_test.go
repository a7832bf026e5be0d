package isuxi

import (
	"bytes"
	"crypto/sha256"
	"io/fs"
	"os"
	"testing"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// sumOfTree is a digest of all files below a folder.
func sumOfTree(t *testing.T, dir string) []byte {
	t.Helper()
	sum := sha256.New()
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(os.DirFS(dir), name)
		sum.Write([]byte(name))
		sum.Write(body)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum.Sum(nil)
}

// TestGenerate: the files are the same each time, and the benchmarker reads its copy.
func TestGenerate(t *testing.T) {
	var first []byte
	for range 2 {
		dir := t.TempDir()
		if err := smallSize.generate(t.Context(), dir+"/webapp", dir+"/data"); err != nil {
			t.Fatal(err)
		}
		sum := sumOfTree(t, dir)
		if first != nil && !bytes.Equal(first, sum) {
			t.Error("the second time the files differ")
		}
		first = sum
		d, err := readDataset(dir + "/data")
		if err != nil || len(d.People) != smallSize.Users || len(d.Entries) != window || len(d.Comments) != window {
			t.Errorf("the benchmarker's copy: %v", err)
		}
	}
}

// TestWorld: the contest's data has its numbers.
func TestWorld(t *testing.T) {
	tier.Slow(t)
	w := contestSize.draw()
	pairs := 0
	for _, p := range w.friends {
		pairs += bit(p.one != 0)
	}
	if pairs < 247000 || pairs > 248500 || w.relationID(0) != 1 || w.relationID(len(w.friends)-1) != lastRelation-1 {
		t.Errorf("%d pairs of friends, the first with the identifier %d", pairs, w.relationID(0))
	}
	if len(w.footprints) != 500000 || len(w.entries) != 500000 || len(w.comments) != 1500000 || w.commentID(0) != 1 {
		t.Errorf("%d footprints, %d entries, %d comments", len(w.footprints), len(w.entries), len(w.comments))
	}
	private, bytesOfEntries, bytesOfComments := 0, 0, 0
	for _, e := range w.entries {
		private += bit(e.private)
		bytesOfEntries += len(entryBodies[e.body])
	}
	younger := 0
	for i, c := range w.comments {
		bytesOfComments += len(commentTexts[c.text])
		younger += bit(commentTime(w.commentID(i)).Before(rowTime(int(c.entry))))
	}
	if private < 49000 || private > 51000 || younger > 500 {
		t.Errorf("%d entries are private, %d comments are older than their entries", private, younger)
	}
	if bytesOfEntries < 1.20e9 || bytesOfEntries > 1.26e9 || bytesOfComments < 255e6 || bytesOfComments > 280e6 {
		t.Errorf("%d bytes of entries, %d of comments", bytesOfEntries, bytesOfComments)
	}
}

// TestSets: of each set, user 1 is a friend of user 0 and user 2 is not.
func TestSets(t *testing.T) {
	d := smallSize.draw().dataset()
	for n, s := range d.Sets {
		friends, seen := map[int]bool{}, map[int]bool{}
		for _, f := range s.Friends {
			friends[f.User] = true
		}
		for _, u := range s.Users {
			if seen[u.ID] || u.Account != d.People[u.ID-1].Account {
				t.Errorf("set %d has user %d twice, or by another name", n, u.ID)
			}
			seen[u.ID] = true
		}
		if !friends[s.Users[1].ID] || friends[s.Users[2].ID] || friends[s.Users[0].ID] {
			t.Errorf("set %d: friends %v", n, s.Friends)
		}
		if len(s.Entries) != smallSize.Entries || len(s.Comments) != smallSize.Comments || len(s.Footprints) != smallSize.Footprints {
			t.Errorf("set %d: %d entries, %d comments, %d footprints", n, len(s.Entries), len(s.Comments), len(s.Footprints))
		}
	}
}
