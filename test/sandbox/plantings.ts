/**
 * Things that a command leaves in its workspace so that somebody else's program runs or obeys them later. Each is a line of bash, run by an agent
 * in its sandbox; `$T` is a command that leaves a trace on the machine, wherever a git outside runs it.
 */

export interface Planting {
  readonly name: string
  readonly plant: string
  /** Must not be there afterwards. */
  readonly gone?: string
  /** What the owner has made of the workspace before; default: a repository with one commit. */
  readonly owner?: string
}

/** `arm DIR`: every setting of the git folder that names a program. `repo DIR`: a repository with one commit, armed. */
export const PLANTING_TOOLS = `
arm() {
  printf '[core]\\n\\tfsmonitor = "%s; true"\\n\\tpager = "%s; cat"\\n[filter "e"]\\n\\tclean = "%s; cat"\\n\\tsmudge = "%s; cat"\\n[diff "e"]\\n\\ttextconv = "%s; cat"\\n' "$T" "$T" "$T" "$T" "$T" >> "$1/config"
  mkdir -p "$1/hooks"
  for hook in post-index-change post-checkout pre-commit reference-transaction; do printf '#!/bin/sh\\n%s\\n' "$T" > "$1/hooks/$hook"; chmod 755 "$1/hooks/$hook"; done
}
plain() {
  mkdir -p "$1" && git init -q "$1" && echo '* filter=e diff=e' > "$1/.gitattributes" && echo one > "$1/file" &&
  git -C "$1" add -A && git -C "$1" commit -qm inner && echo longer than before > "$1/file"
}
repo() { plain "$1" && arm "$1/.git"; }
bare() { plain "$1.made" && mv "$1.made/.git" "$1" && rm -rf "$1.made" && arm "$1" && printf '[core]\\n\\tworktree = .\\n' >> "$1/config"; }
`

const git = (name: string, plant: string, more: Partial<Planting> = {}): Planting => ({ name, plant, ...more })
const obeyed = (gone: string, plant = `mkdir -p "$(dirname '${gone}')" && echo x > '${gone}'`): Planting => ({
  name: `a file that is obeyed: ${gone}`,
  plant,
  gone,
})

export const PLANTINGS: readonly Planting[] = [
  git('a repository under node_modules', 'repo node_modules/x'),
  git('one that the index of the workspace knows', 'repo node_modules/x; git add -f node_modules/x; git commit -qm x'),
  git('a repository under .venv', 'repo .venv/lib/x'),
  git('a repository under __pycache__', 'repo a/__pycache__/b'),
  git('a repository without a .git, in a folder', 'bare deep/down/store'),
  git('one at the top of the workspace', 'bare x && mv x/* . && rmdir x', { owner: 'true' }),
  git('a .git that is a link', 'mkdir a && bare data && ln -s ../data a/.git'),
  git('a .git that is a link to a folder that is none yet', 'mkdir a data && ln -s ../data a/.git'),
  git('a .git that is a file', 'mkdir a && bare data && echo "gitdir: ../data" > a/.git'),
  git(
    'a .git that is a file, and leads through a link',
    'mkdir a && bare data && ln -s data way && echo "gitdir: ../way" > a/.git',
  ),
  git(
    'a folder of git that borrows the rest',
    'bare data && mkdir a && cp data/HEAD a/ && echo ../data > a/commondir && mkdir b && echo "gitdir: ../a" > b/.git',
  ),
  git(
    'a submodule that nobody has added',
    'mkdir sub && bare .git/modules/evil && echo "gitdir: ../.git/modules/evil" > sub/.git',
  ),
  git(
    'a repository among the objects of another',
    'bare .git/objects/ee && mkdir sub && echo "gitdir: ../.git/objects/ee" > sub/.git',
  ),
  git(
    'a worktree whose common folder is another',
    'bare data && git worktree add -q tree && echo ../../../data > .git/worktrees/tree/commondir',
  ),
  git('another common folder for the repository of the workspace', 'bare data && echo ../data > .git/commondir'),
  git('a name that is no text', `repo "$(printf 'a\\377b')"`),
  git('a name with a line break', `repo "$(printf 'a\\nb')"`),
  git('a folder that nobody may look into', 'mkdir a && repo a/b && chmod 000 a'),
  git(
    'a folder whose path is longer than paths can be',
    `n=$(printf 'x%.0s' {1..250}); for i in {1..20}; do mkdir $n && cd $n; done; repo in`,
  ),
  git(
    'a configuration that includes another',
    'plain a && printf "[include]\\n\\tpath = ../../evil\\n" >> a/.git/config && mkdir e && arm e && mv e/config evil',
  ),
  git(
    'one that is included under a condition',
    `plain a && printf '[includeIf "gitdir:**"]\\n\\tpath = ../../evil\\n' >> a/.git/config && mkdir e && arm e && mv e/config evil`,
  ),
  git(
    'a setting over two lines',
    `plain a && printf '[core]\\n\\tfsmon\\\\\\nitor = x\\n[core] fsmonitor = "%s; true"\\n' "$T" >> a/.git/config`,
  ),
  git('a setting in capitals', `plain a && printf '[CORE]\\n\\tFsMonitor = "%s; true"\\n' "$T" >> a/.git/config`),
  git(
    'hooks that are a link',
    'plain a && mkdir e && arm e && rm -rf a/.git/hooks && ln -s ../../e/hooks a/.git/hooks',
  ),
  git('a configuration that is a link', 'plain a && mkdir e && arm e && ln -sf ../../e/config a/.git/config'),
  git(
    'a configuration of the worktree',
    'plain a && git -C a config extensions.worktreeConfig true && mkdir e && arm e && mv e/config a/.git/config.worktree',
  ),
  git('a filter in a clone', 'plain src && git clone -q src clone && arm clone/.git && echo more >> clone/file'),
  git('a configuration where there was none', 'arm .git', { owner: 'plain . && rm .git/config' }),
  git('another repository in the place of one', 'mv a gone; repo a', { owner: 'plain . && plain a' }),
  git('one in the place of a folder that was linked to', 'rm -rf sub && repo sub', {
    owner: 'plain . && plain sub && git add sub && git commit -qm sub',
  }),
  git(
    'a remote that is a program',
    `plain a && git -C a remote add origin 'ext::sh -c touch% '"\${T#touch }" && git -C a config protocol.ext.allow always`,
  ),
  git(
    'hooks among the files, which the owner has named',
    'mkdir .githooks; arm . ; mv hooks .githooks/; cp .githooks/hooks/* .githooks/',
    { owner: 'plain . && git config core.hooksPath .githooks' },
  ),
  git(
    'another folder in the place of the one that holds hooks',
    'mv tools gone && mkdir -p tools/hooks && printf "#!/bin/sh\\n$T\\n" > tools/hooks/post-index-change && chmod 755 tools/hooks/*',
    {
      owner:
        'plain . && git config core.hooksPath tools/hooks && mkdir -p tools/hooks && echo true > tools/hooks/pre-commit',
    },
  ),
  git('a configuration among the files, which the owner includes', 'mkdir e && arm e && mv e/config .gitconfig', {
    owner: 'plain . && git config include.path ../.gitconfig',
  }),
  git('one that is there', 'mkdir e && arm e && cat e/config >> .gitconfig', {
    owner: 'plain . && git config include.path ../.gitconfig && git config -f .gitconfig alias.s status',
  }),
  git('one that is included under a condition of the owner’s', 'mkdir e conf && arm e && mv e/config conf/git', {
    owner: `plain . && git config 'includeIf.gitdir:**.path' ../conf/git`,
  }),
  git('a program among the files, which the owner has git run', 'echo "$T" >> tools/watch.sh', {
    owner:
      'plain . && mkdir tools && echo "#!/bin/sh" > tools/watch.sh && chmod 755 tools/watch.sh && git config core.fsmonitor ./tools/watch.sh',
  }),
  git(
    'a filter of the owner’s that is not there yet',
    'mkdir tools && echo "$T; cat" > tools/clean.sh; echo new > file',
    {
      owner: 'plain . && git config filter.e.clean "sh tools/clean.sh"',
    },
  ),
  git(
    'a configuration for one worktree alone',
    'git worktree add -q tree && mkdir e && arm e && mv e/config .git/worktrees/tree/config.worktree',
    { owner: 'plain . && git config extensions.worktreeConfig true' },
  ),
  git('a repository under a name in capitals', 'repo x && mv x/.git x/.GIT', { gone: 'x/.GIT/hooks/pre-commit' }),
  git('one under its short name', 'repo x && mv x/.git "x/git~1"', { gone: 'x/git~1/hooks/pre-commit' }),
  git('one under a name with a letter that some disks ignore', `repo x && mv x/.git "x/$(printf '.g\\315\\217it')"`, {
    gone: 'x/.g\u034fit/hooks/pre-commit',
  }),
  git(
    'a rebase that was begun, and would run a program',
    'mkdir .git/rebase-merge && echo "exec $T" > .git/rebase-merge/git-rebase-todo',
    { gone: '.git/rebase-merge/git-rebase-todo' },
  ),
  git('what installed hooks run', 'echo "repos: []" > .pre-commit-config.yaml', {
    owner: 'plain . && echo "exec pre-commit" > .git/hooks/pre-commit',
    gone: '.pre-commit-config.yaml',
  }),
  git(
    'hooks among the files, which are there',
    'for h in post-index-change pre-commit; do printf "#!/bin/sh\\n$T\\n" > .githooks/$h; chmod 755 .githooks/$h; done',
    {
      owner: 'plain . && git config core.hooksPath .githooks && mkdir .githooks && echo true > .githooks/pre-commit',
    },
  ),
  git('behind five thousand folders', 'mkdir -p a{1..50}/b{1..100} && repo a50/b100/c'),
  git('inside a folder of a protected name that is there', 'repo node_modules/p/.vscode/deep/er', {
    owner: 'plain . && mkdir -p node_modules/p/.vscode/deep',
  }),
  git(
    'in a background process that outlives the command',
    '(setsid sh -c "sleep 0.2; cp -r a/.git b/.git" & ); plain a; arm a/.git; mkdir b',
  ),
  {
    name: 'a file in a folder that agents obey, where there are more of them than can be mounted',
    owner:
      'plain . && mkdir -p d{1..250} deep/er/est/.claude && touch d{1..250}/.envrc && echo {} > deep/er/est/.claude/settings.json',
    plant: 'echo evil > deep/er/est/.claude/settings.json',
    gone: 'deep/er/est/.claude/settings.json',
  },
  obeyed('.vscode/tasks.json'),
  obeyed('packages/a/.vscode/settings.json'),
  obeyed('.envrc'),
  obeyed('sub/.envrc'),
  obeyed('.husky/pre-commit'),
  obeyed('CLAUDE.md'),
  obeyed('src/CLAUDE.md'),
  obeyed('claude.MD'),
  obeyed('AGENTS.md'),
  obeyed('packages/a/.claude/settings.json'),
  obeyed('packages/a/.cursor/rules/x.mdc'),
  obeyed('node_modules/p/.claude/settings.json'),
  obeyed('deep/er/.mcp.json'),
  obeyed('.idea/workspace.xml'),
  obeyed('.claude', 'mkdir evil && ln -s evil .claude'),
  obeyed('.codex/config.toml', 'mkdir -p x && echo x > x/config.toml && mv x .codex'),
]

/** Files that other programs obey without asking, all of which may be planted at once. */
export const OBEYED_NAMES: readonly string[] = [
  ...[
    '.github/copilot-instructions.md',
    '.github/instructions/a.instructions.md',
    '.github/prompts/a.prompt.md',
    '.github/agents/a.md',
  ],
  ...[
    '.junie/guidelines.md',
    '.augment/rules/a.md',
    '.kilocode/rules/a.md',
    '.qwen/settings.json',
    'opencode.json',
    'sub/opencode.jsonc',
    'QWEN.md',
    'crush.json',
  ],
  ...[
    '.devcontainer/devcontainer.json',
    '.devcontainer.json',
    '.run/a.run.xml',
    '.helix/languages.toml',
    '.vs/tasks.vs.json',
  ],
  ...[
    'mise.toml',
    'sub/.mise.local.toml',
    '.config/mise/config.toml',
    '.exrc',
    '.nvim.lua',
    'sub/.vimrc',
    '.dir-locals.el',
  ],
  ...['.gdbinit', 'sub/.lldbinit', '.irbrc', '.Rprofile', '.ghci', '.ocamlinit', '.iex.exs', '.pdbrc', '.perldb'],
  ...['.hg/hgrc', 'sub/.hg/hgrc', '.sl/config', '.hg/sharedpath', 'nested/.git/sl/config'],
  ...['.jj/repo/config.toml', 'sub/.jj/repo/config.toml', '.jj/workspace-config.toml', 'led/.jj/repo'],
  ...['.pijul/config', '_darcs/prefs/defaults', '.bzr/branch/branch.conf', '.fslckout', 'sub/_FOSSIL_'],
  ...['.p4config', '.arcconfig', '.repo/repo/main.py'],
  // A long s, a Kelvin sign, a wide letter, and marks that nobody sees: some disks take them for the plain ones.
  ...[
    '.v\u017fcode/tasks.json',
    '.hus\u212ay/pre-commit',
    '.\uff43laude/settings.json',
    '.en\ufe0fvrc',
    '.cur\u3164sor/rules/a.mdc',
  ],
]

/** Files of such kinds that are left alone: whoever runs them says so himself. */
export const LEFT_NAMES: readonly string[] = [
  ...[
    'package.json',
    '.npmrc',
    'Makefile',
    'justfile',
    'main.tf',
    '.bazelrc',
    'flake.nix',
    'sitecustomize.py',
    'a.pth',
    '.python-version',
    '.tool-versions',
  ],
  ...[
    '.pre-commit-config.yaml',
    'lefthook.yml',
    '.github/workflows/ci.yml',
    '.config/other.toml',
    'docs/prompts/a.md',
    'svn/config',
    '.gitmodules',
    '.gitattributes',
    '.editorconfig',
  ],
]
