/**
 * Trap files: left by a command in its workspace so that another program runs or obeys them later. Each is a line of
 * bash that an agent runs in its sandbox; `$T` is a command that leaves a trace on the machine wherever a git outside
 * runs it.
 */

export interface TrapFile {
  readonly name: string
  readonly plant: string
  /** The path that must be gone afterwards. */
  readonly removedPath?: string
  /** The owner's preparation of the workspace; default: a repository with one commit. */
  readonly owner?: string
}

/**
 * `arm DIR`: sets every setting of the git folder that names a program. `repo DIR`: a repository with one commit,
 * armed.
 */
export const TRAP_FUNCTIONS = `
arm() {
  printf '[core]\\n\\tfsmonitor = "%s; true"\\n\\tpager = "%s; cat"\\n' "$T" "$T" >> "$1/config"
  printf '[filter "e"]\\n\\tclean = "%s; cat"\\n\\tsmudge = "%s; cat"\\n' "$T" "$T" >> "$1/config"
  printf '[diff "e"]\\n\\ttextconv = "%s; cat"\\n' "$T" >> "$1/config"
  mkdir -p "$1/hooks"
  for hook in post-index-change post-checkout pre-commit reference-transaction; do
    printf '#!/bin/sh\\n%s\\n' "$T" > "$1/hooks/$hook"; chmod 755 "$1/hooks/$hook"
  done
}
plain() {
  mkdir -p "$1" && git init -q "$1" && echo '* filter=e diff=e' > "$1/.gitattributes" && echo one > "$1/file" &&
  git -C "$1" add -A && git -C "$1" commit -qm inner && echo longer than before > "$1/file"
}
repo() { plain "$1" && arm "$1/.git"; }
bare() {
  plain "$1.made" && mv "$1.made/.git" "$1" && rm -rf "$1.made" && arm "$1" &&
  printf '[core]\\n\\tworktree = .\\n' >> "$1/config"
}
`

const gitTrap = (name: string, plant: string, more: Partial<TrapFile> = {}): TrapFile => ({ name, plant, ...more })
const obeyedFile = (
  removedPath: string,
  plant = `mkdir -p "$(dirname '${removedPath}')" && echo x > '${removedPath}'`,
): TrapFile => ({
  name: `a file that other programs obey: ${removedPath}`,
  plant,
  removedPath,
})

export const TRAP_FILES: readonly TrapFile[] = [
  gitTrap('a repository under node_modules', 'repo node_modules/x'),
  gitTrap(
    'a nested repository in the index of the workspace',
    'repo node_modules/x; git add -f node_modules/x; git commit -qm x',
  ),
  gitTrap('a repository under .venv', 'repo .venv/lib/x'),
  gitTrap('a repository under __pycache__', 'repo a/__pycache__/b'),
  gitTrap('a repository without a .git, in a folder', 'bare deep/down/store'),
  gitTrap('a bare repository at the top of the workspace', 'bare x && mv x/* . && rmdir x', { owner: 'true' }),
  gitTrap('a .git that is a link', 'mkdir a && bare data && ln -s ../data a/.git'),
  gitTrap('a .git that links to an empty folder', 'mkdir a data && ln -s ../data a/.git'),
  gitTrap('a .git that is a file', 'mkdir a && bare data && echo "gitdir: ../data" > a/.git'),
  gitTrap(
    'a .git file that points through a link',
    'mkdir a && bare data && ln -s data way && echo "gitdir: ../way" > a/.git',
  ),
  gitTrap(
    'a git folder that borrows the rest from another',
    'bare data && mkdir a && cp data/HEAD a/ && echo ../data > a/commondir && mkdir b && echo "gitdir: ../a" > b/.git',
  ),
  gitTrap(
    'a submodule that was never added',
    'mkdir sub && bare .git/modules/evil && echo "gitdir: ../.git/modules/evil" > sub/.git',
  ),
  gitTrap(
    'a repository inside the objects of another',
    'bare .git/objects/ee && mkdir sub && echo "gitdir: ../.git/objects/ee" > sub/.git',
  ),
  gitTrap(
    'a worktree with a different common folder',
    'bare data && git worktree add -q tree && echo ../../../data > .git/worktrees/tree/commondir',
  ),
  gitTrap(
    'a different common folder for the repository of the workspace',
    'bare data && echo ../data > .git/commondir',
  ),
  gitTrap('a name that is not valid UTF-8', `repo "$(printf 'a\\377b')"`),
  gitTrap('a name with a line break', `repo "$(printf 'a\\nb')"`),
  gitTrap('a folder without read permission', 'mkdir a && repo a/b && chmod 000 a'),
  gitTrap(
    'a folder whose path is longer than the limit',
    `n=$(printf 'x%.0s' {1..250}); for i in {1..20}; do mkdir $n && cd $n; done; repo in`,
  ),
  gitTrap(
    'a configuration that includes another',
    'plain a && printf "[include]\\n\\tpath = ../../evil\\n" >> a/.git/config && mkdir e && arm e && mv e/config evil',
  ),
  gitTrap(
    'a configuration that is included under a condition',
    [
      `plain a && printf '[includeIf "gitdir:**"]\\n\\tpath = ../../evil\\n' >> a/.git/config && mkdir e &&`,
      `arm e && mv e/config evil`,
    ].join(' '),
  ),
  gitTrap(
    'a setting over two lines',
    `plain a && printf '[core]\\n\\tfsmon\\\\\\nitor = x\\n[core] fsmonitor = "%s; true"\\n' "$T" >> a/.git/config`,
  ),
  gitTrap('a setting in capitals', `plain a && printf '[CORE]\\n\\tFsMonitor = "%s; true"\\n' "$T" >> a/.git/config`),
  gitTrap(
    'hooks that are a link',
    'plain a && mkdir e && arm e && rm -rf a/.git/hooks && ln -s ../../e/hooks a/.git/hooks',
  ),
  gitTrap('a configuration that is a link', 'plain a && mkdir e && arm e && ln -sf ../../e/config a/.git/config'),
  gitTrap(
    'a configuration of the worktree',
    [
      'plain a && git -C a config extensions.worktreeConfig true && mkdir e && arm e &&',
      'mv e/config a/.git/config.worktree',
    ].join(' '),
  ),
  gitTrap('a filter in a clone', 'plain src && git clone -q src clone && arm clone/.git && echo more >> clone/file'),
  gitTrap('a configuration where there was none', 'arm .git', { owner: 'plain . && rm .git/config' }),
  gitTrap('a repository in the place of another', 'mv a gone; repo a', { owner: 'plain . && plain a' }),
  gitTrap('a repository in the place of a submodule', 'rm -rf sub && repo sub', {
    owner: 'plain . && plain sub && git add sub && git commit -qm sub',
  }),
  gitTrap(
    'a remote that is a program',
    [
      `plain a && git -C a remote add origin 'ext::sh -c touch% '"\${T#touch }" &&`,
      `git -C a config protocol.ext.allow always`,
    ].join(' '),
  ),
  gitTrap(
    'hooks in a folder that the owner configured',
    'mkdir .githooks; arm . ; mv hooks .githooks/; cp .githooks/hooks/* .githooks/',
    { owner: 'plain . && git config core.hooksPath .githooks' },
  ),
  gitTrap(
    'another folder in the place of the configured hooks',
    [
      'mv tools gone && mkdir -p tools/hooks && printf "#!/bin/sh\\n$T\\n" > tools/hooks/post-index-change &&',
      'chmod 755 tools/hooks/*',
    ].join(' '),
    {
      owner: [
        'plain . && git config core.hooksPath tools/hooks && mkdir -p tools/hooks &&',
        'echo true > tools/hooks/pre-commit',
      ].join(' '),
    },
  ),
  gitTrap('a configuration file that the owner includes', 'mkdir e && arm e && mv e/config .gitconfig', {
    owner: 'plain . && git config include.path ../.gitconfig',
  }),
  gitTrap('an existing configuration file that the owner includes', 'mkdir e && arm e && cat e/config >> .gitconfig', {
    owner: 'plain . && git config include.path ../.gitconfig && git config -f .gitconfig alias.s status',
  }),
  gitTrap(
    'a configuration file that the owner includes under a condition',
    'mkdir e conf && arm e && mv e/config conf/git',
    {
      owner: `plain . && git config 'includeIf.gitdir:**.path' ../conf/git`,
    },
  ),
  gitTrap("a program in the workspace that the owner's git runs", 'echo "$T" >> tools/watch.sh', {
    owner: [
      'plain . && mkdir tools && echo "#!/bin/sh" > tools/watch.sh && chmod 755 tools/watch.sh &&',
      'git config core.fsmonitor ./tools/watch.sh',
    ].join(' '),
  }),
  gitTrap(
    'a filter program that the owner configured and that does not exist yet',
    'mkdir tools && echo "$T; cat" > tools/clean.sh; echo new > file',
    {
      owner: 'plain . && git config filter.e.clean "sh tools/clean.sh"',
    },
  ),
  gitTrap(
    'a configuration of a single worktree',
    'git worktree add -q tree && mkdir e && arm e && mv e/config .git/worktrees/tree/config.worktree',
    { owner: 'plain . && git config extensions.worktreeConfig true' },
  ),
  gitTrap('a repository under a name in capitals', 'repo x && mv x/.git x/.GIT', {
    removedPath: 'x/.GIT/hooks/pre-commit',
  }),
  gitTrap('a repository under its short name', 'repo x && mv x/.git "x/git~1"', {
    removedPath: 'x/git~1/hooks/pre-commit',
  }),
  gitTrap(
    'a repository under a name with a letter that some file systems ignore',
    `repo x && mv x/.git "x/$(printf '.g\\315\\217it')"`,
    {
      removedPath: 'x/.g\u034fit/hooks/pre-commit',
    },
  ),
  gitTrap(
    'an unfinished rebase that would run a program',
    'mkdir .git/rebase-merge && echo "exec $T" > .git/rebase-merge/git-rebase-todo',
    { removedPath: '.git/rebase-merge/git-rebase-todo' },
  ),
  gitTrap('a file that installed hooks run', 'echo "repos: []" > .pre-commit-config.yaml', {
    owner: 'plain . && echo "exec pre-commit" > .git/hooks/pre-commit',
    removedPath: '.pre-commit-config.yaml',
  }),
  gitTrap(
    'existing hooks in a folder that the owner configured',
    'for h in post-index-change pre-commit; do printf "#!/bin/sh\\n$T\\n" > .githooks/$h; chmod 755 .githooks/$h; done',
    {
      owner: 'plain . && git config core.hooksPath .githooks && mkdir .githooks && echo true > .githooks/pre-commit',
    },
  ),
  gitTrap('a repository behind five thousand folders', 'mkdir -p a{1..50}/b{1..100} && repo a50/b100/c'),
  gitTrap('a repository in an existing folder with a protected name', 'repo node_modules/p/.vscode/deep/er', {
    owner: 'plain . && mkdir -p node_modules/p/.vscode/deep',
  }),
  gitTrap(
    'a background process that outlives the command',
    '(setsid sh -c "sleep 0.2; cp -r a/.git b/.git" & ); plain a; arm a/.git; mkdir b',
  ),
  {
    name: 'a file that agents obey, in a workspace with more of them than can be mounted',
    owner: [
      'plain . && mkdir -p d{1..250} deep/er/est/.claude && touch d{1..250}/.envrc &&',
      'echo {} > deep/er/est/.claude/settings.json',
    ].join(' '),
    plant: 'echo evil > deep/er/est/.claude/settings.json',
    removedPath: 'deep/er/est/.claude/settings.json',
  },
  obeyedFile('.vscode/tasks.json'),
  obeyedFile('packages/a/.vscode/settings.json'),
  obeyedFile('.envrc'),
  obeyedFile('sub/.envrc'),
  obeyedFile('.husky/pre-commit'),
  obeyedFile('CLAUDE.md'),
  obeyedFile('src/CLAUDE.md'),
  obeyedFile('claude.MD'),
  obeyedFile('AGENTS.md'),
  obeyedFile('packages/a/.claude/settings.json'),
  obeyedFile('packages/a/.cursor/rules/x.mdc'),
  obeyedFile('node_modules/p/.claude/settings.json'),
  obeyedFile('deep/er/.mcp.json'),
  obeyedFile('.idea/workspace.xml'),
  obeyedFile('.claude', 'mkdir evil && ln -s evil .claude'),
  obeyedFile('.codex/config.toml', 'mkdir -p x && echo x > x/config.toml && mv x .codex'),
]
