package solver

import (
	"fmt"
	"slices"
)

// A node is a problem in the tree.
type node struct {
	path    string // "0" is the task, "0.1" its second part
	problem string
	normal  string // form of the problem in which it is compared
	depth   int
	parent  *node
	stage   stage

	how   string  // to make the solution from those of the parts
	parts []*node // none or two

	first     *node   // the node with the same problem that is solved in its stead
	followers []*node // whose first it is

	solution Solution
}

// stage is where a node stands.
type stage int

const (
	open      stage = iota // nobody knows whether to split it
	atomic                 // to be solved as it is
	split                  // its parts are being solved, then it is composed
	following              // the same problem is being solved elsewhere
	solved
)

func (s stage) String() string {
	return [...]string{"open", "atomic", "split", "following", "solved"}[s]
}

// ready reports whether something can be done about the node now.
func (n *node) ready() bool {
	switch n.stage {
	case open, atomic:
		return true
	case split:
		return !slices.ContainsFunc(n.parts, func(p *node) bool { return p.stage != solved })
	default:
		return false
	}
}

// ancestors are the normal forms of what the node is a part of.
func (n *node) ancestors() []string {
	var list []string
	for p := n.parent; p != nil; p = p.parent {
		list = append(list, p.normal)
	}
	return list
}

// all are the nodes of the tree, and of those that fill gaps, each before its
// parts: always in the same order.
func (s *solver) all() []*node {
	var list []*node
	var visit func(n *node)
	visit = func(n *node) {
		list = append(list, n)
		for _, p := range n.parts {
			visit(p)
		}
	}
	for _, tree := range s.trees {
		visit(tree)
	}
	return list
}

// add makes a node for a problem. If the problem is known already, so is its
// solution; if it is being solved, the node waits for that.
func (s *solver) add(parent *node, path, problem string, depth int) *node {
	n := &node{path: path, problem: problem, normal: Normal(problem), depth: depth, parent: parent}
	s.nodes++
	switch first := s.memo[n.normal]; {
	case first == nil:
		s.memo[n.normal] = n
	case first.stage == solved:
		n.first, n.stage, n.solution = first, solved, first.solution
	case !first.waitsFor(n):
		n.first, n.stage = first, following
		first.followers = append(first.followers, n)
	}
	return n
}

// waitsFor reports whether solving n needs the solution of other, or of something
// that other is a part of. Then other must not wait for n: both would wait for
// ever. That happens when a problem leads to another, which leads to the first.
func (n *node) waitsFor(other *node) bool {
	above := map[*node]bool{}
	for p := other; p != nil; p = p.parent {
		above[p] = true
	}
	visited := map[*node]bool{}
	var needs func(n *node) bool
	needs = func(n *node) bool {
		if above[n] {
			return true
		}
		if visited[n] || n.stage == solved {
			return false
		}
		visited[n] = true
		if n.stage == following {
			return needs(n.first)
		}
		return slices.ContainsFunc(n.parts, needs)
	}
	return needs(n)
}

// divide gives a node its two parts.
func (s *solver) divide(n *node, p *Proposal) {
	n.stage, n.how = split, p.Compose
	for i, problem := range []string{p.PartA, p.PartB} {
		n.parts = append(n.parts, s.add(n, fmt.Sprintf("%s.%d", n.path, i), problem, n.depth+1))
	}
}
