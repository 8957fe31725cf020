/** Paths in a workspace that programs other than git obey, and similar ones that they do not. */

/** Files that other programs obey without asking; all can be placed at once. */
export const OBEYED_FILES: readonly string[] = [
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
  // A long s, a Kelvin sign, a wide letter, and invisible marks: some file systems treat them like the plain letters.
  ...[
    '.v\u017fcode/tasks.json',
    '.hus\u212ay/pre-commit',
    '.\uff43laude/settings.json',
    '.en\ufe0fvrc',
    '.cur\u3164sor/rules/a.mdc',
  ],
]

/** Similar files that are kept: people run them explicitly. */
export const KEPT_FILES: readonly string[] = [
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
