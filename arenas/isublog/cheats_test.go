package isublog_test

import (
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
)

// cheats make the app answer faster by breaking a promise to its users. The first
// ones fail before any load; the last one needs it.
var cheats = []arenatest.Fault{
	{Name: "keep every page for ever", Want: by("article-id"), Spoil: cached("", time.Hour, anyPage)},
	{Name: "keep the sidebar for ever", Want: by("sidebar-index"), Spoil: oldSidebar(anyPage)},
	{Name: "leave the sidebar out", Want: by("sidebar-links"), Spoil: page("/", func(html string) string { return sidebarRow.ReplaceAllString(html, "") })},
	{Name: "send nothing for the scripts", Want: by("asset-crc"), Spoil: plain(arenatest.When("", "GET", "/js/*", arenatest.Instead(200, "text/javascript", "")))},
	{Name: "keep pages for two seconds", UnderLoad: true, Want: by("comment-missing", "sidebar-index", "sidebar-article"), Spoil: cached("load", 2*time.Second, anyPage)},
}
