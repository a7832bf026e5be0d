package sourcedb

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
	dsn := vars{"LIBRARY_DSN": "library:w@tcp(127.0.0.1:3401)/library?parseTime=true"}
	tickets := vars{"DB_PORT": "3403", "DB_USER": "u", "DB_PASSWORD": "p", "DB_NAME": "n"}
	for dir, c := range map[string]struct {
		env         vars
		want, where string
	}{
		"arenas/isublog/files/_go":      {nil, "isuconapp:isublog@127.0.0.1:3306/isublog", "main.go:65"},
		"arenas/isucondition/files/_go": {nil, "isucon:isucon@127.0.0.1:3306/isucondition", "main.go:105"},
		"arenas/isuports/files/_go":     {vars{"ISUCON_DB_HOST": "10.0.0.3"}, "isucon:isucon@10.0.0.3:3306/isuports", "main.go:102"},
		"arenas/isuports/files/ruby":    {vars{"ISUCON_DB_PORT": "3402"}, "isucon:isucon@127.0.0.1:3402/isuports", "database.rb:14"},
		"arenas/isuumo/files/_go":       {vars{"MYSQL_PASS": "p"}, "isucon:p@127.0.0.1:3306/isuumo", "main.go:88"},
		"bench/worse/_tickets":          {tickets, "u:p@127.0.0.1:3403/n", "main.go:39"},
		"fixtures/boxoffice/app":        {nil, "boxoffice:boxoffice@127.0.0.1:3306/boxoffice", "boxoffice.py:24"},
		"fixtures/library":              {dsn, "library:w@127.0.0.1:3401/library", "catalog/main.go:74"},
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
