package peer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
)

// A Claim says for which site a host is written: journal and history of a change are on one
// control only, and a second one could undo nothing of it.
type Claim struct {
	// Site is the control and its folder of the site, as in web:/home/isucon/site.
	Site string
	// Command is what runs there.
	Command string
}

// ErrClaimed is the error of a near end that would write on a host of another site.
var ErrClaimed = errors.New("this host is written for another site")

// claim writes the claim, if no other site has one. The near end has the lock.
func (s *server) claim(c Claim) error {
	if s.o.Claim == "" || c.Site == "" {
		return nil
	}
	b, err := s.h.Read(s.o.Claim)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading whose host this is: %w", err)
	}
	var is Claim
	if err == nil && json.Unmarshal(b, &is) == nil && is.Site != "" && is.Site != c.Site {
		return fmt.Errorf("%w: %s (last by %s); hosts clean there gives it free", ErrClaimed, is.Site, is.Command)
	}
	if b, err = json.Marshal(c); err == nil {
		err = s.h.Write(s.o.Claim, b, 0o600)
	}
	if err != nil {
		return fmt.Errorf("writing whose host this is: %w", err)
	}
	return nil
}
