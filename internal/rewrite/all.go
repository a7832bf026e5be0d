package rewrite

// All returns the levers in the order of their codes; nothing is known of the
// database.
func All() []*Lever { return With(Facts{}) }

// With returns the levers in the order of their codes.
func With(f Facts) []*Lever {
	return []*Lever{newApp201(f), newApp202(f), newApp203(f), newApp204(f), newApp205(f), newApp206(f), newApp207(f), newApp208(f),
		newApp209(f), newApp210(f), newApp211(f), newApp212(f), newApp213(f), newApp214(f), newApp215(f), newApp216(f),
		newApp217(f), newApp218(f), newApp219(f), newApp220(f), newApp226(f)}
}
