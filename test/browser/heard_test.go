package browser

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/chromedp"
)

// named are the roles of what a screen reader says by its name alone.
var named = map[string]bool{
	"button": true, "link": true, "textbox": true, "searchbox": true, "combobox": true, "checkbox": true, "radio": true, "tab": true, "switch": true,
	"slider": true, "spinbutton": true, "progressbar": true, "image": true, "img": true, "dialog": true, "alertdialog": true, "menuitem": true, "treeitem": true,
	"option": true, "listbox": true, "table": true, "tree": true, "navigation": true, "region": true, "columnheader": true, "rowheader": true,
}

// TestWhatIsHeard looks at every view as a screen reader does: all that can be used or is told
// apart by its name has one, and each view has one main part and one title.
func TestWhatIsHeard(t *testing.T) {
	p := gallery(t).open(1440)
	for _, v := range p.views() {
		p.at(v.hash)
		p.wait(v.ready)
		res, err := chromedp.Call(p.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		if err != nil {
			p.fail(err)
		}
		count := map[string]int{}
		live := false
		for _, n := range res.Nodes {
			if n.Ignored {
				continue
			}
			role := said(n.Role)
			if role == "heading" {
				role = fmt.Sprint(role, property(n, "level"))
				if said(n.Name) == "" {
					t.Errorf("%s: a heading without a text", v.name)
				}
			}
			count[role]++
			live = live || property(n, "live") != ""
			if named[role] && said(n.Name) == "" {
				t.Errorf("%s: a %s has no name: %s", v.name, role, p.html(n))
			}
		}
		if count["main"] != 1 || count["heading1"] != 1 {
			t.Errorf("%s has %d main parts and %d titles, want one each: %v", v.name, count["main"], count["heading1"], count)
		}
		if count["link"]+count["button"] < 2 {
			t.Errorf("%s: nothing can be used: %v", v.name, count)
		}
		if !live {
			t.Errorf("%s: what changes is not told", v.name)
		}
	}
}

// said is the text of a value; empty if it has none.
func said(v *accessibility.Value) string {
	if v == nil || len(v.Value) == 0 {
		return ""
	}
	var x any
	if json.Unmarshal([]byte(v.Value), &x) != nil || x == nil {
		return ""
	}
	return fmt.Sprint(x)
}

func property(n *accessibility.Node, name accessibility.PropertyName) string {
	for _, p := range n.Properties {
		if p.Name == name {
			return said(p.Value)
		}
	}
	return ""
}

// html is how a node was written.
func (p *tab) html(n *accessibility.Node) string {
	res, err := chromedp.Call(p.ctx, dom.GetOuterHTML, dom.GetOuterHTMLParams{BackendNodeID: n.BackendDOMNodeID})
	if err != nil {
		return err.Error()
	}
	return res.OuterHTML[:min(len(res.OuterHTML), 200)]
}
