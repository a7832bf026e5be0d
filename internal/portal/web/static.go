package web

import (
	"bytes"
	"io/fs"
	"net/http"
	"path"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/show/chart"
)

// styleSheet is the name of the style sheet, which has that of the charts at its end.
const styleSheet = "portal.css"

// static serves a file of the folder static.
func static(c *api.Call) error {
	name := path.Base(c.R.PathValue("file"))
	text, err := fs.ReadFile(files, path.Join("static", name))
	if err != nil {
		return api.ErrNotFound
	}
	if name == styleSheet {
		text = append([]byte(chart.CSS), text...)
	}
	c.W.Header().Set("Cache-Control", "public, max-age=300")
	http.ServeContent(c.W, c.R, name, time.Time{}, bytes.NewReader(text))
	return nil
}
