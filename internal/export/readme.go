package export

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// readme tells people what was changed, why it is believed to help, and how to
// take it elsewhere.
func readme(items []Item, sum *folded, o *Options) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# What was changed of %s\n\n", escape(o.Name))
	b.WriteString("How each change was tried stands with it below. The effect is that on the score, with its repeated confidence interval.\n\n")
	b.WriteString("| change | what | effect | verdict |\n|--:|:--|:--|:--|\n")
	for _, it := range items {
		fmt.Fprintf(&b, "| %d | %s | %s | %s |\n", it.Change.ID, escape(it.Change.Says), Effect(it.Verdict), escape(call(it.Verdict)))
	}
	b.WriteString(promises(items))
	b.WriteString(howTo(sum))
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

// tried says by which runs a change was judged, and of what else these tell.
func tried(it Item, items []Item) string {
	v := it.Verdict
	if v == nil {
		return "No runs were compared: it was applied by hand, or let in by a single run that nothing has confirmed."
	}
	text := fmt.Sprintf("Tried in %d runs with it, after %d without it: not in turn.", len(v.Tried), len(v.Base))
	if inTurn(v) {
		text = fmt.Sprintf("Tried in %d pairs of runs, with and without it in turn.", len(v.Tried))
	}
	var others []string
	for _, other := range items {
		if o := other.Verdict; o != nil && other.Change != it.Change && len(v.Tried) > 0 && slices.Equal(o.Tried, v.Tried) {
			others = append(others, fmt.Sprintf("change %d", other.Change.ID))
		}
	}
	if len(others) > 0 {
		text += " It was tried as one with " + strings.Join(others, ", ") + ": the effect is that of all of them."
	}
	return text
}

// inTurn says whether runs without the change came between and beside those
// with it. The fast lane compares those before it with those since.
func inTurn(v *iikanji.Verdict) bool {
	return len(v.Base) > 0 && len(v.Tried) == len(v.Base) && (len(v.Base) == 1 || slices.Max(v.Base) > slices.Min(v.Tried))
}

// promises lists what was given up: nobody should take that along unawares.
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
	return "\n## What was given up\n\nThe contest's rules, or the target's policy, allowed this. Yours may not.\n\n" + b.String()
}

var weakened = map[iikanji.Promise]string{
	iikanji.PromiseUnknown: "something unnamed",
	iikanji.Durability:     "durability: a crash or a power cut may lose what was committed last",
	iikanji.Freshness:      "freshness: answers may be older than the data",
	iikanji.RowOrder:       "row order: rows of a query without ORDER BY may come in another order",
	iikanji.Observability:  "observability: logs are less complete, or gone",
	iikanji.Availability:   "availability: some of those who ask are refused",
}

func howTo(sum *folded) string {
	var b strings.Builder
	b.WriteString("\n## To take it elsewhere\n\n`sh apply.sh` shows what it would do and which variables it wants; with them set, `sh apply.sh --yes` does it,\n")
	b.WriteString("after trying every patch on a copy, and has nginx judge its configuration before any statement is run.\n")
	b.WriteString("`SKIP='3 7' sh apply.sh --yes` leaves changes out: those whose patch does not fit there, and what you do not want.\n")
	b.WriteString("`sh undo.sh` takes it back, unless somebody has edited a file since.\n")
	b.WriteString("`files/` has each file whole, at its place in the arena's folder: settings of the database are a fragment of my.cnf there,\n")
	b.WriteString("`sql/` the statements, do and undo. They name the schema as it was called here: edit them where yours has another name.\n")
	b.WriteString("Only you can read this folder: sources and configurations are in it as they are, with any password that stands in them.\n")
	b.WriteString("Read it before you show it to others.\n")
	if len(sum.notices) > 0 {
		var texts []string
		for _, n := range sum.notices {
			texts = append(texts, n.text)
		}
		fmt.Fprintf(&b, "\nAfterwards the services must take notice: %s.\n", escape(strings.Join(texts, ", ")))
	}
	return b.String()
}

// entry is one change as a whole.
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
	text := strings.ReplaceAll(o.portable(withoutRoot(change.Diff(c), o.Root)), "\x00", "·")
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	fmt.Fprintf(b, "\n%sdiff\n%s%s\n", fence, text, fence)
}

// withoutRoot shortens the heads of a diff, which have the path right after
// "a" or "b".
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
