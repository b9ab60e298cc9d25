package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/internal/text/yamlclean"
)

// tablesCommand prints all tables of a bank.
func tablesCommand(_ context.Context, args []string) error {
	f := flag.NewFlagSet("real tables", flag.ContinueOnError)
	folder := f.String("families", "test/real/families", "folder of the families")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() != 1 {
		return fmt.Errorf("usage: go run ./test/real tables [flags] BANKFOLDER")
	}
	families, err := readFamilies(*folder)
	if err != nil {
		return err
	}
	b, err := readBank(f.Arg(0))
	if err != nil {
		return err
	}
	writeTables(os.Stdout, b, families)
	return nil
}

func writeTables(to io.Writer, b bank, families []*family) {
	fmt.Fprintf(to, "What the bank holds:\n\n")
	writeContents(to, b)
	for _, name := range b.models() {
		fmt.Fprintf(to, "\n### %s\n", name)
		writeVotes(to, b, name, families)
		writeLeads(to, b, name, families)
		writeFramings(to, b, name, families)
		writeChains(to, b, name, families)
		writeOwn(to, b, name)
	}
}

// models are those that answered, by name.
func (b bank) models() []string {
	names := map[string]bool{}
	for q := range b {
		names[q.Model] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// writeContents says how many answers of which kind there are.
func writeContents(to io.Writer, b bank) {
	type kind struct{ model, family string }
	kinds := map[kind]bool{}
	items := map[kind]map[string]bool{}
	count := map[kind]map[float64]int{}
	for q := range b {
		k := kind{q.Model, q.Family}
		if !kinds[k] {
			kinds[k], items[k], count[k] = true, map[string]bool{}, map[float64]int{}
		}
		items[k][q.Item] = true
		count[k][q.Temperature]++
	}
	sorted := slices.SortedFunc(maps.Keys(kinds), func(x, y kind) int {
		return strings.Compare(x.model+" "+x.family, y.model+" "+y.family)
	})
	fmt.Fprintln(to, "| model | family | items | answers at 0 | at 0.1 | at 0.7 |\n|---|---|---|---|---|---|")
	for _, k := range sorted {
		fmt.Fprintf(to, "| %s | %s | %d | %d | %d | %d |\n", k.model, k.family, len(items[k]), count[k][0], count[k][cool], count[k][warm])
	}
}

// votes collects what a method and the greedy sample do on the items of a family
// for which the bank has both.
func (b bank) votes(modelName string, f *family, m method) (items [][]ballot, once []bool) {
	for n := range f.Items {
		votes, first := b.ballots(modelName, f, &f.Items[n], m.asks), b.ballots(modelName, f, &f.Items[n], greedy.asks)
		if votes != nil && first != nil {
			items, once = append(items, votes), append(once, first[0].right)
		}
	}
	return items, once
}

// fewest is how many items a figure needs to be worth printing.
const fewest = 20

func writeVotes(to io.Writer, b bank, name string, families []*family) {
	fmt.Fprintln(to, "\nA vote of five: what it gains over one greedy sample on the same items, and over one of\nits own five samples, in points with standard errors; bold if more than two of them.")
	for _, f := range families {
		header := false
		for _, m := range methods {
			items, once := b.votes(name, f, m)
			if len(items) < fewest {
				continue
			}
			if !header {
				fmt.Fprintf(to, "\n| %s | items | valid | p of a sample | items with p < 1/2 | ICC | answers an item | right after the vote | over one greedy | over one of its own |\n|---|---|---|---|---|---|---|---|---|---|\n", f.Name)
				header = true
			}
			s := summarise(items, once)
			if len(m.asks) == 1 {
				fmt.Fprintf(to, "| %s | %d | %.2f | %.3f | | | | %.3f | | |\n", m.name, s.items, s.valid, s.p, s.voted)
				continue
			}
			fmt.Fprintf(to, "| %s | %d | %.2f | %.3f | %.0f %% | %s | %.1f | %.3f | %s | %s |\n",
				m.name, s.items, s.valid, s.p, 100*s.below, figure(s.icc), s.distinct, s.voted, points(s.gain, s.gainSE), points(s.lift, s.liftSE))
		}
	}
	writePooled(to, b, name, families)
}

// writePooled takes all families together: the gain of a method on every item for
// which there is one.
func writePooled(to io.Writer, b bank, name string, families []*family) {
	fmt.Fprintln(to, "\n| all families | items | one greedy sample | right after the vote | over one greedy | over one of its own |\n|---|---|---|---|---|---|")
	for _, m := range methods[1:] {
		var items [][]ballot
		var once []bool
		for _, f := range families {
			i, o := b.votes(name, f, m)
			items, once = append(items, i...), append(once, o...)
		}
		if len(items) >= fewest {
			s := summarise(items, once)
			fmt.Fprintf(to, "| %s | %d | %.3f | %.3f | %s | %s |\n", m.name, s.items, s.greedy, s.voted, points(s.gain, s.gainSE), points(s.lift, s.liftSE))
		}
	}
}

// figure prints a correlation.
func figure(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return fmt.Sprintf("%.2f", x)
}

// points prints a gain.
func points(gain, se float64) string {
	text := fmt.Sprintf("%+.1f ± %.1f", 100*gain, 100*se)
	if math.Abs(gain) > 2*se {
		return "**" + text + "**"
	}
	return text
}

// writeLeads has the product's rule decide, before and after.
func writeLeads(to io.Writer, b bank, name string, families []*family) {
	header := false
	for _, f := range families {
		var old, new []racing
		var once []float64
		for n := range f.Items {
			i := &f.Items[n]
			cool, framed := b.ballots(name, f, i, before.asks), b.ballots(name, f, i, now.asks)
			further := b.ballots(name, f, i, warmSet.asks)
			if cool == nil || framed == nil || further == nil {
				continue
			}
			once = append(once, truth(cool[0].right))
			old = append(old, race(i.ID, cool[:1], cool[1:]))
			new = append(new, race(i.ID, framed, further))
		}
		if len(once) >= fewest {
			if !header {
				fmt.Fprintf(to, "\nFirst to lead by %d, at most %d samples, races drawn from the bank:\n", lead.K, lead.MaxSamples)
				fmt.Fprintln(to, "\n| | items | right, one greedy sample | before: right | undecided | samples | now: right | undecided | samples |\n|---|---|---|---|---|---|---|---|---|")
				header = true
			}
			x, y := average(old), average(new)
			fmt.Fprintf(to, "| %s | %d | %.3f | %.3f | %.3f | %.2f | %.3f | %.3f | %.2f |\n",
				f.Name, len(once), mean(once), x.right, x.undecided, x.samples, y.right, y.undecided, y.samples)
		}
	}
}

func average(list []racing) racing {
	var m racing
	for _, r := range list {
		m.right += r.right / float64(len(list))
		m.undecided += r.undecided / float64(len(list))
		m.samples += r.samples / float64(len(list))
	}
	return m
}

// writeFramings judges wordings and sets of examples one by one.
func writeFramings(to io.Writer, b bank, name string, families []*family) {
	fmt.Fprintln(to, "\nShare right of one sample at 0, for each set of examples (with the first wording) and\neach wording (with the first set):\n\n| | sets 1 to 5 | wordings 1 to 5 |\n|---|---|---|")
	for _, f := range families {
		if s, w := b.oneByOne(name, f, sets), b.oneByOne(name, f, words); s != "-" || w != "-" {
			fmt.Fprintf(to, "| %s | %s | %s |\n", f.Name, s, w)
		}
	}
}

// oneByOne is the share right of each way of asking, on the items that were asked in
// all of them.
func (b bank) oneByOne(name string, f *family, m method) string {
	items, _ := b.votes(name, f, m)
	if len(items) < fewest {
		return "-"
	}
	var shares []string
	for n := range m.asks {
		right := 0.0
		for _, ballots := range items {
			right += truth(ballots[n].right)
		}
		shares = append(shares, fmt.Sprintf("%.2f", right/float64(len(items))))
	}
	return fmt.Sprintf("%s (%d items)", strings.Join(shares, ", "), len(items))
}

// writeChains says how far each method would have come in the running sum, whose
// items are its steps in their order.
func writeChains(to io.Writer, b bank, name string, families []*family) {
	for _, f := range families {
		if f.Name != "dictsum" {
			continue
		}
		header := false
		for _, m := range methods {
			items, _ := b.votes(name, f, m)
			if len(items) < fewest {
				continue
			}
			if !header {
				fmt.Fprintln(to, "\nThe running sum (dict-sum), each step asked with the true sum so far:\n\n| | steps | wrong steps | first wrong step |\n|---|---|---|---|")
				header = true
			}
			wrong, first := 0, "none"
			for n, ballots := range items {
				if plurality(ballots) {
					continue
				}
				if wrong++; wrong == 1 {
					first = fmt.Sprint(n + 1)
				}
			}
			fmt.Fprintf(to, "| %s | %d | %d | %s |\n", m.name, len(items), wrong, first)
		}
	}
}

// ownKinds are the kinds of our own prompts, in the order of the table.
var ownKinds = []string{"plan", "step", "solve", "do"}

// writeOwn says of what shape the answers to our own prompts are.
func writeOwn(to io.Writer, b bank, name string) {
	header := false
	for _, kind := range ownKinds {
		count := map[string]int{}
		answers := 0
		for q, s := range b {
			if q.Model == name && q.Family == kind {
				answers++
				count[shape(s)]++
				count["cut"] += int(truth(s.Stop == "length"))
			}
		}
		if answers == 0 {
			continue
		}
		if !header {
			fmt.Fprintf(to, "\nOur own prompts, answers of at most %d tokens; a mapping is what the program's own\nreader of YAML takes out of the answer:\n\n| prompt | answers | a mapping | JSON amid other text | a tool call | other text | empty | cut at the limit |\n|---|---|---|---|---|---|---|---|\n", ownTokens)
			header = true
		}
		fmt.Fprintf(to, "| %s | %d | %d | %d | %d | %d | %d | %d |\n", kind, answers, count["mapping"], count["json"], count["call"], count["text"], count["empty"], count["cut"])
	}
}

// shape tells what an answer looks like.
func shape(s *sample) string {
	if len(s.Calls) > 0 {
		return "call"
	}
	if strings.TrimSpace(s.Text) == "" {
		return "empty"
	}
	if read, err := yamlclean.Clean(s.Text); err == nil && strings.HasPrefix(string(read.Data), "{") {
		return "mapping"
	}
	if start := strings.Index(s.Text, "{"); start >= 0 {
		var object map[string]any
		if json.NewDecoder(strings.NewReader(s.Text[start:])).Decode(&object) == nil {
			return "json"
		}
	}
	return "text"
}
