package fleet

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/portal/api"
)

// A spool keeps parts until the portal has them.
type spool struct {
	dir  string
	most int64 // bytes
	next int64 // number of the next part
}

// openSpool opens a spool of an agent.
func openSpool(dir string, most int64) (*spool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the spool: %w", err)
	}
	s := &spool{dir: dir, most: most}
	names, err := s.names()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if n := int64(0); sscan(name, &n) && n >= s.next {
			s.next = n + 1
		}
	}
	return s, nil
}

func sscan(name string, n *int64) bool {
	_, err := fmt.Sscanf(name, "%d.json", n)
	return err == nil
}

// names are the parts, the oldest first.
func (s *spool) names() (out []string, err error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, fmt.Errorf("reading the spool: %w", err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") && !strings.HasPrefix(e.Name(), ".") {
			out = append(out, e.Name())
		}
	}
	slices.Sort(out)
	return out, nil
}

// add writes a part, and drops the oldest ones where there is no room.
func (s *spool) add(p api.FleetPart) error {
	text, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("writing a part: %w", err)
	}
	if err := s.room(int64(len(text))); err != nil {
		return err
	}
	if err := replace(filepath.Join(s.dir, fmt.Sprintf("%015d.json", s.next)), text); err != nil {
		return fmt.Errorf("spooling a part: %w", err)
	}
	s.next++
	return nil
}

// room removes the oldest parts until there is room for some bytes.
func (s *spool) room(need int64) error {
	names, err := s.names()
	if err != nil {
		return err
	}
	sizes, all := make([]int64, len(names)), int64(0)
	for i, name := range names {
		info, err := os.Stat(filepath.Join(s.dir, name))
		if err != nil {
			return fmt.Errorf("reading the spool: %w", err)
		}
		sizes[i] = info.Size()
		all += sizes[i]
	}
	for i := 0; i < len(names) && all+need > s.most; i++ {
		if err := os.Remove(filepath.Join(s.dir, names[i])); err != nil {
			return fmt.Errorf("making room in the spool: %w", err)
		}
		all -= sizes[i]
	}
	return nil
}

// read reads a part.
func (s *spool) read(name string) (*api.FleetPart, error) {
	text, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		return nil, fmt.Errorf("reading the spool: %w", err)
	}
	p := &api.FleetPart{}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, fmt.Errorf("reading the spool: %s: %w", name, err)
	}
	return p, nil
}

// advance moves tails behind the parts of their files that are spooled: an agent that was killed
// between spooling a part and keeping the position read it already.
func (s *spool) advance(tails []*tail) error {
	names, err := s.names()
	if err != nil {
		return err
	}
	for _, name := range names {
		p, err := s.read(name)
		if err != nil {
			return err
		}
		for _, t := range tails {
			if p.File == t.id && p.Kind == t.log.Kind {
				t.at = max(t.at, p.To)
			}
		}
	}
	return nil
}
