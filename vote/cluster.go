package vote

import (
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/maker-mdap/maker/internal/text/clip"
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
// All comparisons are exact. A number of more than a thousand digits, before or after
// the point, gets no tolerance. The zero value has no tolerance.
type Clusters struct {
	absolute, relative *big.Rat // nil is none
	list               []cluster
	seen               map[string]int // key to index in list
}

type cluster struct {
	key     string // of the first member
	shape   string // the key with its numbers left out
	members [][]*big.Rat
}

// Again is an empty set of clusters with the same tolerances. Without any, nothing is kept,
// and it is the same set.
func (c *Clusters) Again() *Clusters {
	if c.absolute == nil && c.relative == nil {
		return c
	}
	return &Clusters{absolute: c.absolute, relative: c.relative}
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
	if relative != nil && relative.Cmp(big.NewRat(1, 1)) >= 0 {
		return nil, fmt.Errorf("vote: relative_tolerance is %v, want less than 1", o.RelativeTolerance)
	}
	return &Clusters{absolute: absolute, relative: relative}, nil
}

func parseTolerance(name string, n json.Number) (*big.Rat, error) {
	if n == "" {
		return nil, nil
	}
	d, err := parseDecimal(n.String())
	if err != nil {
		return nil, fmt.Errorf("vote: %s: %w", name, err)
	}
	if d.neg {
		return nil, fmt.Errorf("vote: %s %v is negative", name, n)
	}
	if d.isZero() {
		return nil, nil
	}
	r := d.rational()
	if r == nil {
		return nil, fmt.Errorf("vote: %s %s is out of range", name, clip.Short(n.String()))
	}
	return r, nil
}

// Key returns the key of the cluster to which key belongs: that of its first
// member. The argument is a key as [Canonical] returns it; text that is not
// JSON agrees only with itself.
func (c *Clusters) Key(key string) string {
	if c.absolute == nil && c.relative == nil {
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

func (c *Clusters) fits(to *cluster, shape string, numbers []*big.Rat) bool {
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

func (c *Clusters) near(a, b *big.Rat) bool {
	apart := new(big.Rat).Sub(a, b)
	apart.Abs(apart)
	if apart.Sign() == 0 || c.absolute != nil && apart.Cmp(c.absolute) <= 0 {
		return true
	}
	if c.relative == nil {
		return false
	}
	larger := new(big.Rat).Abs(a)
	if other := new(big.Rat).Abs(b); other.Cmp(larger) > 0 {
		larger = other
	}
	return apart.Cmp(larger.Mul(larger, c.relative)) <= 0
}

// shapeOf splits a key into its numbers and the rest. Text that is not JSON is
// all rest.
func shapeOf(key string) (shape string, numbers []*big.Rat) {
	root, err := parse(key, true)
	if err != nil {
		return "text " + key, nil // no JSON text starts like that
	}
	numbers = root.takeNumbers(nil)
	return string(root.appendTo(nil)), numbers
}

// takeNumbers moves the numbers out of n, leaving a mark that no scalar has.
func (n *node) takeNumbers(numbers []*big.Rat) []*big.Rat {
	if n.kind == numberNode {
		if d, err := parseDecimal(n.text); err == nil {
			if r := d.rational(); r != nil {
				n.text = "#"
				numbers = append(numbers, r)
			}
		}
	}
	for i := range n.kids {
		numbers = n.kids[i].takeNumbers(numbers)
	}
	return numbers
}
