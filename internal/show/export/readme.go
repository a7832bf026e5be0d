package export

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// readme returns README.md: the changes, their verdicts, and how to apply them on
// another machine.
func readme(items []Item, sum *folded, o *Options) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# What was changed of %s\n\n", escape(o.Name))
	b.WriteString("How each change was tried is described below. The effect is that on the score, with its repeated confidence interval.\n\n")
	b.WriteString("| change | what | effect | verdict |\n|--:|:--|:--|:--|\n")
	for _, it := range items {
		fmt.Fprintf(&b, "| %d | %s | %s | %s |\n", it.Change.ID, escape(it.Change.Says), Effect(it.Verdict), escape(call(it.Verdict)))
	}
	b.WriteString(promises(items))
	b.WriteString(howTo(sum, o))
	b.WriteString(seriesNote(items))
	for _, it := range items {
		entry(&b, it, items, o)
	}
	return b.String()
}

func call(v *iikanji.Verdict) string {
	if v == nil {
		return "by hand, not judged"
	}
	return fmt.Sprintf("%s (%s)", v.Call, v.Reason)
}

// tried describes the runs by which a change was judged, and the other changes
// that were tried in the same runs.
func tried(it Item, items []Item) string {
	v := it.Verdict
	if v == nil {
		return "No runs were compared: it was applied by hand, or accepted after a single run without confirmation."
	}
	text := fmt.Sprintf("Tried in %d runs with it, after %d without it: not interleaved.", len(v.Tried), len(v.Base))
	if interleaved(v) {
		text = fmt.Sprintf("Tried in %d pairs of interleaved runs, with and without it.", len(v.Tried))
	}
	var others []string
	for _, other := range items {
		if o := other.Verdict; o != nil && other.Change != it.Change && len(v.Tried) > 0 && slices.Equal(o.Tried, v.Tried) {
			others = append(others, fmt.Sprintf("change %d", other.Change.ID))
		}
	}
	if len(others) > 0 {
		text += " It was tried together with " + strings.Join(others, ", ") + ": the effect is that of all of them."
	}
	return text
}

// interleaved reports whether runs without the change alternated with those with
// it. The fast lane compares the runs before the change with those after it.
func interleaved(v *iikanji.Verdict) bool {
	return len(v.Base) > 0 && len(v.Tried) == len(v.Base) && (len(v.Base) == 1 || slices.Max(v.Base) > slices.Min(v.Tried))
}

// promises lists the weakened promises, which may not be acceptable elsewhere.
func promises(items []Item) string {
	var b strings.Builder
	for _, it := range items {
		for _, p := range it.Change.Weakens {
			fmt.Fprintf(&b, "- %s: change %d\n", weakened[p], it.Change.ID)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n## Weakened promises\n\nThe contest's rules, or the target's policy, allow this. Your rules may not.\n\n" + b.String()
}

var weakened = map[iikanji.Promise]string{
	iikanji.PromiseUnknown: "an unknown promise",
	iikanji.Durability:     "durability: a crash or a power cut may lose what was committed last",
	iikanji.Freshness:      "freshness: answers may be older than the data",
	iikanji.RowOrder:       "row order: rows of a query without ORDER BY may come in another order",
	iikanji.Observability:  "observability: logs are less complete, or gone",
	iikanji.Availability:   "availability: some requests are refused",
	iikanji.Privacy:        "privacy: an answer may reach another client than the one that it was made for",
	iikanji.Isolation:      "isolation: statements of one transaction may see different states of the data",
	iikanji.TestedOnly:     "tested-only: a rewrite of source was compared on recorded requests, and not proven from the code",
	iikanji.Behaviour:      "behaviour: a rule of the application itself is another one, such as a limit or a share that it drops",
}

func howTo(sum *folded, o *Options) string {
	var b strings.Builder
	b.WriteString("\n## How to apply it elsewhere\n\n`sh apply.sh` prints its steps and the variables that it needs. With these set, `sh apply.sh --yes` tries every patch\n")
	b.WriteString("on a copy, lets nginx check its configuration, and then makes the changes.\n")
	b.WriteString("`SKIP='3 7' sh apply.sh --yes` skips changes, for example those whose patch does not fit there.\n")
	b.WriteString("`sh undo.sh` undoes it, unless a file was edited since.\n")
	b.WriteString("`files/` has each whole file, at its path in the arena's folder: settings of the database are a fragment of my.cnf there,\n")
	b.WriteString("`sql/` the statements, do and undo. They contain the schema's name from here: edit them if yours has another name.\n")
	b.WriteString("`acts/` has what each change was planned from. `iikanji apply TARGET --file acts/0003.json` plans it again there, by its server,\n")
	b.WriteString("location, upstream or table instead of by lines of text: use it where a patch does not fit.\n")
	b.WriteString("A change of SQLite files has no statements in `sql/`: plan it from `acts/` there.\n")
	b.WriteString("A variable of the database that `apply.sh` set gets back the value that it had there, not the one from here.\n")
	if o.Literals {
		b.WriteString("Only you can read this folder: it holds sources and configurations as they are, with any password in them.\n")
	} else {
		b.WriteString("What may be a secret is redacted in this file and in `files/`, and left out of `portable/`, `sql/` and `acts/`.\n")
	}
	b.WriteString("Review it before you share it.\n")
	if len(sum.notices) > 0 {
		var texts []string
		for _, n := range sum.notices {
			texts = append(texts, n.text)
		}
		fmt.Fprintf(&b, "\nThen the services must load the changes: %s.\n", escape(strings.Join(texts, ", ")))
	}
	return b.String()
}

// entry writes the section of one change.
func entry(b *strings.Builder, it Item, items []Item, o *Options) {
	c := it.Change
	fmt.Fprintf(b, "\n## Change %d: %s\n\n%s on %s", c.ID, escape(c.Says), escape(c.Kind), escape(c.Target))
	if c.Answers != "" {
		fmt.Fprintf(b, ", for finding %s", escape(string(c.Answers)))
	}
	fmt.Fprintf(b, "; effect %s: %s.\n%s\n", Effect(it.Verdict), escape(call(it.Verdict)), tried(it, items))
	if v := it.Verdict; v != nil {
		if v.Why != "" {
			fmt.Fprintf(b, "%s\n", escape(v.Why))
		}
		for _, w := range v.Work {
			fmt.Fprintf(b, "- %s per request: %s\n", escape(w.Name), Percent(w.Effect))
		}
	}
	text := strings.ReplaceAll(o.shown(o.portable(withoutRoot(change.Diff(c), o.Root))), "\x00", "·")
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	fmt.Fprintf(b, "\n%sdiff\n%s%s\n", fence, text, fence)
}

// withoutRoot removes the root from the headers of a diff, which have the absolute
// path right after "a" or "b".
func withoutRoot(diff, root string) string {
	var b strings.Builder
	for line := range strings.Lines(diff) {
		for _, head := range []string{"--- a", "+++ b"} {
			if rest, ok := strings.CutPrefix(line, head+root+"/"); ok {
				line = head + "/" + rest
			}
		}
		b.WriteString(line)
	}
	return b.String()
}

// escape makes hostile text safe for a line or a table of Markdown.
func escape(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`, "[", `\[`, "`", "\\`").Replace(oneLine(s))
}
