package vote

import (
	"encoding/json"
	"fmt"
)

// Clusters sorts the answers of one question into groups that agree within a
// numeric tolerance, so that [Tally] can go on counting keys.
//
// Two answers are near each other if they are the same but for their numbers
// and each number is near its counterpart. An answer joins the first cluster,
// in order of creation, of which it is near to all members; otherwise it founds
// one. Hence no two members of a cluster are further apart than the tolerance:
// 1.0, 1.1 and 1.2 are not one answer at a tolerance of 0.1, whatever
// the order in which they come. Which of two clusters takes an answer that fits
// both does depend on the order, and is the same for the same order.
//
// All comparisons are exact decimals. A number of more than a thousand digits
// gets no tolerance. The zero value has no tolerance.
type Clusters struct {
	absolute, relative decimal
	list               []cluster
	seen               map[string]int // key to index in list
}

type cluster struct {
	key     string // of the first member
	shape   string // the key with its numbers left out
	members [][]decimal
}

// NewClusters returns an empty set of clusters with the tolerances of o. Two
// numbers a and b are near each other if
//
//	|a - b| <= Tolerance  or  |a - b| <= RelativeTolerance * max(|a|, |b|)
//
// The relative tolerance must be below 1.
func NewClusters(o KeyOptions) (*Clusters, error) {
	absolute, err := parseTolerance("tolerance", o.Tolerance)
	if err != nil {
		return nil, err
	}
	relative, err := parseTolerance("relative_tolerance", o.RelativeTolerance)
	if err != nil {
		return nil, err
	}
	if one := (decimal{digits: "1"}); signOfSum(relative, one.negated(), decimal{}) >= 0 {
		return nil, fmt.Errorf("vote: relative_tolerance is %v, want less than 1", o.RelativeTolerance)
	}
	return &Clusters{absolute: absolute, relative: relative}, nil
}

func parseTolerance(name string, n json.Number) (decimal, error) {
	if n == "" {
		return decimal{}, nil
	}
	d, err := parseDecimal(n.String())
	if err != nil {
		return decimal{}, fmt.Errorf("vote: %s: %w", name, err)
	}
	if d.neg {
		return decimal{}, fmt.Errorf("vote: %s %v is negative", name, n)
	}
	return d, nil
}

// Key returns the key of the cluster to which key belongs: that of its first
// member. The argument is a key as [Canonical] returns it; text that is not
// JSON agrees only with itself.
func (c *Clusters) Key(key string) string {
	if c.absolute.isZero() && c.relative.isZero() {
		return key
	}
	if i, ok := c.seen[key]; ok {
		return c.list[i].key
	}
	shape, numbers := shapeOf(key)
	i := 0
	for i < len(c.list) && !c.fits(&c.list[i], shape, numbers) {
		i++
	}
	if i == len(c.list) {
		c.list = append(c.list, cluster{key: key, shape: shape})
	}
	c.list[i].members = append(c.list[i].members, numbers)
	if c.seen == nil {
		c.seen = make(map[string]int)
	}
	c.seen[key] = i
	return c.list[i].key
}

func (c *Clusters) fits(to *cluster, shape string, numbers []decimal) bool {
	if to.shape != shape {
		return false
	}
	for _, member := range to.members {
		for i := range member {
			if !c.near(member[i], numbers[i]) {
				return false
			}
		}
	}
	return true
}

func (c *Clusters) near(a, b decimal) bool {
	if a == b || within(a, b, c.absolute) {
		return true
	}
	larger := a.abs()
	if signOfSum(b.abs(), larger.negated(), decimal{}) > 0 {
		larger = b.abs()
	}
	return within(a, b, c.relative.times(larger))
}

// within reports whether |a-b| <= tolerance.
func within(a, b, tolerance decimal) bool {
	return signOfSum(a, b.negated(), tolerance.negated()) <= 0 &&
		signOfSum(b, a.negated(), tolerance.negated()) <= 0
}

// shapeOf splits a key into its numbers and the rest. Text that is not JSON is
// all rest.
func shapeOf(key string) (shape string, numbers []decimal) {
	root, err := parse(key, true)
	if err != nil {
		return "text " + key, nil // no JSON text starts like that
	}
	numbers = root.takeNumbers(nil)
	return string(root.appendTo(nil)), numbers
}

// maxTolerantDigits bounds the work of comparing: a million digits would take a
// minute.
const maxTolerantDigits = 1000

// takeNumbers moves the numbers out of n, leaving a mark that no scalar has.
func (n *node) takeNumbers(numbers []decimal) []decimal {
	if n.kind == numberNode {
		if d, err := parseDecimal(n.text); err == nil && len(d.digits) <= maxTolerantDigits {
			n.text = "#"
			numbers = append(numbers, d)
		}
	}
	for i := range n.kids {
		numbers = n.kids[i].takeNumbers(numbers)
	}
	return numbers
}
