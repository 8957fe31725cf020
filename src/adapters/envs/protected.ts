/**
 * Names of a workspace that agents do not write: what git, Tireless, an editor or another agent's program would later run or obey with the
 * owner's rights, without asking. Git inside the sandbox may still change the rest of its folder; file tools have no business in it at all.
 * Not among them is what the owner runs by a word of his own: package.json, Makefiles, workflows, sources.
 */

/** Wherever they lie. */
const PROTECTED: ReadonlySet<string> = new Set(
  [
    '.tireless',
    // Programs that are agents: what they may do, what they start, what they are told.
    '.mcp.json .claude .codex .cursor .gemini .windsurf .continue .cline .clinerules .roo .roomodes .opencode .kiro .amazonq .junie .aiassistant',
    '.augment .kilocode .trae .qwen .factory .crush .openhands .copilot .goosehints .cursorrules .windsurfrules .augment-guidelines .aider.conf.yml',
    'claude.md claude.local.md agents.md agents.override.md gemini.md qwen.md crush.md warp.md copilot-instructions.md',
    'opencode.json opencode.jsonc crush.json .crush.json',
    // Editors, shells and hooks that start something when a folder is opened, entered or committed to.
    '.vscode .idea .run .zed .helix .vs .externaltoolbuilders .devcontainer .devcontainer.json .envrc .husky',
    'mise.toml .mise.toml mise.local.toml .mise.local.toml .mise',
    '.exrc .vimrc .nvimrc .nvim.lua .lvimrc .dir-locals.el .dir-locals-2.el',
    // Debuggers and shells of languages, which read them where they are started.
    '.gdbinit .lldbinit .pdbrc .perldb .irbrc .pryrc .rprofile .rdata .octaverc .ghci .ocamlinit .iex.exs',
    // Mercurial, and what descends from it.
    'hgrc hgrc-not-shared',
  ].flatMap((names) => names.split(' ')),
)
/** At the top of the workspace. */
const PROTECTED_AT_TOP: ReadonlySet<string> = new Set(['tireless.yaml'])
/** In a folder of that name. */
const PROTECTED_IN: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['.github', new Set(['instructions', 'prompts', 'agents', 'chatmodes'])],
  ['.config', new Set(['mise', 'mise.toml'])],
  ['.hg', new Set(['config', 'sharedpath'])],
  ['.sl', new Set(['config', 'sharedpath'])],
])

/** Contract: pure; why nothing may be written there, or nothing. `names` lead to it from the root. */
export function whyProtected(names: readonly string[]): string | undefined {
  if (names.some(isGitName)) return 'inside .git, which is not written to: use git for what git keeps'
  if (names.some((name, depth) => isProtectedName(name, names[depth - 1])))
    return 'a name that agents do not write: what it says is obeyed'
  // Without one git takes no folder for a repository, whatever else lies in it.
  const last = plain(names.at(-1) ?? '')
  return last === 'head' || last === 'commondir' ? 'a name by which git takes a folder for a repository' : undefined
}

/** `folder`: the name of the folder that it lies in; undefined at the top. */
export function isProtectedName(name: string, folder: string | undefined): boolean {
  const read = plain(name)
  if (PROTECTED.has(read)) return true
  return folder === undefined ? PROTECTED_AT_TOP.has(read) : (PROTECTED_IN.get(plain(folder))?.has(read) ?? false)
}

/** By its short name, too. */
export const isGitName = (name: string): boolean => /^(\.git|git~\d+)$/.test(plain(name))

/**
 * As some file systems read it, too: without regard to case (a long s is an s), without what cannot be seen or is ignored, without dots or blanks at
 * its end.
 */
const plain = (name: string): string =>
  name
    .normalize('NFKC')
    .replaceAll(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replace(/[. ]*(:.*)?$/, '')
    .toUpperCase()
    .toLowerCase()
