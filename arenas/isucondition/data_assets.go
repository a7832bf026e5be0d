package isucondition

import (
	"io/fs"
	"strings"
	"sync"
)

// assets lists the static files of the web page with their sums, in the order
// of Data.Assets.
var assets = sync.OnceValue(func() []Asset {
	index := webapp.MustRead("public/index.html")
	list := []Asset{newAsset("/", index, false)}
	entries, err := fs.ReadDir(webapp, "public/assets")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	for _, scripted := range []bool{false, true} {
		for _, e := range entries {
			path := "/assets/" + e.Name()
			if strings.Contains(string(index), path) != scripted {
				list = append(list, newAsset(path, webapp.MustRead("public"+path), scripted))
			}
		}
	}
	return list
})
