package isucholar

// wantedClasses returns the classes of a course as a student must see them. The caller
// holds the lock.
func (c *course) wantedClasses(st *student) []gotClass {
	list := make([]gotClass, 0, len(c.classes))
	for _, cl := range c.classes {
		closed := cl.closed
		_, submitted := cl.files[st]
		list = append(list, gotClass{cl.id, cl.part, cl.title, cl.description, &closed, &submitted})
	}
	return list
}

// checkClasses compares the classes of a course.
func checkClasses(got, want []gotClass) error {
	if len(got) != len(want) {
		return wrong(stepClasses, "classes-list", "%d classes, want %d", len(got), len(want))
	}
	for i := range want {
		g, w := got[i], want[i]
		if g.ID != w.ID || g.Part != w.Part || g.Title != w.Title || g.Description != w.Description {
			return wrong(stepClasses, "classes-list", "place %d has class %s (%d), want %s (%d)", i+1, g.ID, g.Part, w.ID,
				w.Part)
		}
		if g.SubmissionClosed == nil || *g.SubmissionClosed != *w.SubmissionClosed {
			return wrong(stepClasses, "classes-closed", "class %s: submission_closed is not %v", w.ID, *w.SubmissionClosed)
		}
		if g.Submitted == nil || *g.Submitted != *w.Submitted {
			return wrong(stepClasses, "classes-submitted", "class %s: submitted is not %v", w.ID, *w.Submitted)
		}
	}
	return nil
}
