package discover

import (
	"slices"
	"testing"

	"github.com/iikanji/iikanji/internal/lang/nginx"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/target"
)

// TestFoldersOfNginx: the types of the system do not open its folder to writing.
func TestFoldersOfNginx(t *testing.T) {
	config := func(path, text string) *nginx.File {
		root, err := nginx.Parse(path, text)
		if err != nil {
			t.Fatal(err)
		}
		return &nginx.File{Path: path, Text: text, Root: root}
	}
	s := &search{host: host.Local{}, out: &Found{File: &target.File{}}}
	s.folders(&nginx.Config{Files: []*nginx.File{
		config("/srv/none/conf/nginx.conf", "events {} http { include /etc/none/mime.types; include /srv/none/sites/*.conf; }"),
		config("/etc/none/mime.types", "types { text/html html; image/png png; }"),
		config("/etc/none/fastcgi_params", "fastcgi_param HTTPS $https if_not_empty;"),
		config("/srv/none/sites/a.conf", "server { listen 80; }"),
	}})
	if got, want := s.out.File.Policy.Folders, []string{"/srv/none/conf", "/srv/none/sites"}; !slices.Equal(got, want) {
		t.Errorf("folders %q, want %q", got, want)
	}
}
