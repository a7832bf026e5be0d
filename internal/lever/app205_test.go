package lever

import "testing"

func TestApp205(t *testing.T) { golden(t, newApp205(testFacts), "app205", 11, 19) }
