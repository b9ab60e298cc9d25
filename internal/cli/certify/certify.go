// Package certify is the command that says what a run proved.
package certify

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker/internal/report"
	"github.com/maker-mdap/maker/runs"
)

// An App is what the command needs of the program.
type App struct {
	Out, Err  io.Writer
	Open      func(run string) (*runs.Run, error)
	JSON      func() bool // whether to print JSON
	PrintJSON func(v any) error
	Usage     func(error) error // makes an error one about usage
}

// Command is the command.
func Command(a App) *cobra.Command {
	var page string
	cmd := &cobra.Command{
		Use:   "certify RUN",
		Short: "Say what the votes of a run prove, and what they do not",
		Long: `certify reads the votes of a run, finished or not, from its log and says what they
prove: with which probability every answer is the likeliest one of its voters, and,
apart from that, what is known about the truth, which votes cannot show. It lists the
closest calls, the near ties and the classes of questions, and says under which
assumptions all this holds. It asks no model.`,
		Example: `  maker certify hanoi-20260102
  maker certify hanoi-20260102 --html certificate.html
  maker certify hanoi-20260102 --json`,
		RunE: func(_ *cobra.Command, args []string) error {
			run, err := a.Open(args[0])
			if err != nil {
				return err
			}
			c, err := run.Certify()
			switch {
			case err != nil:
				return err
			case page != "":
				return a.write(c, page)
			case a.JSON():
				return a.PrintJSON(c)
			}
			report.Certificate(a.Out, c)
			return nil
		},
	}
	cmd.Flags().StringVar(&page, "html", "", "write the certificate to this file, as one page that needs nothing else (-: stdout)")
	return cmd
}

// write writes the certificate as a page.
func (a App) write(c *runs.Certificate, page string) error {
	data, err := report.CertificatePage(c)
	if err != nil {
		return err
	}
	if page == "-" {
		_, err := a.Out.Write(data)
		return err
	}
	if err := os.WriteFile(page, data, 0o644); err != nil {
		return a.Usage(fmt.Errorf("--html: %w", err))
	}
	fmt.Fprintf(a.Err, "wrote %s\n", page)
	return nil
}
