package lever

import "testing"

func TestApp203(t *testing.T) { golden(t, newApp203(testFacts), "app203", 10, 15) }
