package history

// Frozen is the reason why changes of the site are refused, "" while they are allowed.
func (h *History) Frozen() string {
	why := ""
	for _, e := range h.Events() {
		switch e.What {
		case Frozen:
			why = e.Text
		case Opened:
			why = ""
		}
	}
	return why
}
