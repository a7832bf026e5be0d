package nginx

import "slices"

// Quiet reports whether the error logs in effect within some nested blocks have no warnings, so
// that they do not mention temporary files. Of several logs, the most verbose one counts; nginx's
// default is error.
func (c *Config) Quiet(around []*Directive) bool {
	logs, _ := c.Effective(around, "error_log")
	if len(logs) == 0 {
		c.Walk(c.Root(), nil, func(p Place) {
			if p.Within("") && p.Name() == "error_log" {
				logs = append(logs, p)
			}
		})
	}
	return !slices.ContainsFunc(logs, func(p Place) bool {
		return slices.Contains([]string{"debug", "info", "notice", "warn"}, p.Arg(1))
	})
}
