package nginxconf

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// internalPrefix begins the URLs of internal files. No route of an app begins with
// it, so that no request is answered differently.
const internalPrefix = "/iikanji/"

var folderForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$`)

// internalFiles serves the files of a folder to requests whose answer of the app
// has the header X-Accel-Redirect: /iikanji/FOLDER/FILE. The app decides who gets a
// file, and nginx sends it. A client that asks for such a URL gets 404.
type internalFiles struct {
	Folder string `arg:"folder,required" help:"a folder in the public folder of the app, as icons; it may not exist yet"`
	Server string `arg:"server" help:"server_name or listen address of a server block"`
}

// Validate is called by change.Decode.
func (a *internalFiles) Validate() error {
	if !folderForm.MatchString(a.Folder) {
		return fmt.Errorf("folder %q: want the name of a folder in the public folder, as icons", a.Folder)
	}
	return nil
}

func (a *internalFiles) edit(t *task) error {
	public, err := t.publicRoot("")
	if err != nil {
		return err
	}
	path, dir := internalPrefix+a.Folder+"/", filepath.Join(public, a.Folder)
	s, err := t.Spot(path, a.Server)
	if err != nil {
		return err
	}
	t.Says = fmt.Sprintf("send files of %s where the app's answer has X-Accel-Redirect: %s…", dir, path)
	if !s.Is() {
		s.Server().Add(nginx.Pattern{How: "^~", What: path}.NewLocation().Put(nginx.New("internal"), nginx.New("alias", dir+"/"),
			nginx.New("disable_symlinks", "on", "from="+public)))
		return nil
	}
	alias := t.Value(s.Chain, "alias")
	if len(t.Get(s.Last(), "internal")) == 0 || strings.TrimSuffix(alias, "/") != dir {
		return fmt.Errorf("folder %q: location %s answers already, in another way", a.Folder, nginx.PatternOf(s.Last()))
	}
	return nil
}
