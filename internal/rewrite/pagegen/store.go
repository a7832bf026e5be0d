package pagegen

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// leftAfter is the age from which on the folder of a generation that no link points to
// was left by a process that ended.
const leftAfter = time.Minute

// A Store is the generations of an app's pages.
type Store struct {
	plan Plan
	seen *learner
	// distrusts is set when a page changed without being dropped: from then on every
	// write drops all pages.
	distrusts atomic.Bool

	mu       sync.Mutex
	last     int64             // number of the latest generation
	present  map[string]string // the folder, by link
	previous map[string]string // the folder before the present one, by link
	reported time.Time         // when the file of what was learned was written
}

// Open makes the folder of a plan and drops all pages: what the app's data were while it
// did not run is unknown.
func Open(p Plan) (*Store, error) {
	s := &Store{plan: p, present: map[string]string{}, previous: map[string]string{}}
	s.seen = newLearner(&s.plan)
	if err := s.makeFolder(); err != nil {
		return nil, fmt.Errorf("making the folder of the page generations: %w", err)
	}
	_ = os.Remove(s.path(LearnedFile)) // of the process before: it is written anew
	if err := s.dropAll(); err != nil {
		return nil, err
	}
	return s, s.sweep()
}

// makeFolder makes the folder, which must be the process's own: any user may make one in
// /dev/shm.
func (s *Store) makeFolder() error {
	if err := os.Mkdir(s.plan.Folder, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(s.plan.Folder)
	if err != nil {
		return err
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !info.IsDir() || ok && int(owner.Uid) != os.Geteuid() {
		return fmt.Errorf("%s is not a folder of this user", s.plan.Folder)
	}
	return os.Chmod(s.plan.Folder, 0o755) // whatever the umask
}

// links are the names of all links.
func (s *Store) links() []string {
	all := []string{Common}
	if len(s.plan.Table) > 0 {
		for i := range Buckets {
			all = append(all, strconv.Itoa(i))
		}
	}
	return all
}

// dropAll gives all pages a new generation.
func (s *Store) dropAll() error { return s.drop(s.links()) }

// drop gives the pages of some links a new generation. If that fails, the links are
// removed: the web server keeps no page that has no generation. An error means that old
// pages may still be sent.
func (s *Store) drop(links []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, link := range links {
		err := s.renew(link)
		if err == nil {
			continue
		}
		delete(s.present, link)
		if gone := os.Remove(s.path(link)); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			return fmt.Errorf("dropping pages: %w", errors.Join(err, gone))
		}
	}
	return nil
}

// renew points a link to a new folder. The folder before is left for requests that are
// reading the link, and removed with the next renewal.
func (s *Store) renew(link string) error {
	// Names must never come again, also not after a restart of the machine: pages of an
	// old generation may still be on disk.
	s.last = max(s.last+1, time.Now().UnixNano())
	name := "g" + strconv.FormatInt(s.last, 36) + "-" + strconv.Itoa(os.Getpid())
	if err := os.Mkdir(s.path(name), 0o755); err != nil {
		return err
	}
	if err := os.Chmod(s.path(name), 0o755); err != nil {
		return err
	}
	next := s.path("." + name)
	if err := os.Symlink(name, next); err != nil {
		return err
	}
	before, _ := os.Readlink(s.path(link))
	if err := os.Rename(next, s.path(link)); err != nil {
		return err
	}
	if old := s.previous[link]; old != "" {
		_ = os.Remove(s.path(old)) // sweep removes what stays
	}
	s.previous[link], s.present[link] = before, name
	return nil
}

func (s *Store) path(name string) string { return filepath.Join(s.plan.Folder, name) }

// sweep removes what earlier processes left.
func (s *Store) sweep() error {
	entries, err := os.ReadDir(s.plan.Folder)
	if err != nil {
		return fmt.Errorf("reading the folder of the page generations: %w", err)
	}
	used := map[string]bool{}
	for _, e := range entries {
		if to, err := os.Readlink(s.path(e.Name())); err == nil {
			used[to] = true
		}
	}
	for _, e := range entries {
		info, err := e.Info()
		ours := strings.HasPrefix(e.Name(), "g") || strings.HasPrefix(e.Name(), ".g")
		if err == nil && ours && !used[e.Name()] && time.Since(info.ModTime()) > leftAfter {
			_ = os.Remove(s.path(e.Name())) // another process may have removed it
		}
	}
	return nil
}

// written drops the pages that a write changes.
func (s *Store) written(method, path string) error {
	pages, known := s.plan.pagesOf(method, path)
	if !known || s.distrusts.Load() {
		return s.dropAll()
	}
	links := []string{Common}
	for _, page := range pages {
		links = append(links, BucketOf(page))
	}
	return s.drop(links)
}
