package isucholar

import (
	"archive/zip"
	"io"
	"net/http"
	"time"
)

func (a *perfectApp) postClass(c *perfectCall) {
	var v classBody
	o := a.courses[c.r.PathValue("id")]
	if o == nil {
		c.w.WriteHeader(http.StatusNotFound)
		return
	}
	if !c.read(&v) {
		return
	}
	if o.Status != statusInProgress {
		c.w.WriteHeader(http.StatusBadRequest)
		return
	}
	created := func(cl *perfectClass) { c.json(http.StatusCreated, map[string]string{"class_id": cl.id}) }
	for _, cl := range o.classes {
		if cl.Part == v.Part && cl.classBody == v {
			created(cl)
			return
		} else if cl.Part == v.Part {
			c.w.WriteHeader(http.StatusConflict)
			return
		}
	}
	cl := &perfectClass{classBody: v, id: a.ids.next(time.Now()), files: map[string]perfectFile{},
		scores: map[string]int{}}
	o.classes = append(o.classes, cl)
	a.classes[cl.id] = cl
	created(cl)
}

// upload checks in the order of the rules.
func (a *perfectApp) upload(c *perfectCall, o *perfectCourse) {
	cl := a.classes[c.r.PathValue("class")]
	switch {
	case o.Status != statusInProgress, o.students[c.user.Code] == nil:
		c.w.WriteHeader(http.StatusBadRequest)
		return
	case cl == nil:
		c.w.WriteHeader(http.StatusNotFound)
		return
	case cl.closed:
		c.w.WriteHeader(http.StatusBadRequest)
		return
	}
	f, header, err := c.r.FormFile("file")
	if err != nil {
		c.w.WriteHeader(http.StatusBadRequest)
		return
	}
	defer f.Close()
	body, err := io.ReadAll(f)
	if err != nil {
		c.w.WriteHeader(http.StatusInternalServerError)
		return
	}
	cl.files[c.user.Code] = perfectFile{header.Filename, body}
	c.w.WriteHeader(http.StatusNoContent)
}

func (a *perfectApp) putScores(c *perfectCall) {
	cl := a.classes[c.r.PathValue("class")]
	var v []scoreBody
	switch {
	case cl == nil:
		c.w.WriteHeader(http.StatusNotFound)
	case !cl.closed:
		c.w.WriteHeader(http.StatusBadRequest)
	case c.read(&v):
		for _, s := range v {
			if _, ok := cl.files[s.UserCode]; ok {
				cl.scores[s.UserCode] = s.Score
			}
		}
		c.w.WriteHeader(http.StatusNoContent)
	}
}

func (a *perfectApp) export(c *perfectCall) {
	cl := a.classes[c.r.PathValue("class")]
	if cl == nil {
		c.w.WriteHeader(http.StatusNotFound)
		return
	}
	cl.closed = true
	c.w.Header().Set("Content-Type", "application/zip")
	z := zip.NewWriter(c.w)
	defer z.Close()
	for code, f := range cl.files {
		w, err := z.CreateHeader(&zip.FileHeader{Name: code + "-" + f.name, Method: zip.Store})
		if err == nil {
			_, err = w.Write(f.body)
		}
		if err != nil {
			return
		}
	}
}
