package rewrite

import "testing"

func TestTableVar(t *testing.T) {
	for table, want := range map[string]string{"id_generator": "idGenerator", "Ticket": "ticket", "7-up": "up", "func": "tablefunc", "__": "table"} {
		if got := tableVar(table); got != want {
			t.Errorf("%s: %s, want %s", table, got, want)
		}
	}
}
