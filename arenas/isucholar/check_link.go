package isucholar

import (
	"fmt"
	"strings"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// links are the addresses of the pages around one, "" for none.
type links struct{ prev, next string }

// linksOf reads the header Link of an answer.
func linksOf(res *scenario.Response) (links, error) {
	l, err := parseLinks(res.Get("link"))
	if err != nil {
		return l, scenario.Wrong(res, "link-form", "Link: %v", err)
	}
	return l, nil
}

// parseLinks reads entries <path?query>; rel="next", separated by commas.
func parseLinks(text string) (l links, err error) {
	for rest := strings.TrimSpace(text); rest != ""; {
		target, after, ok := strings.Cut(strings.TrimPrefix(rest, "<"), ">")
		if !ok || rest[0] != '<' {
			return links{}, fmt.Errorf("no <path> in %.80q", rest)
		}
		entry, more, _ := strings.Cut(after, ",")
		if rest = strings.TrimSpace(more); !strings.HasPrefix(target, "/") || strings.HasPrefix(target, "//") ||
			strings.ContainsAny(target, " \r\n\t") {
			return links{}, fmt.Errorf("%.80q is not a path", target)
		}
		var to *string
		switch rel := strings.Trim(strings.TrimPrefix(strings.ReplaceAll(entry, " ", ""), ";rel="), `"`); rel {
		case "prev":
			to = &l.prev
		case "next":
			to = &l.next
		default:
			return links{}, fmt.Errorf("unknown relation %.40q", entry)
		}
		if *to != "" {
			return links{}, fmt.Errorf("two links of one relation")
		}
		*to = target
	}
	return l, nil
}
