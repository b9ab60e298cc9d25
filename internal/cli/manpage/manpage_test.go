package manpage

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestPage(t *testing.T) {
	root := &cobra.Command{Use: "tool", Short: "A tool"}
	cmd := &cobra.Command{
		Use: "do FILE", Short: "Do it - at once", Run: func(*cobra.Command, []string) {},
		Long:    "It does it.\n.so /etc/passwd\n'quoted' \\fBbold\n\n  kept as it is\n\nThe end.",
		Example: "  tool do x --all",
	}
	cmd.Flags().BoolP("all", "a", false, "everything, .even this")
	cmd.Flags().Int("most", 7, "how many")
	hidden := &cobra.Command{Use: "hidden", Hidden: true, Run: func(*cobra.Command, []string) {}}
	root.AddCommand(cmd, hidden)
	got := string(Page(cmd, "1.2.3"))
	for _, want := range []string{
		".TH \"TOOL\\-DO\" 1 \"\" \"maker 1.2.3\" \"User Commands\"\n",
		".SH NAME\ntool\\-do \\- Do it \\- at once\n",
		"It does it.\n\\&.so /etc/passwd\n\\&'quoted' \\efBbold\n",
		".PP\n.nf\n  kept as it is\n.fi\n",
		".TP\n.B \\-a, \\-\\-all\neverything, .even this\n",
		".B \\-\\-most int\nhow many (default: 7)\n",
		".SH EXAMPLES\n.nf\n  tool do x \\-\\-all\n.fi\n",
		".SH SEE ALSO\n\\fBtool\\fR(1)\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("Page() has no %q:\n%s", want, got)
		}
	}
	if page := string(Page(root, "")); strings.Contains(page, "hidden") || !strings.Contains(page, `\fBtool\-do\fR(1)`) {
		t.Errorf("Page(root) = %s, want it to name do and not hidden", page)
	}
}
