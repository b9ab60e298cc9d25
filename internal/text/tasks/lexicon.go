package tasks

import "strings"

// A lexicon is a set of words in lower case.
type lexicon map[string]bool

// lexiconOf returns a lexicon of the words of a text and those of others.
func lexiconOf(text string, others ...lexicon) lexicon {
	l := lexicon{}
	for word := range strings.FieldsSeq(text) {
		l[word] = true
	}
	for _, other := range others {
		for word := range other {
			l[word] = true
		}
	}
	return l
}

func (l lexicon) has(word string) bool   { return l[word] }
func (l lexicon) lacks(word string) bool { return !l[word] }

// isInstruction reports whether a word can begin a task.
func isInstruction(word string) bool {
	return instructions.has(word) || programs.has(word)
}

// sequels at the start of a clause say that it comes after the one before.
var sequels = lexiconOf(`then next finally lastly afterwards afterward subsequently`)

// leadWords come before the verb of an instruction and do not change it.
var leadWords = lexiconOf(`and now also please just kindly first firstly second secondly third thirdly let's lets todo`, sequels)

// conditionals in a clause make a following "then" its consequence.
var conditionals = lexiconOf(`
	if when whenever once unless until while since because after whether where given provided assuming as`)

// titles and their like stand before what they belong to, so that no
// sentence ends with them.
var titles = lexiconOf(`
	e.g i.e eg ie dr mr mrs ms mx prof st vs cf viz ca approx incl excl resp fig figs eq eqs vol pp ed eds sec
	chap ch dept est tel ext gen col lt sgt capt rev hon z.b d.h bzw ggf evtl nr str mme mlle p.ex bspw vgl`)

// shortenings may end a sentence: it does if the next word begins one.
var shortenings = lexiconOf(`
	etc no nos inc ltd co corp jr sr al min max avg usw u.a jan feb mar apr jun jul aug sep sept oct nov dec mon
	tue wed thu fri sat sun misc ver temp a.m p.m ph.d`)

// instructions are verbs that begin a task.
var instructions = lexiconOf(`
	add adjust allow analyse analyze append apply archive arrange ask assemble assert assign attach audit
	automate avoid back backup begin benchmark bootstrap bring build bump bundle calculate call capture change
	check choose clean clear clone close collect combine commit compare compile complete compress compute
	configure confirm connect consider contact continue convert copy correct count create cut debug decide
	define delete deliver deploy describe design determine develop diff disable discuss do document download
	draft draw drop edit email enable encrypt ensure estimate evaluate examine execute expand explain export
	expose extend extract fetch figure fill filter find finish fix flush follow format gather generate get give
	go handle hash identify ignore implement import improve include increase index inform inject insert inspect
	install integrate introduce invoke investigate join keep kill launch let link lint list load lock log look
	make mark measure merge migrate mock modify monitor mount move notify open optimise optimize organise
	organize parse paste patch pause perform pick ping plan plot port post prepare print profile propose prove
	provide provision publish pull push put query raise read rebase rebuild record reduce refactor refresh
	register reject release reload remove rename render repeat replace reply report request reset resolve
	restart restore resume retry return revert review rewrite roll rotate run save scan schedule search seed
	select send serve set setup share ship show sign simplify skip sort specify split stage start stop store
	strip submit summarise summarize swap switch sync tag take talk tell test tidy touch trace track train
	transform translate trigger trim try tune turn undo uninstall unpack unzip update upgrade upload use
	validate verify visit wait walk warn watch wire work wrap write zip`)

// toolVerbs act on the machine: the task needs a tool.
var toolVerbs = lexiconOf(`
	run rerun re-run execute exec invoke launch install uninstall reinstall delete remove rename move copy
	download upload fetch clone checkout commit push pull rebase deploy redeploy undeploy rollback migrate start
	stop restart reboot kill mount unmount zip unzip untar compile lint backup restore publish build rebuild
	chmod chown symlink`)

// runVerbs say that what follows is to be executed as it is.
var runVerbs = lexiconOf(`run rerun re-run execute exec invoke launch type enter issue`)

// meansVerbs name an action that a command given with it carries out.
var meansVerbs = lexiconOf(`
	install uninstall reinstall build rebuild compile test lint format deploy start stop restart migrate clean
	fetch clone pull download upgrade check verify generate initialise initialize bootstrap setup benchmark`, runVerbs)

// runFillers stand between such a verb and the command, or after it, and say
// nothing more about it.
var runFillers = lexiconOf(`
	the this these following command commands below shell cli bash again now once please first just also`)

// cautions mean that a command below or after them is not simply to be run.
var cautions = lexiconOf(`
	not never don't dont cannot can't avoid except example examples e.g eg instead if unless when whenever until
	while or either optional optionally maybe perhaps alternatively alternative would could might output prints
	wrong bad rollback troubleshooting reference usage appendix warning caution danger dangerous confirm whether
	deprecated manually`)

// authorings mean that a block of shell code below them may be what to write,
// and not what to run.
var authorings = lexiconOf(`
	write create add save put edit change replace insert append document explain describe review fix refactor
	translate convert port script scripts file files content contents snippet readme docs`)

// programs are commands that are not English words.
var programs = lexiconOf(`
	ansible apt apt-get aws awk az bash bazel brew bun bundle cargo cat cd chmod chown cmake composer conda cp
	curl deno df diff dig docker docker-compose dotnet du echo env eslint ffmpeg gcc gcloud gem gh git go gofmt
	gradle grep gunzip gzip helm htop jest jq kubectl ln ls make maker man mkdir mvn mv mypy mysql nginx node
	npm npx openssl perl php pip pip3 pnpm podman poetry printf psql pwd py pytest python python3 rails rake rg
	rm rmdir rsync ruby ruff rustc scp sed service sh sqlite3 ssh sudo systemctl tail tar tee terraform tox
	touch tsc unzip uv uvicorn vim vitest wc wget which xargs yarn yq zig zsh`)

// wordlike are the programs that are English words as well.
var wordlike = lexiconOf(`
	bash bundle cat composer conda diff dig echo gem go helm jest make man maker node poetry rails rake ruby
	service tail tee touch which yarn brew ruff`)

// functionWords are no names, even with a capital letter.
var functionWords = lexiconOf(`
	a an the this that these those it its he she they we you i my our your their his her there here and or but
	nor so yet if when while once after before since because as at by for from in into of off on onto out over
	per to under up upon via with within without is are was were be been am do does did has have had can could
	may might must shall should will would not no yes none all any each every both few many most much more less
	other another such same some what which who whom whose where why how only also then next finally first
	second third last lastly now please note todo done ok okay however therefore thus moreover task step part
	section result results summary error warning found using used based see`)

// outputFillers stand between a verb and the file that it makes.
var outputFillers = lexiconOf(`a an the new file files folder directory empty and`)

// targetVerbs make what follows "to", "into" or "as".
var targetVerbs = lexiconOf(`
	write save export output dump print log put store convert copy move rename render download redirect
	translate compile generate`)

// outputVerbs make the file that follows them.
var outputVerbs = lexiconOf(`create write generate produce save export output dump touch mkdir add make`)

// inputWords come before what is read, even after such a verb.
var inputWords = lexiconOf(`from in of with using read at by based per against see like for`)

// shells are what stands after a fence with commands.
var shells = lexiconOf(`sh bash zsh shell console shell-session sh-session shellsession fish`)

// figurative are tool verbs that with the word after them mean something else.
var figurative = lexiconOf(`
	start-with start-from start-by start-thinking start-over move-on move-forward run-through run-by build-a
	build-an build-on build-up build-upon push-for push-back pull-together stop-when stop-at copy-edit`)

// queries begin a statement for a database, not for a shell.
var queries = lexiconOf(`select insert update delete drop alter create with explain show`)

// ordinals end a number in a sequence.
var ordinals = lexiconOf(`st nd rd th`)

// imageExtensions are those of pictures.
var imageExtensions = lexiconOf(`png jpg jpeg gif webp svg bmp tif tiff ico heic heif avif`)

// fileExtensions are those of all files that are known.
var fileExtensions = lexiconOf(`
	txt md markdown rst adoc tex bib rtf pdf doc docx odt xls xlsx ods ppt pptx odp csv tsv json jsonl ndjson
	yaml yml toml xml html htm css scss sass less js mjs cjs jsx ts tsx vue svelte go mod sum py pyi ipynb rb
	php java kt kts scala swift c h cc cpp cxx hpp hh cs fs rs zig lua pl sh bash zsh fish bat cmd ps1 sql proto
	graphql tf tfvars hcl ini cfg conf env properties lock log diff patch tmpl tpl zip tar gz tgz bz2 xz 7z jar
	war whl deb rpm exe dll bin iso img db sqlite parquet avro pem crt key mp3 mp4 wav mov avi mkv ogg webm ics
	eml dockerfile gradle cmake mk service`, imageExtensions)

// products have a dot in their name and are no files.
var products = lexiconOf(`
	node.js vue.js next.js nuxt.js react.js angular.js ember.js backbone.js three.js d3.js express.js chart.js
	moment.js discord.js alpine.js require.js deno.js p5.js electron.js nest.js gatsby.js svelte.js solid.js
	socket.io asp.net`)

// plainFiles have no extension and are files all the same.
var plainFiles = lexiconOf(`
	makefile dockerfile jenkinsfile procfile gemfile vagrantfile rakefile .env .gitignore .dockerignore
	.editorconfig .bashrc .zshrc .profile .npmrc .gitattributes`)

// roots begin the absolute paths of files.
var roots = lexiconOf(`
	etc usr var home tmp opt srv bin sbin lib lib64 dev proc sys root mnt media users volumes library
	applications private run boot data app workspace workspaces work`)

// domains are the usual ends of the name of a host.
var domains = lexiconOf(`com org net io dev edu gov co ai app uk de fr eu info`)

// courtesies are what one says around a request.
var courtesies = lexiconOf(`
	thanks thank thx you very much a lot so many in advance please cheers hi hello hey there all everyone best
	kind regards`)

// danglers are words after which a sentence goes on.
var danglers = lexiconOf(`
	a an the and or of to in on at for from with by as into via is are be that which who my our your their not
	per between`)
