package host

// As is a host as a type, or the first such host that it wraps; false without one. A host that
// wraps another one has a method Unwrap, which returns nil while there is none.
func As[T any](h Host) (found T, ok bool) {
	for h != nil {
		if found, ok = h.(T); ok {
			return found, true
		}
		wraps, is := h.(interface{ Unwrap() Host })
		if !is {
			break
		}
		h = wraps.Unwrap()
	}
	return found, false
}
