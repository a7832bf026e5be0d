package settings

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestApps reads the whole source of apps of this repository, which were not written for
// this package.
func TestApps(t *testing.T) {
	tier.Slow(t)
	for dir, c := range map[string]struct {
		env         vars
		want, where string
	}{
		"arenas/isuports/files/ruby": {vars{"ISUCON_DB_PORT": "3402"}, "isucon:isucon@127.0.0.1:3402/isuports", "database.rb:14"},
		"fixtures/boxoffice/app":     {nil, "boxoffice:boxoffice@127.0.0.1:3306/boxoffice", "boxoffice.py:24"},
	} {
		root := filepath.Join("..", "..", "..", filepath.FromSlash(dir))
		var files []File
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			rel, _ := filepath.Rel(root, path) // both are relative to this folder
			if err != nil || !d.Type().IsRegular() || !Reads(rel) {
				return err
			}
			b, err := os.ReadFile(path)
			files = append(files, File{rel, string(b)})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		got := Read(files, []Layer{{Name: "process", Values: c.env}})
		if len(got) == 0 || describe(got[0]) != c.want || got[0].Where() != c.where {
			t.Errorf("%s: %+v, want %s at %s", dir, got, c.want, c.where)
		}
	}
}
