package stack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/machine/host"
)

const (
	fromFiles     = "files"
	fromGenerated = "generated"
	fromConf      = "conf"
)

// layFiles copies the arena's files into webapp/. It omits the templates of
// configurations: the files to edit are the rendered ones in conf/.
func (f folder) layFiles(ctx context.Context, a *arena.Arena, m *manifest) error {
	templates := map[string]bool{}
	for _, svc := range a.Services {
		for _, c := range svc.Configs {
			templates[c.Template] = true
		}
	}
	err := fs.WalkDir(a.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if d.IsDir() || templates[name] {
			return nil
		}
		body, err := fs.ReadFile(a.Files, name)
		if err != nil {
			return err
		}
		return f.put(m, webappDir+"/"+name, body, fromFiles)
	})
	if err == nil {
		err = f.layModules(a, m)
	}
	if err == nil {
		err = m.retire(fromFiles)
	}
	if err != nil {
		return fmt.Errorf("laying the webapp: %w", err)
	}
	return nil
}

// layModules writes a go.mod for each Go service that has none. Such a program can
// only use the standard library.
func (f folder) layModules(a *arena.Arena, m *manifest) error {
	for _, svc := range a.Services {
		if svc.Engine != iikanji.EngineGo || svc.Source == "" {
			continue
		}
		if _, err := fs.Stat(a.Files, path.Join(svc.Source, "go.mod")); err == nil {
			continue
		}
		mod := "module " + a.Name + "\n\ngo 1.26.0\n"
		if err := f.put(m, path.Join(webappDir, svc.Source, "go.mod"), []byte(mod), fromFiles); err != nil {
			return err
		}
	}
	return nil
}

// put writes one file unless a user-edited one is there.
func (f folder) put(m *manifest, rel string, body []byte, from string) error {
	want := sumOfBytes(body)
	v, err := m.judge(rel, want, from)
	if err != nil || v == keep {
		return err
	}
	if err := f.makeParents(rel); err != nil {
		return err
	}
	if err := f.write(body, f.modeOf(body, from), rel); err != nil {
		return err
	}
	if from != fromConf {
		if err := f.as.share(f.path(rel)); err != nil {
			return err
		}
	}
	return m.record(rel, want, from)
}

// modeOf makes scripts executable, since embedded files carry no modes. If the
// services run as another user, it lets their group write files of the webapp.
func (f folder) modeOf(body []byte, from string) os.FileMode {
	mode := os.FileMode(0o644)
	if bytes.HasPrefix(body, []byte("#!")) {
		mode = 0o755
	}
	if f.as.drop && from != fromConf {
		mode |= 0o020
	}
	return mode
}

// makeParents creates the folders above a file. In the webapp, the services'
// group may write to them, for apps that create files, and the setgid bit gives
// new entries the same group.
func (f folder) makeParents(rel string) error {
	dir := path.Dir(rel)
	if dir == "." {
		return nil
	}
	if err := f.makeParents(dir); err != nil {
		return err
	}
	err := os.Mkdir(f.path(dir), 0o755)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		err = f.as.share(f.path(dir))
	}
	if err == nil && f.as.drop && strings.HasPrefix(dir, webappDir) {
		err = os.Chmod(f.path(dir), 0o775|os.ModeSetgid)
	} else if err == nil {
		err = os.Chmod(f.path(dir), 0o755)
	}
	return err
}

// newDir holds generated data until all of it has been written.
const newDir = ".new"

// generate makes the arena write its data into newDir, then moves it into place.
func (f folder) generate(ctx context.Context, a *arena.Arena, m *manifest) error {
	if a.Generate == nil {
		return nil
	}
	tmp := f.path(newDir)
	webapp, data := filepath.Join(tmp, webappDir), filepath.Join(tmp, dataDir)
	err := errors.Join(os.RemoveAll(tmp), os.MkdirAll(webapp, 0o755), os.MkdirAll(data, 0o755))
	if err == nil {
		err = a.Generate(ctx, webapp, data)
	}
	if err == nil {
		err = f.adopt(ctx, m, webapp)
	}
	if err == nil {
		err = m.retire(fromGenerated)
	}
	if err == nil { // the benchmarker's copy is not meant to be edited
		err = os.RemoveAll(f.path(dataDir))
	}
	if err == nil {
		err = os.Rename(data, f.path(dataDir))
	}
	if err == nil {
		err = syncTree(f.path(dataDir))
	}
	if err != nil {
		return fmt.Errorf("generating the data: %w", errors.Join(err, os.RemoveAll(tmp)))
	}
	return os.RemoveAll(tmp)
}

// adopt moves generated files into webapp/, except where a user-edited one is.
func (f folder) adopt(ctx context.Context, m *manifest, webapp string) error {
	if err := syncTree(webapp); err != nil {
		return err
	}
	return filepath.WalkDir(webapp, func(file string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if d.IsDir() {
			return nil
		}
		body, err := os.Open(file)
		if err != nil {
			return err
		}
		want, err := sumOf(body)
		if err := errors.Join(err, body.Close()); err != nil {
			return err
		}
		below, err := filepath.Rel(webapp, file)
		if err != nil {
			return err
		}
		rel := webappDir + "/" + filepath.ToSlash(below)
		v, err := m.judge(rel, want, fromGenerated)
		if err != nil || v == keep {
			return err
		}
		if err := f.makeParents(rel); err != nil {
			return err
		}
		if err := errors.Join(f.as.share(file), os.Rename(file, f.path(rel))); err != nil {
			return err
		}
		return m.record(rel, want, fromGenerated)
	})
}

// fresh moves webapp/ and conf/ into old/N and deletes the services' data.
func (f folder) fresh(a *arena.Arena, m *manifest, s *state) (string, error) {
	old := ""
	for n := 1; ; n++ {
		old = f.path(oldDir, strconv.Itoa(n))
		if _, err := os.Lstat(old); errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	moved := false
	for _, d := range []string{webappDir, confDir} {
		if _, err := os.Stat(f.path(d)); err != nil {
			continue
		}
		if err := errors.Join(os.MkdirAll(old, 0o755), os.Rename(f.path(d), filepath.Join(old, d))); err != nil {
			return "", fmt.Errorf("moving %s out of the way: %w", d, err)
		}
		moved = true
		m.forget(d + "/")
	}
	for _, dir := range dataDirs(a) {
		if err := os.RemoveAll(f.path(dir)); err != nil {
			return "", fmt.Errorf("removing a service's data: %w", err)
		}
	}
	s.Generated = ""
	clear(s.Loaded)
	clear(s.Built)
	if !moved {
		old = ""
	}
	return old, errors.Join(f.writeManifest(m), f.writeState(*s))
}

// syncTree flushes every file of a tree to disk, so that it survives a power
// cut. It runs in parallel: one journal write of the file system serves many
// fsync calls.
func syncTree(root string) error {
	var files []string
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err == nil && (d.Type().IsRegular() || d.IsDir()) {
			files = append(files, file)
		}
		return err
	})
	if err != nil {
		return err
	}
	next := make(chan string)
	errs := make([]error, 16)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			for file := range next {
				errs[i] = errors.Join(errs[i], syncFile(file))
			}
		})
	}
	for _, file := range files {
		next <- file
	}
	close(next)
	wg.Wait()
	return errors.Join(errs...)
}

func syncFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// read returns a file of the folder.
func (f folder) read(elem ...string) ([]byte, error) {
	return host.Local{}.Read(f.path(elem...))
}
