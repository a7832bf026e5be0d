package ties

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/lang/settings"
)

// apps are the apps of this repository, with what ties each to its host, as it was read by
// hand: kind, place and how many routes reach it. Behind the folder is that of a program.
var apps = map[string][]string{
	"arenas/isublog/files/_go":       nil,
	"arenas/isucondition/files/_go":  nil,
	"arenas/isucondition/files/node": nil,
	"arenas/isuumo/files/_go":        nil,
	"arenas/isuxi/files/_go":         nil,
	"arenas/xsuportal/files/_go":     nil, // a key of a file that is read once
	"arenas/isutrain/files/_go":      {"key main.go:85 0"},
	// Cards and payments in maps, and the order in which they came.
	"arenas/isutrain/files/_payment": {"memory payment.go:32 1", "memory payment.go:33 1", "memory payment.go:34 1"},
	// Uploads, the archives that are made of them, and initialize, which reads its statements
	// and puts the first uploads back.
	"arenas/isucholar/files/_go": {"files assignment.go:92 1", "files assignment.go:179 1", "files assignment.go:185 1", "files assignment.go:191 1", "files assignment.go:196 1",
		"files assignment.go:200 1", "files assignment.go:207 1", "files main.go:104 1", "files main.go:113 1", "files main.go:116 1"},
	// A database in a file for each tenant, with a lock beside it. The key of viewer.go is in a
	// file whose folder a variable decides.
	"arenas/isuports/files/_go":  {"sqlite tenantdb.go:24 13", "files tenantdb.go:34 1", "lock tenantdb.go:44 5", "files viewer.go:68 14"},
	"arenas/isuports/files/ruby": {"files database.rb:52 0", "lock database.rb:76 0", "sqlite database.rb:83 0"},
	"fixtures/boxoffice/app":     nil, // names that are kept never change
	"fixtures/library ./catalog": nil, // a menu that is kept for two seconds
	"fixtures/library ./members": {"job members/main.go:49 0"},
	"fixtures/repaircafe ./app":  nil,
}

// TestApps reads the whole source of apps that were not written for this package.
func TestApps(t *testing.T) {
	for name, want := range apps {
		dir, program, _ := strings.Cut(name, " ")
		root := filepath.Join("..", "..", "..", filepath.FromSlash(dir))
		var files []settings.File
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root, path)
			name := strings.TrimSuffix(filepath.ToSlash(rel), ".txt")
			if err != nil || !d.Type().IsRegular() || !Reads(name) {
				return err
			}
			b, err := os.ReadFile(path)
			files = append(files, settings.File{Path: name, Text: string(b)})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		all, known := Find(files, program)
		if !known || len(files) == 0 {
			t.Errorf("%s is not read", dir)
		}
		var got []string
		for _, tie := range all {
			got = append(got, fmt.Sprintf("%s %s %d", tie.Kind, tie.Place(), len(tie.Routes)))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", dir, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
