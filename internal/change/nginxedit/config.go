package nginxedit

import (
	"fmt"
	"io/fs"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/lang/nginx"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// A Conf is a whole configuration with what nginx's modules make of it.
type Conf struct{ *nginx.Config }

// Load reads the main file and everything it includes.
func Load(path string, files nginx.Files) (*Conf, error) {
	c, err := nginx.Load(path, files)
	if err != nil {
		return nil, err
	}
	return &Conf{c}, nil
}

// LoadOn reads the configuration of a service of a site.
func LoadOn(s *change.Site, svc change.Service) (*Conf, error) {
	h, err := s.On(svc.Host)
	if err != nil {
		return nil, err
	}
	return Load(svc.Config, siteFiles{s, h})
}

// siteFiles are the files of the service's host.
type siteFiles struct {
	site *change.Site
	host host.Host
}

// Read implements nginx.Files.
func (s siteFiles) Read(path string) ([]byte, error) {
	text, err := s.site.ReadOld(s.host.Name(), path)
	if err == nil && text == nil {
		err = fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	return text, err
}

// HTTP is the http block.
func (c *Conf) HTTP() (*nginx.Directive, error) {
	found := c.Find("http")
	if len(found) != 1 || found[0].Block == nil {
		return nil, fmt.Errorf("%s has %d http blocks, want 1", c.Files[0].Path, len(found))
	}
	return found[0].Directive, nil
}
