package accesslog

import "testing"

func TestLexicon(t *testing.T) {
	for name, c := range map[string]struct {
		test func(s string) bool
		yes  []string
		no   []string
	}{
		"reserved": {func(s string) bool { return isReserved([]byte(s)) },
			[]string{"settings", "Settings", "me", "v1", "V2", "v1.2", "v1beta1", "2.0", "new", "favicon.ico"}, []string{"alice", "vx", "v", "1.25.3", "1", "video", "", "settingsx"}},
		"random": {func(s string) bool { return looksRandom([]byte(s)) },
			[]string{"UZZK6ef_eij", "bmhhuFZVMJqqpg", "LnoxLbmAkmd", "cus_bmhhuFZVMJqqpg", "9ab3x2", "%E3%81%82%E3%81%84"}, []string{"search", "GetUser", "mainPage", "user12", "README", "abc", "Getting-Started"}},
		"hash": {func(s string) bool { return hashTail([]byte(s), false) },
			[]string{"index-BfX3q9aZ", "app.3f2a1bc9", "vendor-DfXqqaZk", "main~3f2a1bc9"}, []string{"jquery-migrate", "user-MainPage", "index", "app-v2", "logo"}},
		"weak hash": {func(s string) bool { return hashTail([]byte(s), true) }, []string{"barrel-mwhysitv", "lantern-WweeSdvh"}, []string{"jquery-migrate", "main"}},
	} {
		for _, s := range c.yes {
			if !c.test(s) {
				t.Errorf("%q is not %s", s, name)
			}
		}
		for _, s := range c.no {
			if c.test(s) {
				t.Errorf("%q is %s", s, name)
			}
		}
	}
	for text, want := range map[string]float64{"settings": knownWords, "order-history": knownWords, "GetUser": -3, "list_items": -3, "index.php": -1, "how-to-fix-it": 2.5,
		"quick-river": 1.7, "user12": 1.5, "a1b2c3": 2, "%E3%81%82": 2, "HND": 2, "sparrow": 0, "QuickRiver": -1, "quick-river-bank.json": 2.5} {
		if got := lexical(text); got != want {
			t.Errorf("the score of %q is %v, want %v", text, got, want)
		}
	}
}
